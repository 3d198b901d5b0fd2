from html import escape

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

app = FastAPI()


@app.get("/", response_class=HTMLResponse)
def page(request: Request, name: str = ""):
    form = '<form><label>Name <input name="name"></label></form>'
    return f"<!doctype html><title>Greeting</title>{form}<p>Hello {escape(name)}!</p><p>{request.url_for('page')}</p>"
