"""The cluster's API over plain HTTP, and the times of events in a namespace."""

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
    "service": "/api/v1/namespaces/{}/services",
    "pod": "/api/v1/namespaces/{}/pods",
}


class Kube:
    """API access through `kubectl proxy`, which handles the authentication that KUBECONFIG configures."""

    def __enter__(self):
        self.process = subprocess.Popen(["kubectl", "proxy", "--port=0"], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def connect(self, timeout=None):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def request(self, method, path, body=None, content_type="application/json"):
        """Sends one request; returns the answer, and fails on an error other than 404."""
        connection = self.connect(60)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": content_type})
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
    """Returns True if this condition of an object holds."""
    conditions = made.get("status", {}).get("conditions", [])
    return any(one["type"] == name and one["status"] == "True" for one in conditions)


def marks_of(kind, made):
    """Yields the names of the steps that the status of an object shows as done."""
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
    """Returns the name of the workload that an object belongs to."""
    labels = made["metadata"].get("labels", {})
    return labels.get(WORKSHOP_LABEL) or labels.get("run") or made["metadata"]["name"]


class Timeline:
    """Times at which workloads of a namespace reached a mark: `seen[mark][workload]`, in seconds of perf_counter().

    The times are those of watches, which see a change some milliseconds after it happened. With `statuses` false, the
    watches send only the metadata of each object, and there are only the marks `made` and `gone`.
    """

    def __init__(self, kube, namespace, kinds=("workshop", "pod", "service"), statuses=True):
        self.kube, self.namespace, self.kinds = kube, namespace, kinds
        form = "" if statuses else ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
        self.headers = {"Accept": f"application/json{form}"}
        self.seen = collections.defaultdict(dict)
        self.there = collections.defaultdict(set)
        self.changed = threading.Condition()
        self.connections = {}
        self.over, self.error = False, None

    def __enter__(self):
        for kind in self.kinds:
            threading.Thread(target=self._follow, args=(kind, *self._watch(kind)), daemon=True).start()
        return self

    def __exit__(self, *_):
        with self.changed:
            self.over = True
            for connection in self.connections.values():
                # Do not call close(), because it would wait for the reading thread.
                connection.sock.shutdown(2)

    def _watch(self, kind, version=""):
        """Starts a watch after this resource version, or of all objects; returns its connection and its response."""
        path = PATHS[kind].format(self.namespace)
        for _ in range(20):
            connection = self.kube.connect()
            query = f"watch=1&allowWatchBookmarks=true&resourceVersion={version}"
            connection.request("GET", f"{path}?{query}", headers=self.headers)
            response = connection.getresponse()
            # 429: the definition of the Workshops is a second old, and the API server does not have its storage yet.
            if response.status != 429:
                break
            connection.close()
            time.sleep(0.5)
        if response.status != 200:
            raise RuntimeError(f"the watch of {kind}s: {response.read()}")
        with self.changed:
            self.connections[kind] = connection
        return connection, response

    def _follow(self, kind, connection, response):
        """Reads the events of a watch. The API server ends a watch after some minutes: a new one then continues it."""
        version = ""
        while not self.over:
            try:
                for line in response:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        return self._fail(f"the watch of {kind}s: {event['object']}")
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        self._note(kind, event, time.perf_counter())
                connection, response = self._watch(kind, version)
            except (OSError, ValueError, http.client.HTTPException, AttributeError) as error:
                return self._fail(f"the watch of {kind}s: {error!r}")

    def _fail(self, error):
        with self.changed:
            if not self.over:
                self.error = error
            self.changed.notify_all()

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
        """Records an event that the watches do not report."""
        with self.changed:
            self.seen[mark].setdefault(name, now)
            self.changed.notify_all()

    def until(self, mark, count, seconds):
        """Waits until this many workloads have reached the mark; returns the time of the last one."""
        failed = self.seen["row failed"]
        self._wait(lambda: len(self.seen[mark]) >= count or failed, seconds, lambda: f"{len(self.seen[mark])}: {mark}")
        if failed:
            raise RuntimeError(f"failed Workshops: {list(failed)}")
        return max(self.seen[mark].values())

    def until_there(self, count, seconds):
        """Waits until this many objects of each kind have been seen."""
        counts = lambda: {kind: len(self.there[kind]) for kind in self.kinds}
        self._wait(lambda: all(there >= count for there in counts().values()), seconds, lambda: f"there: {counts()}")

    def until_empty(self, seconds, kinds=None):
        """Waits until no object of these kinds, or of all watched kinds, is left."""
        left = lambda: {kind: len(self.there[kind]) for kind in kinds or self.kinds}
        self._wait(lambda: not any(left().values()), seconds, lambda: f"left: {left()}")

    def _wait(self, holds, seconds, say):
        with self.changed:
            try:
                held = self.changed.wait_for(lambda: self.error or holds(), seconds)
            except KeyboardInterrupt:
                sys.exit(f"interrupted while {say()}")
        if self.error:
            raise RuntimeError(self.error)
        if not held:
            raise RuntimeError(f"after {seconds} s {say()}")
