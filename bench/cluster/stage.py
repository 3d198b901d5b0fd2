"""The benches' environment: separate namespaces, the release build of our programs, and the API's events."""

import contextlib
import http.client
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / each) for each in ("bench", "e2e", "e2e/cluster/tests")]

from harness import ADMIN  # noqa: E402
from world import APP, World  # noqa: E402

PROGRAM = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release/launcher"
# Resources of an app, with the smallest CPU request, so that as many pods as possible fit on the node.
RESOURCES = APP["resources"] | {"cpu_request": "1m"}


class Stage(World):
    """A World of the release build."""

    program = PROGRAM

    def _own(self, made):
        made.command = (self.program, made.command[1])
        return super()._own(made)

    def __exit__(self, *_):
        super().__exit__()
        delete_namespace(self.namespace)


@contextlib.contextmanager
def bare_namespace():
    """A namespace that none of our programs watches."""
    name = f"bare-{uuid.uuid4().hex[:8]}"
    subprocess.run(["kubectl", "create", "namespace", name], check=True, stdout=subprocess.DEVNULL)
    try:
        yield name
    finally:
        delete_namespace(name)


def delete_namespace(name):
    """Deletes the namespace and waits until it is gone, so that the deletion does not disturb the next figure."""
    command = ["kubectl", "delete", "namespace", name, "--ignore-not-found"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class Events(threading.Thread):
    """Follows `GET /events` as an admin, and records in a timeline when a row reached which state."""

    def __init__(self, launcher, timeline):
        super().__init__(daemon=True)
        self.timeline = timeline
        self.connection = http.client.HTTPConnection("127.0.0.1", launcher.port)
        self.connection.request("GET", "/api/v1/events", headers={"X-Auth-Request-Email": ADMIN})
        self.response = self.connection.getresponse()
        if self.response.status != 200:
            raise RuntimeError(f"/events answered {self.response.status}")

    def run(self):
        try:
            for line in self.response:
                if line.startswith(b"data:"):
                    instance = json.loads(line[5:])
                    self.timeline.note(f"row {instance['state']}", instance["k8s_name"], time.perf_counter())
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            return

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.connection.sock.shutdown(2)


def millicores(amount):
    """Converts a CPU quantity of a pod or a node to millicores."""
    return float(amount[:-1]) if amount.endswith("m") else float(amount) * 1000


def check_room(kube, model, count):
    """Exits if this many pods of the model do not fit: they, and all other new pods, would have to wait."""
    nodes = kube.request("GET", "/api/v1/nodes")["items"]
    pods = kube.request("GET", "/api/v1/pods")["items"]
    there = sum(millicores(node["status"]["allocatable"]["cpu"]) for node in nodes)
    room = int((there - sum(cpu(pod["spec"]) for pod in pods)) / cpu(model.pod))
    if count + 1 > room:
        sys.exit(f"the nodes' CPU suffices for the requests of {room - 1} workshops: --count {room - 1}")


def cpu(spec):
    """Returns the sum of the CPU requests of a pod's containers, in millicores."""
    asked = (one.get("resources", {}).get("requests", {}).get("cpu", "0") for one in spec["containers"])
    return sum(map(millicores, asked))
