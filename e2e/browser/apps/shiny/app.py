from shiny import App, render, ui

page = ui.page_fluid(ui.input_text("name", "Name"), ui.output_text("greeting"))


def server(given, output, session):
    @render.text
    def greeting():
        return f"Hello {given.name()}!"


app = App(page, server)
