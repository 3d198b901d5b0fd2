from dash import Dash, Input, Output, callback, dcc, html

app = Dash()
app.layout = html.Div([html.Label("Name", htmlFor="name"), dcc.Input(id="name"), html.P(id="greeting")])


@callback(Output("greeting", "children"), Input("name", "value"))
def greet(name):
    return f"Hello {name or ''}!"


app.run()
