"""The places of attacks.toml: a victim, attackers, containers without protection, and the server itself."""

import contextlib
import ipaddress
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import uuid

from containers import addresses
from harness import exchange, wait_for
from world import ENGINE, IMAGES, MALLORY, PLACE, SHELL, ALICE, World

HERE = pathlib.Path(__file__).resolve().parent
# Ports of the server itself, on all addresses: SSH, and the API of an engine by TCP. Then the UDP ports of an echo.
TCP_PORTS, UDP_PORTS = (22, 2375), (9998, 9999)
PROBE_SECONDS = 300
PROFILES = ("restricted", "baseline")
# A program that answers HTTP on every address, has an abstract socket, and leaves a file open for the next program.
PLAIN = (
    "exec 9</etc/passwd; python3 -c 'import socket, time; s = socket.socket(socket.AF_UNIX); s.bind(b\"\\0plain\"); "
    "s.listen(); time.sleep(1e9)' & exec python3 /opt/workshop/app.py"
)


class Listeners:
    """Programs of the server that listen on all its addresses."""

    def __enter__(self):
        self.sockets = []
        for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
            for port in TCP_PORTS:
                self.sockets.append(self.listen(family, socket.SOCK_STREAM, address, port))
            for port in UDP_PORTS:
                made = self.listen(family, socket.SOCK_DGRAM, address, port)
                self.sockets.append(made)
                threading.Thread(target=echo, args=(made,), daemon=True).start()
        return self

    @staticmethod
    def listen(family, kind, address, port):
        made = socket.socket(family, kind)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((address, port))
        if kind == socket.SOCK_STREAM:
            made.listen(1000)
        return made

    def __exit__(self, *_):
        for each in self.sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


def echo(made):
    with contextlib.suppress(OSError):
        while True:
            data, source = made.recvfrom(2000)
            if not data:
                return
            made.sendto(data, source)


