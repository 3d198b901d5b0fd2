"""The benches' environment: a separate launcher, with running workshops that cost little."""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from common.machine import cpu_seconds  # noqa: E402
from launcher import program as programs  # noqa: E402

ADMIN = programs.harness.ADMIN
PATIENCE = 300
# The smallest app: answers each connection with an empty 200.
APP = """
import _socket, sys
listener = _socket.socket()
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen(8)
while True:
    descriptor, _ = listener._accept()
    caller = _socket.socket(fileno=descriptor)
    caller.recv(65536)
    caller.send(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")
    caller.close()
"""
RUNS = [sys.executable, "-I", "-S", "-c", APP, "$(PORT)"]
# This app never listens. Its workshop is therefore never ready, and later launches stay queued.
WAITS = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(1e6)"]


class Stage(programs.Launcher):
    """`with Stage(program=…, SERVICE_…="…") as stage`: a serving launcher."""

    def call(self, method, path, person, expect=200):
        """Sends a request to the API; returns the JSON of the answer."""
        status, answer = self.request(method, f"/api/v1{path}", {"X-Auth-Request-Email": person})
        if status != expect:
            sys.exit(f"{method} {path} answered {status}: {answer[:300].decode()}")
        return json.loads(answer)

    def template(self, **fields):
        """Creates a catalog entry; returns its id."""
        return programs.template(self, description="A **workshop** of the bench.", **fields)

    def launch(self, template, people):
        """Launches for these people, one after the other; returns the instances' names."""
        path = f"/templates/{template}/launch"
        return [self.call("POST", path, person, expect=201)["k8s_name"] for person in people]

    def wait_until_running(self, count):
        """Waits until this many run (500 at most, the limit of a list)."""
        deadline = time.monotonic() + PATIENCE
        while len(self.call("GET", "/instances/?state=running&limit=500", ADMIN)) != count:
            if time.monotonic() > deadline:
                sys.exit(f"timed out after {PATIENCE} s waiting for {count} workshops to run")
            time.sleep(0.05)

    def cpu_seconds(self):
        """Returns the launcher's CPU seconds so far."""
        return cpu_seconds(self.process.pid, children=False)
