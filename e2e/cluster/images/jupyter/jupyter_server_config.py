# As in the stock Jupyter images: without arguments the server listens on every address.
c = get_config()  # noqa: F821
c.ServerApp.ip = "0.0.0.0"
c.ServerApp.open_browser = False
