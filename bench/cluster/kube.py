"""The cluster's API over plain HTTP, and when what happened in a namespace."""

import collections
import http.client
import json
import subprocess
import sys
import threading
import time

WORKSHOP_LABEL = "workshoplauncher.dev/workshop"
PATHS = {
    "workshop": "/apis/workshoplauncher.dev/v1alpha1/namespaces/{}/workshops",
    "deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "service": "/api/v1/namespaces/{}/services",
    "pod": "/api/v1/namespaces/{}/pods",
}


class Kube:
    """`kubectl proxy`, so that whatever KUBECONFIG says about authentication is kubectl's business."""

    def __enter__(self):
        self.process = subprocess.Popen(["kubectl", "proxy", "--port=0"], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def connect(self, timeout=None):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def request(self, method, path, body=None):
        """One request; returns what was answered, fails when that is an error other than 404."""
        connection = self.connect(60)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status >= 400 and response.status != 404:
            raise RuntimeError(f"{method} {path}: {answer}")
        return answer

    def items(self, kind, namespace):
        return self.request("GET", PATHS[kind].format(namespace))["items"]

    def create(self, kind, namespace, made):
        return self.request("POST", PATHS[kind].format(namespace), made)

    def delete(self, kind, namespace, name):
        self.request("DELETE", f"{PATHS[kind].format(namespace)}/{name}")


def condition(made, name):
    """Whether this condition of an object holds."""
    conditions = made.get("status", {}).get("conditions", [])
    return any(one["type"] == name and one["status"] == "True" for one in conditions)


def marks_of(kind, made):
    """What can be said of an object as it is now."""
    yield f"{kind} made"
    if kind == "workshop" and made.get("status", {}).get("phase") == "Running":
        yield "workshop Running"
    if kind == "pod":
        statuses = made.get("status", {}).get("containerStatuses", [])
        if condition(made, "PodScheduled"):
            yield "pod scheduled"
        if statuses and all("running" in one["state"] for one in statuses):
            yield "containers started"
        if condition(made, "Ready"):
            yield "pod Ready"


def key_of(made):
    """Which workload it belongs to."""
    labels = made["metadata"].get("labels", {})
    return labels.get(WORKSHOP_LABEL) or labels.get("run") or made["metadata"]["name"]


class Timeline:
    """When what was first seen of each workload of a namespace: `seen[mark][workload]`, in seconds of perf_counter().

    As told by watches, which see a change some milliseconds after it happened.
    """

    def __init__(self, kube, namespace, kinds=("workshop", "deployment", "pod")):
        self.kube, self.namespace, self.kinds = kube, namespace, kinds
        self.seen = collections.defaultdict(dict)
        self.there = collections.defaultdict(set)
        self.changed = threading.Condition()
        self.connections = []

    def __enter__(self):
        for kind in self.kinds:
            connection = self.kube.connect()
            connection.request("GET", PATHS[kind].format(self.namespace) + "?watch=1")
            response = connection.getresponse()
            if response.status != 200:
                raise RuntimeError(f"the watch of {kind}s: {response.read()}")
            self.connections.append(connection)
            threading.Thread(target=self._follow, args=(kind, response), daemon=True).start()
        return self

    def __exit__(self, *_):
        for connection in self.connections:
            # Not close(): it would wait for the thread that reads.
            connection.sock.shutdown(2)

    def _follow(self, kind, response):
        try:
            for line in response:
                self._note(kind, json.loads(line), time.perf_counter())
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            return

    def _note(self, kind, event, now):
        made = event["object"]
        with self.changed:
            if event["type"] == "DELETED":
                self.there[kind].discard(made["metadata"]["name"])
                self.seen[f"{kind} gone"][key_of(made)] = now
            else:
                self.there[kind].add(made["metadata"]["name"])
                for mark in marks_of(kind, made):
                    self.seen[mark].setdefault(key_of(made), now)
            self.changed.notify_all()

    def note(self, mark, name, now):
        """Something that the watches do not tell."""
        with self.changed:
            self.seen[mark].setdefault(name, now)
            self.changed.notify_all()

    def until(self, mark, count, seconds):
        """Waits until so many workloads have come to this mark; returns when the last of them did."""
        failed = self.seen["row failed"]
        self._wait(lambda: len(self.seen[mark]) >= count or failed, seconds, lambda: f"{len(self.seen[mark])}: {mark}")
        if failed:
            raise RuntimeError(f"these have failed: {list(failed)}")
        return max(self.seen[mark].values())

    def until_there(self, count, seconds):
        """Waits until so many objects of each kind have been seen."""
        counts = lambda: {kind: len(self.there[kind]) for kind in self.kinds}
        self._wait(lambda: all(there >= count for there in counts().values()), seconds, lambda: f"there: {counts()}")

    def until_empty(self, seconds, kinds=None):
        """Waits until nothing of these kinds, or of all that are watched, is left."""
        left = lambda: {kind: len(self.there[kind]) for kind in kinds or self.kinds}
        self._wait(lambda: not any(left().values()), seconds, lambda: f"left: {left()}")

    def _wait(self, holds, seconds, say):
        with self.changed:
            try:
                held = self.changed.wait_for(holds, seconds)
            except KeyboardInterrupt:
                sys.exit(f"interrupted while {say()}")
        if not held:
            raise RuntimeError(f"after {seconds} s {say()}")
