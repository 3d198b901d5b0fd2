"""Requests to the API of a container engine, over its Unix socket. The API is Docker's; Podman has it, too."""

import contextlib
import http.client
import json
import socket
import time
import urllib.parse

# Docker 20.10 has 1.41, Podman 4.3 has 1.41, too.
VERSION = "/v1.41"


class UnixConnection(http.client.HTTPConnection):
    """An HTTP connection to a Unix socket."""

    def __init__(self, path, timeout):
        super().__init__("engine", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class EngineError(AssertionError):
    """The engine refused a request."""


class EngineApi:
    """The API of the engine that listens on this socket."""

    def __init__(self, path):
        self.path = path

    def request(self, method, path, body=None, timeout=120, **headers):
        """Sends a request. Returns (status, body). A body that is a file is sent as it is, other bodies as JSON."""
        connection = UnixConnection(self.path, timeout)
        try:
            kind = "application/x-tar" if hasattr(body, "read") else "application/json"
            sent = body if body is None or hasattr(body, "read") else json.dumps(body)
            connection.request(method, VERSION + path, sent, {"Content-Type": kind} | headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def call(self, method, path, body=None, **more):
        """Sends a request, and returns the JSON of the answer. Fails unless the status is 2xx."""
        status, text = self.request(method, path, body, **more)
        if status >= 300:
            raise EngineError(f"{method} {path}: {status} {text.decode(errors='replace')}")
        with contextlib.suppress(ValueError):
            return json.loads(text)
        return text

    def answers(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.request("GET", "/_ping", timeout=5)[0] == 200
        return False

    # Objects of the engine.

    def containers(self, **labels):
        """Returns all containers with these labels, also those that do not run."""
        wanted = [f"workshoplauncher.dev/{name}={value}" for name, value in labels.items()]
        path = f"/containers/json?all=true&filters={quote({'label': wanted})}"
        deadline = time.monotonic() + 30
        while True:
            try:
                return self.call("GET", path)
            except EngineError as error:
                # Podman cannot list containers while it removes one of them.
                if "container not known" not in str(error) or time.monotonic() > deadline:
                    raise
            time.sleep(0.2)

    def inspect(self, container):
        return self.call("GET", f"/containers/{container}/json")

    def networks(self):
        """Returns the names of all networks."""
        return sorted(each["Name"] for each in self.call("GET", "/networks"))

    def volumes(self):
        """Returns the names of all volumes."""
        return sorted(each["Name"] for each in self.call("GET", "/volumes")["Volumes"] or [])

    def images(self):
        """Returns the names of all images."""
        return sorted(name for each in self.call("GET", "/images/json") for name in each["RepoTags"] or [])

    def load(self, archive):
        """Loads an archive as `docker save` writes it."""
        with open(archive, "rb") as file:
            answer = self.call("POST", "/images/load", file, timeout=600)
        if b"error" in (answer if isinstance(answer, bytes) else json.dumps(answer).encode()):
            raise EngineError(f"{archive} cannot be loaded: {answer}")

    def push(self, image, repository, auth="e30="):
        """Pushes an image to a registry under another name. `auth` is the value of X-Registry-Auth."""
        name, _, tag = repository.rpartition(":")
        self.call("POST", f"/images/{quote(image)}/tag?repo={quote(name)}&tag={tag}")
        path = f"/images/{urllib.parse.quote(name, safe='/:')}/push?tag={tag}&tlsVerify=false"
        answer = self.call_raw("POST", path, **{"X-Registry-Auth": auth})
        if b"errorDetail" in answer or b'"error"' in answer:
            raise EngineError(f"{repository} cannot be pushed: {answer}")
        self.call("DELETE", f"/images/{quote(repository)}")

    @contextlib.contextmanager
    def container(self, image, command, host=None, **config):
        """Creates and starts a container, yields its id, and removes it. `host` is its HostConfig."""
        body = {"Image": image, "Cmd": command, "HostConfig": host or {}} | config
        made = self.call("POST", "/containers/create", body)["Id"]
        try:
            self.call("POST", f"/containers/{made}/start")
            yield made
        finally:
            self.request("DELETE", f"/containers/{made}?force=true&v=true")

    def run(self, image, command, **config):
        """Runs a container until it ends. Returns (exit status, output)."""
        with self.container(image, command, Tty=True, **config) as made:
            status = self.call("POST", f"/containers/{made}/wait")["StatusCode"]
            return status, self.call_raw("GET", f"/containers/{made}/logs?stdout=true&stderr=true").decode()

    def call_raw(self, method, path, **more):
        """Sends a request, and returns the bytes of the answer."""
        status, text = self.request(method, path, **more)
        if status >= 300:
            raise EngineError(f"{method} {path}: {status} {text.decode(errors='replace')}")
        return text

    def execute(self, container, command, **options):
        """Runs a command in a running container. Returns (exit status, output)."""
        body = {"Cmd": command, "AttachStdout": True, "AttachStderr": True, "Tty": True} | options
        made = self.call("POST", f"/containers/{container}/exec", body)["Id"]
        status, output = self.request("POST", f"/exec/{made}/start", {"Detach": False, "Tty": True})
        if status >= 300:
            raise EngineError(f"exec {command}: {status} {output.decode(errors='replace')}")
        return self.call("GET", f"/exec/{made}/json")["ExitCode"], output.decode(errors="replace")


def quote(value):
    """Encodes a value for a query: text as it is, other values as JSON."""
    return urllib.parse.quote(value if isinstance(value, str) else json.dumps(value), safe="")
