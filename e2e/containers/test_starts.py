"""Starts of workshops: JupyterLab from the page, failures, images, the queue, and ends during a start."""

import base64
import contextlib
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import threading
import typing

import pytest
from harness import exchange, free_port, wait_for
from notebook import run_cell
from websockets.exceptions import InvalidStatus
from world import ALICE, BOB, IMAGES, JUPYTER, QUICK, RESOURCES, SHELL

TELL = "Tell your teacher or an administrator"
LOST = r"Files that were not saved elsewhere are lost\. Launch it again"
# Writes text that no terminal should see, then ends.
BINARY_LAST_WORDS = (
    "import sys, os; os.write(1, b'\\xff\\x00\\x1b[31m' + b'z' * 300000 + b'\\n' + "
    "b''.join(b'line %d\\n' % each for each in range(40)) + b'caf\\xc3\\xa9'); sys.exit(3)"
)
USER, PASSWORD = "teacher", "password"
# The password with bcrypt, the only kind that the registry accepts.
HTPASSWD = f"{USER}:$2b$05$abcdefghijklmnopqrstuuWG29KuyeAicPCJODk1zjyGvyQUU2awu\n"
# Size of the large layer of the image pull:test, and the part of it that a closed Gate lets through.
LAYER, FIRST_PART = 8 << 20, 2 << 20


