"""Docker and Podman as processes of the test server, each with directories of its own, and requests to their API.

The API is Docker's; Podman has it, too.
"""

import contextlib
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import urllib.parse

from harness import DEADLINE, wait_for

# Version of the API. Docker 20.10 has 1.41, Podman 4.3 has 1.41, too.
VERSION = "/v1.41"
# dockerd exits with this error if its containerd does not answer within 15 seconds, as on a busy machine. A service manager
# then starts dockerd again.
SLOW_START = "timeout waiting for containerd to start"

PODMAN_CONFIG = """
[containers]
# Podman's own default raises limits, which needs a capability that root does not have in every container.
default_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
# Kept completely: the ids of all containers are in it.
events_logfile_path = "{place}/events.log"
events_logfile_max_size = "100m"
# Podman's own default keeps the monitor of each exec session for five minutes.
exit_command_delay = 1
[network]
network_backend = "netavark"
network_config_dir = "{place}/networks"
"""
PODMAN_STORAGE = """
[storage]
driver = "overlay"
graphroot = "{place}/data"
runroot = "{place}/run"
"""
# The registries of the tests have no certificate.
PODMAN_REGISTRIES = """
unqualified-search-registries = []
[[registry]]
location = "127.0.0.1"
insecure = true
"""


# A runtime for machines whose root lacks capabilities: dockerd asks for all that the kernel knows, and runc then fails.
# The name of each one that is missing is removed from the file with the process.
LIMITED_RUNTIME = """#!/bin/sh
file= next=
for word; do
  case $next in bundle) file=$word/config.json ;; process) file=$word ;; esac
  case $word in --bundle|-b) next=bundle ;; --process|-p) next=process ;; *) next= ;; esac
done
[ -z "$file" ] || sed -i -e 's/"\\({missing}\\)",//g; s/,\\?"\\({missing}\\)"//g' "$file"
exec runc "$@"
"""
# Capabilities by number, as far as root may lack them in a virtual machine or a container.
CAPABILITIES = {12: "NET_ADMIN", 16: "SYS_MODULE", 17: "SYS_RAWIO", 21: "SYS_ADMIN", 22: "SYS_BOOT", 23: "SYS_NICE",
                24: "SYS_RESOURCE", 25: "SYS_TIME", 32: "MAC_OVERRIDE", 33: "MAC_ADMIN", 34: "SYSLOG", 35: "WAKE_ALARM",
                36: "BLOCK_SUSPEND", 37: "AUDIT_READ", 38: "PERFMON", 39: "BPF", 40: "CHECKPOINT_RESTORE"}


