from flask import Flask, request, url_for
from markupsafe import escape
from werkzeug.middleware.proxy_fix import ProxyFix

app = Flask(__name__)
# SETTINGS


@app.get("/")
def page():
    form = '<form><label>Name <input name="name"></label></form>'
    name, address = escape(request.args.get("name", "")), url_for("page", _external=True)
    return f"<!doctype html><title>Greeting</title>{form}<p>Hello {name}!</p><p>{address}</p>"
