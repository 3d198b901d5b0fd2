import panel

name = panel.widgets.TextInput(name="Name")
panel.Column(name, panel.bind(lambda name: f"Hello {name}!", name.param.value_input)).servable()
