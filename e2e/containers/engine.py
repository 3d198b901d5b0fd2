"""Docker and Podman as processes of the test server, each with directories of its own."""

import contextlib
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from containers.engine_api import EngineApi  # noqa: E402
from harness import wait_for  # noqa: E402

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


class Engine:
    """A container engine. `with Engine(place)` starts it, and stops it with all its containers."""

    def __init__(self, place, data_size=None):
        self.place, self.data_size = place, data_size
        self.data, self.socket, self.log = place / "data", place / "engine.sock", place / "engine.log"
        self.pid_file = place / "engine.pid"
        self.api = EngineApi(self.socket)

    def __enter__(self):
        self.data.mkdir()
        if self.data_size:
            option = f"size={self.data_size},mode=0710"
            subprocess.run(["mount", "-t", "tmpfs", "-o", option, "engine", self.data], check=True)
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
        wait_for("the engine to answer", self._answers, 90)

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
            wait_for("the engine to stop", lambda: not self.runs(), 60)

    def kill(self):
        """Kills the engine's process. Its containers continue, or end at the next start."""
        self.stop(signal.SIGKILL)


class Docker(Engine):
    """Docker Engine: dockerd, which starts containerd."""

    def start(self):
        # A killed dockerd leaves this file. The new one believes that the old one runs, until its parent has seen the end.
        (self.place / "docker.pid").unlink(missing_ok=True)
        super().start()

    def command(self):
        return [
            "dockerd", "--data-root", self.data, "--exec-root", self.place / "exec", "--pidfile", self.place / "docker.pid",
            "--host", f"unix://{self.socket}", "--cgroup-parent", f"/{self.place.name}", "--storage-driver", "overlay2",
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
