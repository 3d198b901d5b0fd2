"""An app that stores notes of its user in its working directory: `PUT /NAME` writes a file, `GET /NAME` reads it.

The app acknowledges a note after it has replaced the file, so each acknowledged note is complete.
"""

import json

from harness import ADMIN

APP = """
import http.server, os, sys
class Notes(http.server.SimpleHTTPRequestHandler):
    def do_PUT(self):
        with open('new', 'wb') as file:
            file.write(self.rfile.read(int(self.headers['Content-Length'])))
        os.replace('new', self.path[1:])
        self.send_response(204)
        self.end_headers()
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Notes).serve_forever()
"""
COMMAND = ["python3", "-c", APP, "$(PORT)"]
KEPT = {"storage": {"kind": "kept", "path": "/work"}}
NOTE = "/note.json"


def write(outage, name, note, email=ADMIN):
    """Stores a note. Fails unless the app acknowledges it."""
    status, answer = outage.send(name, "PUT", NOTE, email, note)
    assert status == 204, (status, answer)


def read(outage, name, email=ADMIN):
    """Returns the stored note, or None if the app has none."""
    status, note = outage.send(name, "GET", NOTE, email)
    assert status in (200, 404), (status, note)
    return json.loads(note) if status == 200 else None