class AttackWorld(World):
    """A launcher that listens on all addresses of the server, with a victim and an attacker of each profile."""

    def __init__(self):
        super().__init__()
        self.launcher.environment["SERVICE_LISTEN_ADDR"] = f"[::]:{self.launcher.port}"
        self.marker, self.secret_file = f"secret-{uuid.uuid4().hex}", f"homework-{uuid.uuid4().hex}"
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        super().__enter__()
        try:
            self.stack.enter_context(Listeners())
            self.victim = self.running(SHELL, ALICE, name="victim", env={"LISTEN": "0.0.0.0", "MARKER": self.marker})
            hide = f"echo {self.marker} > ~/{self.secret_file}; (exec -a {self.marker} sleep 1000000) > /dev/null 2>&1 &"
            assert self.run(self.victim, "bash", "-c", hide) == (0, "")
            self.victim_started = self.started(self.victim)
            self.attackers = {
                profile: self.running(SHELL, MALLORY, name=profile, security_profile=profile) for profile in PROFILES
            }
            self.start_plain()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, *words):
        self.stack.close()
        super().__exit__(*words)

    def start_plain(self):
        """Starts containers with the engine's defaults: one answers on a port, another shares its network."""
        network = f"plain-{uuid.uuid4().hex[:8]}"
        self.api.call("POST", "/networks/create", {"Name": network, "Driver": "bridge"})
        self.stack.callback(lambda: self.api.request("DELETE", f"/networks/{network}"))
        start = lambda command, host, **more: self.stack.enter_context(  # noqa: E731
            self.api.container(f"{IMAGES}/shell:test", command, limits(host), User="0", **more)
        )
        server = start(["bash", "-c", PLAIN], {"NetworkMode": network}, Env=["PORT=8888", "LISTEN=0.0.0.0"])
        start(["sleep", "1000000"], {"NetworkMode": network})
        shared = {"NetworkMode": f"container:{server}"}
        plain = start(["bash", "-c", "exec 9</etc/passwd; exec sleep 1000000"], shared)
        privileged = start(["sleep", "1000000"], shared | {"Privileged": True})
        self.unprotected = {"plain": (plain, "0"), "plain user": (plain, "1000"), "privileged": (privileged, "0")}
        found = self.api.inspect(server)["NetworkSettings"]["Networks"][network]
        self.plain_address, self.plain_gateway = found["IPAddress"], found["Gateway"]
        wait_for("the unprotected container to answer", self.plain_answers, 20)

    def plain_answers(self):
        with contextlib.suppress(OSError):
            return exchange(8888, "GET", "/", host=self.plain_address)[0] == 200

    def values(self, attacker):
        """Returns the values of attacks.toml for this attacking workshop."""
        networks = self.container(attacker, "sidecar")["NetworkSettings"]["Networks"]
        network = next(each for each in networks.values() if each["IPAddress"])
        whole = ipaddress.ip_network(f"{network['IPAddress']}/{network['IPPrefixLen']}", strict=False)
        disk = os.makedev(*map(int, next(line.split()[:2] for line in partitions())))
        fixed = {name: value for name, value in vars(addresses).items() if name.isupper() and isinstance(value, str)}
        return fixed | {
            "own": network["IPAddress"], "gateway": network["Gateway"], "broadcast": str(whole.broadcast_address),
            "victim": self.address(self.victim), "victim_email": ALICE, "victim_host": f"{self.victim}.workshops.test",
            "victim_run": str(self.launcher.data / "fleet/workshops" / self.victim / "run"),
            "plain": self.plain_address, "plain_gateway": self.plain_gateway,
            "launcher_port": str(self.launcher.port), "data": str(self.launcher.data), "place": str(PLACE),
            "socket": str(self.api.path), "marker": self.marker, "secret_file": self.secret_file,
            "engine_names": "127.0.0.11" if ENGINE == "docker" else network["Gateway"],
            "plain_names": "127.0.0.11" if ENGINE == "docker" else self.plain_gateway,
            "disk_major": str(os.major(disk)), "disk_minor": str(os.minor(disk)),
        }

    def probe(self, place, many):
        """Runs these probes at this place. Returns [(True if it gained something, what it saw)]."""
        command = ["python3", "-m", "attack", "--all", json.dumps(many)]
        if place in self.attackers.values():
            status, output = self.run(place, *command, email=MALLORY, seconds=PROBE_SECONDS)
        elif place == "victim":
            status, output = self.run(self.victim, *command, seconds=PROBE_SECONDS)
        elif place in self.unprotected:
            container, user = self.unprotected[place]
            status, output = self.api.execute(container, command, User=user)
        else:
            status, output = on_host(command, is_root=place == "host")
        try:
            results = json.loads(output)
        except ValueError:
            raise AssertionError(f"the probes at {place} are broken, status {status}: {output}") from None
        broken = {" ".join(words): each["seen"] for words, each in zip(many, results) if each["gained"] is None}
        assert not broken, f"probes at {place} are broken: {broken}"
        return [(each["gained"], each["seen"]) for each in results]


def limits(host):
    """Adds limits that every machine permits: the engine's own may exceed those of the test server."""
    return host | {"Ulimits": [{"Name": name, "Soft": 4096, "Hard": 4096} for name in ("nofile", "nproc")]}


def partitions():
    return [line for line in pathlib.Path("/proc/partitions").read_text().splitlines()[2:] if line.strip()]


def on_host(command, is_root):
    """Runs a probe on the server, as root or as user 1000."""
    user = [] if is_root else ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups"]
    # The Python of root may be below a directory that only root can read.
    python = sys.executable if is_root else "/usr/bin/python3"
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["cp", "--recursive", HERE / "images/attack", place], check=True)
        os.chmod(place, 0o755)
        environment = {"PYTHONPATH": place, "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([*user, python, *command[1:]], env=environment, capture_output=True, text=True, timeout=PROBE_SECONDS)
    return done.returncode, done.stdout or done.stderr