def page(world, path, email=ALICE):
    """Sends a form of a browser to a page. Returns the location of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", world.launcher.port)
    own = f"localhost:{world.launcher.port}"
    with contextlib.closing(connection):
        headers = {"Host": own, "X-Auth-Request-Email": email, "Origin": f"http://{own}"}
        connection.request("POST", path, "", headers | {"Content-Type": "application/x-www-form-urlencoded"})
        response = connection.getresponse()
        assert response.status == 303, response.read()
        return response.getheader("Location")


@pytest.mark.podman
def test_jupyterlab_of_the_page_runs_cells_is_extended_and_leaves_nothing(world, leaves_nothing):
    hour = {"lifetime_seconds": 3600, "extension_seconds": 3600, "max_lifetime_seconds": 7200}
    location = page(world, f"/launch/{world.template(JUPYTER, **hour)}")
    name = next(each for each in world.launcher.instances() if each in location)
    first, containers = world.until(name, "running"), sorted(each["Id"] for each in world.containers(name))
    assert len(containers) == 2
    world.ask("POST", f"/instances/{name}/extend", ALICE)
    assert world.instance(name)["expires_at"] > first["expires_at"]

    alice, bob = world.notebook(name), world.notebook(name, BOB)
    kernel = alice.start_kernel()
    with alice.channels(kernel) as channels:
        assert run_cell(channels, "6 * 7") == "42"
        assert run_cell(channels, "import os; os.getuid()") == "1000"
        assert run_cell(channels, "open('notes.txt', 'w').write('kept')") == "4"
        hosts = "import urllib.request; urllib.request.urlopen('http://internet.example').read()"
        assert run_cell(channels, hosts) == "b'this is 198.51.100.10'"
    with pytest.raises(InvalidStatus) as refused:
        bob.channels(kernel)
    assert refused.value.response.status_code == 403
    assert bob.request("GET", "/lab")[0] == 403
    assert json.loads(alice.request("GET", "/api/contents/notes.txt")[1])["content"] == "kept"
    assert sorted(each["Id"] for each in world.containers(name)) == containers

    page(world, f"/instances/{name}/end")
    world.until(name, "terminated")
    world.until_gone(name)
    assert world.visit(name)[0] in (403, 404)


class Registry:
    """An image registry on the loopback address of the test server, open or with a password: `with Registry() as registry`."""

    def __init__(self, is_private=False):
        self.is_private, self.port = is_private, free_port()
        self.prefix = f"127.0.0.1:{self.port}"
        credentials = {"username": USER, "password": PASSWORD, "serveraddress": self.prefix} if is_private else {}
        self.auth = base64.urlsafe_b64encode(json.dumps(credentials).encode()).decode()

    def __enter__(self):
        self.place = tempfile.TemporaryDirectory(prefix="launcher-registry-")
        folder = pathlib.Path(self.place.name)
        config = {
            "version": 0.1,
            "log": {"level": "error", "accesslog": {"disabled": True}},
            "storage": {"filesystem": {"rootdirectory": str(folder / "data")}},
            "http": {"addr": self.prefix},
        }
        if self.is_private:
            config["auth"] = {"htpasswd": {"realm": "test", "path": str(folder / "htpasswd")}}
        (folder / "config.yml").write_text(json.dumps(config))
        (folder / "htpasswd").write_text(HTPASSWD)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
        self.process = subprocess.Popen(["docker-registry", "serve", folder / "config.yml"], **quiet)

        def answers():
            with contextlib.suppress(OSError):
                return exchange(self.port, "GET", "/v2/")[0] in (200, 401)

        wait_for("the registry to answer", answers)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.place.cleanup()

    def push(self, api, image, name):
        """Pushes an image of the engine to this registry, which then has the name `name`."""
        api.push(f"{IMAGES}/{image}", f"{self.prefix}/{name}", self.auth)


@pytest.fixture(scope="module")
def registry(api):
    with Registry() as registry:
        # The image has a large layer. The engine loses all its copies, and must pull the layer again.
        api.load(pathlib.Path(os.environ["SERVER_IMAGES"]) / "small.tar")
        registry.push(api, "pull:test", "pull:test")
        api.call("DELETE", f"/images/{IMAGES}/pull:test?force=true")
        yield registry


class Cause(typing.NamedTuple):
    """A cause of failure. `message` and `remedy` are patterns for the beginning of the texts that the owner reads."""

    code: str
    message: str
    remedy: str
    changes: dict
    log_tail: str = r"^$"


CAUSES = {
    "missing image": Cause("image-pull-failed", "(?i).*/missing:test.*(unknown|not found|missing)", TELL, {"image": "{open}/missing:test"}),
    "private image": Cause(
        "image-pull-failed", "(?i).*/private:test.*(unauthorized|denied|authentication|credentials)", TELL,
        {"image": "{private}/private:test"},
    ),
    "missing command": Cause("invalid-spec", ".*/no/such/program", TELL, {"command": ["/no/such/program"]}),
    "binary output": Cause(
        "crashed", r"The workshop's program stopped unexpectedly\..*3", LOST, {"command": ["python3", "-c", BINARY_LAST_WORDS]},
        r"line 39\s*café$",
    ),
    "too little memory": Cause(
        "out-of-memory", r"The workshop exceeded its memory limit\.$", LOST,
        {"command": ["python3", "-c", "x = [b'x' * (1 << 20) for _ in range(2000)]"],
         "resources": RESOURCES | {"memory_limit": "32Mi"}},
    ),
}


def test_failures_are_explained_and_leave_nothing(world, registry, leaves_nothing):
    with Registry(is_private=True) as private:
        private.push(world.api, "quick:test", "private:test")
        names = {}
        for cause, expected in CAUSES.items():
            image = expected.changes.get("image", SHELL["image"]).format(open=registry.prefix, private=private.prefix)
            names[cause] = world.launch(world.template(SHELL, name=cause, **expected.changes | {"image": image}))
        for cause, expected in CAUSES.items():
            failed = world.until(names[cause], "failed")
            reason, tail = failed["reason"], failed["log_tail"] or ""
            assert reason["code"] == expected.code, reason
            assert re.match(expected.message, reason["message"]), reason
            assert re.match(expected.remedy, reason["remedy"]), reason
            assert re.search(expected.log_tail, tail), repr(tail[-500:])
            assert len(tail.splitlines()) <= 20 and len(tail) <= 20_000 and "\x1b" not in tail and "\0" not in tail
        world.until_gone(*names.values())


def test_launch_that_is_ended_during_its_start_leaves_nothing(world, leaves_nothing):
    """It is ended at once, with the first container, with both, and as soon as the app runs."""
    template, names = world.template(), []
    is_running = lambda name: any(each["State"] == "running" for each in world.containers(name, "app"))
    moments = [lambda name, count=count: len(world.containers(name)) >= count for count in range(3)]
    for moment in (*moments, is_running):
        name = world.launch(template)
        names.append(name)
        wait_for(f"the moment to end {name}", lambda: moment(name))
        world.end(name)
    for name in names:
        world.until(name, "terminated")
    world.until_gone(*names)


class Gate:
    """A port that passes connections to the port of a registry. Until open() is called, the registry sends no more than
    FIRST_PART. `sent` counts the bytes that it has sent."""

    def __init__(self, port):
        self.target, self.sent, self.opened = port, 0, threading.Event()
        self.open = self.opened.set

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.image = f"127.0.0.1:{self.listener.getsockname()[1]}/pull:test"
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.open()
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                threading.Thread(target=self.copy, args=(client, server, False), daemon=True).start()
                threading.Thread(target=self.copy, args=(server, client, True), daemon=True).start()

    def copy(self, source, target, is_answer):
        with contextlib.suppress(OSError), source, target:
            while data := source.recv(65536):
                if is_answer:
                    self.sent += len(data)
                    if self.sent > FIRST_PART:
                        self.opened.wait()
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


@pytest.fixture
def gate(api, registry):
    with Gate(registry.port) as made:
        yield made
    api.request("DELETE", f"/images/{made.image}?force=true")


def image(world, template):
    return world.ask("GET", f"/templates/{template}/image")


def pull(world, template):
    """An administrator pulls the image of a template."""
    return world.ask("POST", f"/templates/{template}/image/pull", expected=202)["state"]


def test_launches_and_an_administrator_share_a_pull(world, gate):
    template = world.template(QUICK, image=gate.image)
    assert image(world, template) == {"state": "missing", "percent": None, "reason": None}
    first = world.launch(template)
    wait_for("the pull", lambda: image(world, template)["state"] == "pulling")
    assert pull(world, template) == "pulling"
    second = world.launch(template, BOB)
    # The pull that an administrator has requested continues without the launch that began it.
    world.finish(first)
    shown = lambda: (row := world.instance(second))["start_step"] == "pulling-image" and row["start_progress"]
    assert 0 < wait_for("the progress of the other launch", shown) < 100
    seen = image(world, template)
    assert seen["state"] == "pulling" and 0 < seen["percent"] < 100, seen
    gate.open()
    world.until(second, "running")
    assert image(world, template)["state"] == pull(world, template) == "ready"
    assert LAYER <= gate.sent < 1.5 * LAYER, "the registry has sent the large layer twice"
    world.finish(second)


def test_stop_of_the_launcher_ends_a_pull(world, gate):
    template = world.template(QUICK, image=gate.image)
    pull(world, template)
    wait_for("the download to begin", lambda: image(world, template)["percent"])
    world.launcher.stop()
    world.launcher.start()
    assert image(world, template)["state"] == "missing"


def part_of_server(percent):
    """Returns the resources of a template that requests this part of the server's memory."""
    kibibytes = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1])
    memory = f"{kibibytes * percent // 100}Ki"
    return RESOURCES | {"memory_request": memory, "memory_limit": memory}


