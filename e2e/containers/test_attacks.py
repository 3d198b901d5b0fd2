"""The attacks of attacks.toml, from a workshop of each security profile: none gains anything, and each probe works where
it may."""

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
import tomllib
import uuid

import network
import pytest
from harness import exchange, wait_for
from world import ALICE, ENGINE, IMAGES, MALLORY, PLACE, SHELL, World, probe

pytestmark = pytest.mark.podman

HERE = pathlib.Path(__file__).resolve().parent
ATTACKS = tomllib.loads((HERE / "attacks.toml").read_text())["attack"]
PROFILES = ("restricted", "baseline")
CASES = [
    pytest.param(attack, profile, id=f"{attack['name']}, {profile}")
    for attack in ATTACKS
    for profile in PROFILES
    if attack.get("only", profile) == profile
]
# Refusals of the control that show that this machine has no such thing, which no workshop can use either.
ABSENT = (
    "Function not implemented", "No such file", "not supported by protocol", "Protocol not supported", "No such device",
    "Invalid argument", "resource busy", "Name or service not known",
)
# Ports of the server itself, on all addresses: SSH, and the UDP ports of an echo.
PORTS = {socket.SOCK_STREAM: (22,), socket.SOCK_DGRAM: (9998, 9999)}
PROBE_SECONDS = 300
# A program that answers HTTP on every address, has an abstract socket, and leaves a file open for the next program.
PLAIN = (
    "exec 9</etc/passwd; python3 -c 'import signal, socket; s = socket.socket(socket.AF_UNIX); s.bind(b\"\\0plain\"); "
    "s.listen(); signal.pause()' & exec python3 /opt/workshop/app.py"
)


@contextlib.contextmanager
def listeners():
    """Programs of the server that listen on all its addresses."""
    with contextlib.ExitStack() as stack:
        for kind, family in ((kind, family) for kind in PORTS for family in (socket.AF_INET, socket.AF_INET6)):
            for port in PORTS[kind]:
                made = stack.enter_context(socket.socket(family, kind))
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                made.bind(("::" if family == socket.AF_INET6 else "0.0.0.0", port))
                stack.callback(end, made)
                if kind == socket.SOCK_STREAM:
                    made.listen(1000)
                else:
                    threading.Thread(target=echo, args=(made,), daemon=True).start()
        yield


def end(made):
    """Ends the waiting calls of a socket."""
    with contextlib.suppress(OSError):
        made.shutdown(socket.SHUT_RDWR)


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
            self.stack.enter_context(listeners())
            self.victim = self.running(SHELL, ALICE, name="victim", env={"LISTEN": "0.0.0.0", "MARKER": self.marker})
            hide = f"echo {self.marker} > ~/{self.secret_file}; (exec -a {self.marker} sleep 1000000) > /dev/null 2>&1 &"
            assert self.shell(self.victim, hide) == ""
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
        name = f"plain-{uuid.uuid4().hex[:8]}"
        self.api.call("POST", "/networks/create", {"Name": name, "Driver": "bridge"})
        self.stack.callback(lambda: self.api.request("DELETE", f"/networks/{name}"))

        def start(command, host, **more):
            # Limits that every machine permits: the engine's own may exceed those of the test server.
            limits = {"Ulimits": [{"Name": one, "Soft": 4096, "Hard": 4096} for one in ("nofile", "nproc")]}
            made = self.api.container(f"{IMAGES}/shell:test", command, host | limits, User="0", **more)
            return self.stack.enter_context(made)

        server = start(["bash", "-c", PLAIN], {"NetworkMode": name}, Env=["PORT=8888", "LISTEN=0.0.0.0"])
        start(["sleep", "1000000"], {"NetworkMode": name})
        shared = {"NetworkMode": f"container:{server}"}
        plain = start(["bash", "-c", "exec 9</etc/passwd; exec sleep 1000000"], shared)
        privileged = start(["sleep", "1000000"], shared | {"Privileged": True})
        self.unprotected = {"plain": (plain, "0"), "plain user": (plain, "1000"), "privileged": (privileged, "0")}
        found = self.api.inspect(server)["NetworkSettings"]["Networks"][name]
        self.plain_address, self.plain_gateway = found["IPAddress"], found["Gateway"]

        def answers():
            with contextlib.suppress(OSError):
                return exchange(8888, "GET", "/", host=self.plain_address)[0] == 200

        wait_for("the unprotected container to answer", answers)

    def network_of(self, name):
        """Returns the network of a workshop, as the engine inspects it."""
        networks = self.container(name, "sidecar")["NetworkSettings"]["Networks"].values()
        return next(each for each in networks if each["IPAddress"])

    def values(self, attacker):
        """Returns the values of attacks.toml for this attacking workshop."""
        own = self.network_of(attacker)
        whole = ipaddress.ip_network(f"{own['IPAddress']}/{own['IPPrefixLen']}", strict=False)
        partitions = pathlib.Path("/proc/partitions").read_text().splitlines()[2:]
        major, minor = next(line.split()[:2] for line in partitions if line.strip())
        fixed = {name: value for name, value in vars(network).items() if name.isupper() and isinstance(value, str)}
        return fixed | {
            "own": own["IPAddress"], "gateway": own["Gateway"], "broadcast": str(whole.broadcast_address),
            "victim": self.network_of(self.victim)["IPAddress"], "victim_email": ALICE,
            "victim_host": f"{self.victim}.workshops.test",
            "victim_run": str(self.launcher.data / "fleet/workshops" / self.victim / "run"),
            "plain": self.plain_address, "plain_gateway": self.plain_gateway,
            "launcher_port": str(self.launcher.port), "data": str(self.launcher.data), "place": str(PLACE),
            "socket": str(self.api.path), "marker": self.marker, "secret_file": self.secret_file,
            "engine_names": "127.0.0.11" if ENGINE == "docker" else own["Gateway"],
            "plain_names": "127.0.0.11" if ENGINE == "docker" else self.plain_gateway,
            "disk_major": major, "disk_minor": minor,
        }

    def probe(self, place, many, is_patient=None):
        """Runs these probes at this place. Returns [(True if it gained something, what it saw)]. A probe that must succeed
        is patient: by default, at the places of the controls."""
        if is_patient is None:
            is_patient = place not in (*self.attackers.values(), "host user")
        command = probe(*["--patient"] * is_patient, "--all", json.dumps(many))
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


