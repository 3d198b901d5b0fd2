"""The app of the tests: a shell for its owner.

POST /run      {"command": [...], "seconds": 20}: runs the command; answers {"status": ..., "output": ...}
GET  /take/MIB the app itself takes this much memory
GET  /started  the time at which the app started, and a number that only this process has
GET  /echo     as WebSocket: returns each message
GET  /…        ok

It listens on $PORT of the loopback address, or of the address $LISTEN.
"""

import base64
import hashlib
import http.server
import json
import os
import subprocess
import time
import uuid

STARTED = {"time": time.time(), "id": uuid.uuid4().hex}
TAKEN = []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.headers.get("Upgrade", "").lower() == "websocket":
            self.echo()
        elif self.path == "/started":
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

    def echo(self):
        """Returns each frame of a WebSocket until it is closed (RFC 6455)."""
        self.close_connection = True
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        while len(head := self.rfile.read(2)) == 2:
            length = head[1] & 0x7F
            extra = self.rfile.read({126: 2, 127: 8}.get(length, 0))
            mask = self.rfile.read(4)
            data = self.rfile.read(int.from_bytes(extra) if extra else length)
            self.wfile.write(bytes([head[0], length]) + extra + bytes(a ^ mask[i % 4] for i, a in enumerate(data)))
            if head[0] & 0x0F == 8:
                return

    def log_message(self, *_):
        """Logs nothing: the tests measure what the app itself writes."""


if __name__ == "__main__":
    address = os.environ.get("LISTEN", "127.0.0.1"), int(os.environ["PORT"])
    http.server.ThreadingHTTPServer(address, Handler).serve_forever()
