#!/usr/bin/env python3
"""Test app that requires a token. Like Jupyter, it reads the token from a file in JUPYTER_CONFIG_PATH and sets a cookie.

Requests with the token or the cookie get their head back as the response. All other requests get 403.
"""
import http.server
import json
import os
import sys

directory = os.environ["JUPYTER_CONFIG_PATH"].split(":")[0]
with open(os.path.join(directory, "jupyter_server_config.json")) as file:
    login = json.load(file)["IdentityProvider"]
port = next(int(argument.split("=")[1]) for argument in sys.argv if argument.startswith("--ServerApp.port="))
cookie = login["cookie_name"] + '="2|1:0|signed="'


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        has_token = self.headers.get("Authorization") == "token " + login["token"]
        has_cookie = cookie in self.headers.get("Cookie", "").split("; ")
        body = (self.requestline + "\n" + str(self.headers)).encode()
        self.send_response(200 if has_token or has_cookie else 403)
        if has_token and not has_cookie:
            self.send_header("Set-Cookie", cookie + "; HttpOnly; Path=/")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
