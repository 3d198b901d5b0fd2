from django.http import HttpResponse
from django.middleware.csrf import get_token
from django.urls import path
from django.utils.html import escape


def page(request):
    token = f'<input type="hidden" name="csrfmiddlewaretoken" value="{get_token(request)}">'
    form = f'<form method="post">{token}<label>Name <input name="name"></label></form>'
    name, address = escape(request.POST.get("name", "")), request.build_absolute_uri("/")
    return HttpResponse(f"<!doctype html><title>Greeting</title>{form}<p>Hello {name}!</p><p>{address}</p>")


urlpatterns = [path("", page)]
