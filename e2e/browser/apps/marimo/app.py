import marimo

app = marimo.App()


@app.cell
def _():
    import marimo
    name = marimo.ui.text(label="Name", debounce=False)
    name
    return marimo, name


@app.cell
def _(marimo, name):
    marimo.md(f"Hello {name.value}!")
    return


if __name__ == "__main__":
    app.run()