def missing_capabilities():
    """Returns the names of the capabilities that root lacks on this machine."""
    status = pathlib.Path("/proc/self/status").read_text()
    bounding = int(re.search(r"CapBnd:\s+(\w+)", status)[1], 16)
    last = int(pathlib.Path("/proc/sys/kernel/cap_last_cap").read_text())
    return [f"CAP_{name}" for number, name in CAPABILITIES.items() if number <= last and not bounding >> number & 1]


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

    def request(self, method, path, body=None, timeout=DEADLINE, **headers):
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

    def call_raw(self, method, path, body=None, **more):
        """Sends a request, and returns the bytes of the answer. Fails unless the status is 2xx."""
        status, text = self.request(method, path, body, **more)
        if status >= 300:
            raise EngineError(f"{method} {path}: {status} {text.decode(errors='replace')}")
        return text

    def call(self, method, path, body=None, **more):
        """Sends a request, and returns the JSON of the answer, or its bytes."""
        text = self.call_raw(method, path, body, **more)
        with contextlib.suppress(ValueError):
            return json.loads(text)
        return text

    def answers(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.request("GET", "/_ping")[0] == 200
        return False

    # Objects of the engine.

    def containers(self, **labels):
        """Returns all containers with these labels, also those that do not run."""
        wanted = [f"workshoplauncher.dev/{name}={value}" for name, value in labels.items()]
        path = f"/containers/json?all=true&filters={urllib.parse.quote(json.dumps({'label': wanted}))}"

        def listed():
            try:
                return [self.call("GET", path)]
            except EngineError as error:
                # Podman cannot list containers while it removes one of them.
                if "container not known" not in str(error):
                    raise

        return wait_for("the list of the containers", listed)[0]

    def inspect(self, container):
        return self.call("GET", f"/containers/{container}/json")

    def networks(self):
        """Returns the names of all networks."""
        return sorted(each["Name"] for each in self.call("GET", "/networks"))

    def volumes(self):
        """Returns the names of all volumes."""
        return sorted(each["Name"] for each in self.call("GET", "/volumes")["Volumes"] or [])

    def load(self, archive):
        """Loads an archive as `docker save` writes it."""
        with open(archive, "rb") as file:
            answer = self.call_raw("POST", "/images/load", file, timeout=600)
        if b"error" in answer:
            raise EngineError(f"{archive} cannot be loaded: {answer}")

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

    def execute(self, container, command, **options):
        """Runs a command in a running container. Returns (exit status, output)."""
        body = {"Cmd": command, "AttachStdout": True, "AttachStderr": True, "Tty": True} | options
        made = self.call("POST", f"/containers/{container}/exec", body)["Id"]
        output = self.call_raw("POST", f"/exec/{made}/start", {"Detach": False, "Tty": True}, timeout=600)
        return self.call("GET", f"/exec/{made}/json")["ExitCode"], output.decode(errors="replace")


class Engine:
    """A container engine. `with Engine(place)` starts it, and stops it with all its containers."""

    def __init__(self, place):
        self.place = place
        self.data, self.socket, self.log = place / "data", place / "engine.sock", place / "engine.log"
        self.pid_file = place / "engine.pid"
        self.api = EngineApi(self.socket)

    def __enter__(self):
        self.data.mkdir()
        self.prepare()
        self.start()
        return self

    def __exit__(self, kind, *_):
        with contextlib.suppress(OSError):
            for each in self.api.containers():
                self.api.request("DELETE", f"/containers/{each['Id']}?force=true&v=true")
        self.stop()
        if kind:
            print("\n".join(self.log.read_text(errors="replace").splitlines()[-40:]), file=sys.stderr)

    def prepare(self):
        """Writes the configuration."""

    def command(self):
        """Returns the command of the engine's process."""
        raise NotImplementedError

    def start(self):
        """Starts the engine and waits until it answers."""
        self.spawn()
        wait_for("the engine to answer", self._answers)

    def spawn(self):
        """Starts the engine's process."""
        with self.log.open("ab") as log:
            self.log_start = log.tell()
            # In its own directory, because Podman's monitor writes a file into it after an OOM kill. A killed Podman also
            # leaves temporary files.
            environment = os.environ | {"TMPDIR": str(self.place)}
            process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.place, env=environment
            )
        self.pid_file.write_text(str(process.pid))

    def _answers(self):
        if not self.runs():
            output = self.log.read_bytes()[self.log_start:].decode(errors="replace")
            if SLOW_START not in output:
                raise AssertionError(f"the engine exited: {output[-2000:]}")
            self.spawn()
        return self.api.answers()

    def runs(self):
        """True while the engine's process runs. Another process may have started it."""
        with contextlib.suppress(OSError):
            status = pathlib.Path(f"/proc/{self.pid_file.read_text()}/stat").read_text()
            return status.rpartition(")")[2].split()[0] not in "ZX"
        return False

    def stop(self, number=signal.SIGTERM):
        """Stops the engine, and with Docker its containers."""
        if self.runs():
            os.kill(int(self.pid_file.read_text()), number)
            wait_for("the engine to stop", lambda: not self.runs())

    def kill(self):
        """Kills the engine's process. Its containers continue, or end at the next start."""
        self.stop(signal.SIGKILL)


class Docker(Engine):
    """Docker Engine: dockerd, which starts containerd."""

    def group(self):
        """Returns the cgroup of the containers, which server.py removes."""
        return f"/{self.place.name}"

    def start(self):
        # A killed dockerd leaves this file. The new one believes that the old one runs, until its parent has seen the end.
        (self.place / "docker.pid").unlink(missing_ok=True)
        super().start()

    def command(self):
        return [
            "dockerd", "--data-root", self.data, "--exec-root", self.place / "exec", "--pidfile", self.place / "docker.pid",
            "--host", f"unix://{self.socket}", "--cgroup-parent", self.group(), "--storage-driver", "overlay2",
            "--config-file", self.place / "daemon.json", "--log-level", "warn",
        ]

    def prepare(self):
        settings = {}
        if missing := missing_capabilities():
            runtime = self.place / "limited-runtime"
            runtime.write_text(LIMITED_RUNTIME.format(missing="\\|".join(missing)))
            runtime.chmod(0o755)
            settings = {"runtimes": {"limited": {"path": str(runtime)}}, "default-runtime": "limited"}
        (self.place / "daemon.json").write_text(json.dumps(settings))


class Podman(Engine):
    """Podman: the API service, without a daemon behind it. Containers continue without the service."""

    def command(self):
        return ["podman", "system", "service", "--time", "0", f"unix://{self.socket}"]

    def prepare(self):
        numbers = {"files": resource.RLIMIT_NOFILE, "processes": resource.RLIMIT_NPROC}
        limits = {name: resource.getrlimit(number)[1] for name, number in numbers.items()}
        files = {"CONF": PODMAN_CONFIG, "STORAGE_CONF": PODMAN_STORAGE, "REGISTRIES_CONF": PODMAN_REGISTRIES}
        for name, text in files.items():
            path = self.place / f"{name.lower()}.toml"
            path.write_text(text.format(place=self.place, **limits))
            os.environ[f"CONTAINERS_{name}"] = str(path)


ENGINES = {"docker": Docker, "podman": Podman}
