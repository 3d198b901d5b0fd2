"""The app of the tests: a shell for its owner.

POST /run      {"command": [...], "seconds": 20}: runs the command; answers {"status": ..., "output": ...}
GET  /take/MIB the app itself takes this much memory
GET  /started  the time at which the app started, and a number that only this process has
GET  /…        ok

It listens on $PORT of the loopback address, or of the address $LISTEN. It ends at SIGTERM, which the first process of a
container otherwise ignores.
"""

import http.server
import json
import os
import signal
import subprocess
import time
import uuid

STARTED = {"time": time.time(), "id": uuid.uuid4().hex}
TAKEN = []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/started":
            self.answer(200, STARTED)
        elif self.path.startswith("/take/"):
            TAKEN.append(b"x" * (int(self.path.rpartition("/")[2]) << 20))
            self.answer(200, "taken")
        else:
            self.answer(200, "ok")

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        try:
            done = subprocess.run(asked["command"], timeout=asked.get("seconds", 20), **options)
            self.answer(200, {"status": done.returncode, "output": done.stdout.decode(errors="replace")})
        except subprocess.TimeoutExpired as late:
            self.answer(200, {"status": None, "output": (late.output or b"").decode(errors="replace")})
        except OSError as error:
            self.answer(200, {"status": 127, "output": str(error)})

    def answer(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        """Logs nothing: the tests measure what the app itself writes."""


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    address = os.environ.get("LISTEN", "127.0.0.1"), int(os.environ["PORT"])
    http.server.ThreadingHTTPServer(address, Handler).serve_forever()
