from bokeh.io import curdoc
from bokeh.layouts import column
from bokeh.models import Div, TextInput

name, greeting = TextInput(title="Name"), Div(text="Hello !")
name.on_change("value", lambda _, old, new: greeting.update(text=f"Hello {new}!"))
curdoc().add_root(column(name, greeting))
