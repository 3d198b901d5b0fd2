#!/usr/bin/python3
"""In place of /init of the image rocker/rstudio, which the tests cannot download: a page with the settings that RStudio Server would have.

Like that image, it uses the file below as configuration if DISABLE_AUTH is true, and runs sessions as the user 1000.
"""

import http.server
import os
import pathlib

assert os.environ.get("DISABLE_AUTH", "").lower() == "true", "RStudio would ask for a password"
lines = pathlib.Path("/etc/rstudio/disable_auth_rserver.conf").read_text().splitlines()
settings = dict(line.split("=", 1) for line in lines)
os.setgid(1000)
os.setuid(1000)


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = "\n".join([*lines, f"session of user {os.getuid()}"]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Frame-Options", "SAMEORIGIN" if settings.get("www-frame-origin") == "same" else "DENY")
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer((settings.get("www-address", "0.0.0.0"), 8787), Page).serve_forever()