@pytest.fixture(scope="module")
def world():
    with AttackWorld() as made:
        yield made


@pytest.fixture(scope="module")
def values(world):
    return {profile: world.values(attacker) for profile, attacker in world.attackers.items()}


def filled(words, values):
    return [word.format(**values) for word in words]


def control(attack):
    """Returns the probes of an attack's control, its place, and the profile whose values the probes use."""
    probes = [attack["proof"]] if "proof" in attack else attack["probes"]
    return probes, attack.get("control", "host"), attack.get("only", "restricted")


@pytest.fixture(scope="module")
def results(world, values):
    """Results of all attacks, and of all their controls, place by place: {(place, words): (gained, seen)}."""
    many = {}
    for attack in ATTACKS:
        for profile in PROFILES:
            if attack.get("only", profile) == profile:
                place = attack.get("from") or world.attackers[profile]
                many.setdefault(place, []).extend(filled(words, values[profile]) for words in attack["probes"])
        probes, place, own = control(attack)
        many.setdefault(place, []).extend(filled(words, values[own]) for words in probes)
    seen = {}
    for place, probes in many.items():
        seen.update({(place, *words): result for words, result in zip(probes, world.probe(place, probes))})
    return seen


@pytest.mark.parametrize(("attack", "profile"), CASES)
def test_attack_gains_nothing(world, values, results, attack, profile):
    place = attack.get("from") or world.attackers[profile]
    seen = {" ".join(words): results[place, *filled(words, values[profile])] for words in attack["probes"]}
    assert {name: said for name, (is_gained, said) in seen.items() if is_gained} == {}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["name"])
def test_probe_works_where_it_may(values, results, attack):
    """Each probe of an attack gains something at the place of its control, if this machine has what it attacks."""
    probes, place, own = control(attack)
    seen = {" ".join(words): results[place, *filled(words, values[own])] for words in probes}
    is_absent = lambda said: any(text in said for text in ABSENT)
    assert {name: said for name, (is_gained, said) in seen.items() if not is_gained and not is_absent(said)} == {}
    assert any(is_gained for is_gained, _ in seen.values()), seen


def test_victim_is_undisturbed_and_internet_is_open(world, values, results):
    """The network of a workshop works: addresses and names of the internet."""
    assert world.started(world.victim) == world.victim_started
    assert world.shell(world.victim, "cat ~/homework-*") == f"{world.marker}\n"
    reach = [
        ["tcp", "{INTERNET}", "80"], ["tcp", "{INTERNET_NAME}", "80"], ["udp", "{INTERNET}", "9999"], ["dns", "{INTERNET}"],
        ["mapped", "{INTERNET}", "80"], ["bound_to_device", "{INTERNET}", "80"],
    ]
    for profile, attacker in world.attackers.items():
        seen = world.probe(attacker, [filled(words, values[profile]) for words in reach], is_patient=True)
        assert [words for words, (is_gained, _) in zip(reach, seen) if not is_gained] == []
        assert world.instance(attacker)["state"] == "running"
    assert world.instance(world.victim)["state"] == "running"
