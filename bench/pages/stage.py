"""The benches' environment: a separate launcher, with running workshops that cost little."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

from wire import Line

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release/launcher"
ADMIN = "admin@example.org"
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


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Stage:
    """`with Stage(program, SERVICE_…="…") as stage`: a serving launcher, which is removed with its data afterwards."""

    def __init__(self, program, **settings):
        self.program, self.settings = program, settings

    def __enter__(self):
        self.data = tempfile.TemporaryDirectory(prefix="launcher-bench-")
        self.port, self.telemetry = free_port(), free_port()
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
        own = {
            "SERVICE_LISTEN_ADDR": f"127.0.0.1:{self.port}",
            "SERVICE_TELEMETRY_ADDR": f"127.0.0.1:{self.telemetry}",
            "SERVICE_DATA_DIR": self.data.name,
            "SERVICE_FLEET": "local",
            "SERVICE_ADMIN_EMAILS": ADMIN,
            "SERVICE_LOG": "error",
        }
        self.process = subprocess.Popen([self.program, "serve"], env=inherited | own | self.settings)
        try:
            self.wait("the launcher to be ready", self.is_ready)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        self.data.cleanup()
        if status != 0:
            sys.exit(f"the launcher ended with status {status}")

    def is_ready(self):
        try:
            with Line(self.telemetry) as line:
                return line.get("/readyz")[0] == 200
        except OSError:
            return False

    def wait(self, what, look):
        """Waits until look() is true."""
        deadline = time.monotonic() + PATIENCE
        while not look():
            if self.process.poll() is not None:
                sys.exit(f"the launcher ended with status {self.process.returncode}")
            if time.monotonic() > deadline:
                sys.exit(f"timed out after {PATIENCE} s waiting for {what}")
            time.sleep(0.05)

    def call(self, method, path, person, body=None, expect=200):
        """Sends a request to the API; returns the JSON of the answer."""
        with Line(self.port, person) as line:
            status, answer = line.send(method, f"/api/v1{path}", body)
        if status != expect:
            sys.exit(f"{method} {path} answered {status}: {answer[:300].decode()}")
        return json.loads(answer)

    def template(self, **fields):
        """Creates a catalog entry; returns its id."""
        body = {"name": "Bench", "description": "A **workshop** of the bench.", "app_type": "custom", "image": "none"}
        return self.call("POST", "/templates/", ADMIN, body | {"port": 8000} | fields, expect=201)["template_id"]

    def launch(self, template, people):
        """Launches for these people, one after the other; returns the instances' names."""
        path = f"/templates/{template}/launch"
        return [self.call("POST", path, person, expect=201)["k8s_name"] for person in people]

    def wait_until_running(self, count):
        """Waits until this many run (500 at most, the limit of a list)."""
        path = "/instances/?state=running&limit=500"
        self.wait(f"{count} workshops to run", lambda: len(self.call("GET", path, ADMIN)) == count)

    def memory(self):
        """Returns the launcher's RSS and Pss in MiB."""
        lines = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text().splitlines()[1:]
        fields = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines}
        return fields["Rss"], fields["Pss"]

    def cpu_seconds(self):
        """Returns the launcher's CPU seconds so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, int(len(values) * percent / 100))]