def test_workshops_wait_in_order_of_their_launch(world):
    def until_waiting(*names):
        for position, name in enumerate(names, 1):
            shown = lambda: (row := world.instance(name))["start_step"] == "waiting-for-room" and row["start_progress"]
            wait_for(f"{name} to wait at position {position}", lambda: shown() == position)

    template = world.template(QUICK, resources=part_of_server(40))
    first, second = world.launched(template), world.launched(template)
    third = world.launch(template)
    until_waiting(third)
    fourth = world.launch(template)
    until_waiting(third, fourth)
    # A workshop that would fit does not overtake those that wait longer.
    small = world.launch(world.template(name="small"))
    until_waiting(third, fourth, small)
    # A new launcher keeps the order.
    world.restart()
    until_waiting(third, fourth, small)
    world.end(third)
    until_waiting(fourth, small)
    world.end(first)
    for name in (fourth, small):
        assert world.until(name, "running")["start_progress"] is None
    assert world.instance(second)["state"] == "running"
    world.finish(second, fourth, small)

    reason = world.until(world.launch(world.template(QUICK, resources=part_of_server(120))), "failed")["reason"]
    assert (reason["code"], reason["retryable"]) == ("unschedulable", False)
    assert re.search(r"requests \d+ MiB of memory .* This server has \d+ MiB", reason["message"]), reason
