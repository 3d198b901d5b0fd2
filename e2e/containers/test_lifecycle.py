"""A workshop from the page to its end: environment, files, extension, expiry, deletion. Nothing is left.

The JupyterLab of the first test expires while the others run. The last test requires that nothing of it is left.
"""

import http.client
import json
import time

import pytest
from harness import ADMIN
from notebook import run_cell
from traces import traces, until_nothing_new
from websockets.exceptions import InvalidStatus
from world import ALICE, BOB, BOTH, ENGINE, JUPYTER, SHELL

# An extension adds 15 s.
SHORT = {"lifetime_seconds": 60, "extension_seconds": 60, "max_lifetime_seconds": 75}
# A kernel and some cells must run before the expiry.
LONGER = {"lifetime_seconds": 60, "extension_seconds": 60, "max_lifetime_seconds": 120}


@pytest.fixture(scope="module")
def before(world, shell):
    """The traces before the tests of this file, with the network of the fleet and one workshop, which stay."""
    return traces(world.api)


@pytest.fixture(scope="module")
def jupyterlab(world, before):
    """A JupyterLab, launched by the page's form. Returns its instance when it runs."""
    status, location = page(world, "POST", f"/launch/{world.template(JUPYTER, **LONGER)}")
    assert status == 303, (status, location)
    name = next(each for each in world.launcher.instances() if each in location)
    return world.until(name, "running", 90)


def page(world, method, path, email=ALICE):
    """Sends a request of a browser to a page. Returns (status, location)."""
    connection = http.client.HTTPConnection("127.0.0.1", world.launcher.port, timeout=30)
    headers = {"Host": f"localhost:{world.launcher.port}", "X-Auth-Request-Email": email}
    if method == "POST":
        headers |= {"Origin": f"http://localhost:{world.launcher.port}", "Content-Type": "application/x-www-form-urlencoded"}
    connection.request(method, path, "" if method == "POST" else None, headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, response.getheader("Location", "")


def test_jupyterlab_runs_cells_keeps_files_and_is_extended(world, jupyterlab):
    name = jupyterlab["k8s_name"]
    assert world.launcher.request("POST", f"/instances/{name}/extend", ALICE)[0] == 200
    assert world.instance(name)["expires_at"] > jupyterlab["expires_at"]
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


def test_workshop_has_two_containers_with_the_limits_of_its_template(world):
    resources = {"cpu_request": "5m", "cpu_limit": "500m", "memory_request": "16Mi", "memory_limit": "128Mi"}
    name = world.running(SHELL, resources=resources, env={"GREETING": "hello", "LINES": "one\ntwo"})
    assert world.parts()[name] == BOTH
    app = world.container(name, "app")["HostConfig"]
    assert (app["Memory"], app["MemorySwap"], app["NanoCpus"] or app["CpuQuota"] * 10_000) == (128 << 20, 128 << 20, 500_000_000)
    assert app["PidsLimit"] > 0 and app["ShmSize"] > 0
    # Podman does not report the options of the log. test_resources.py shows their effect.
    assert ENGINE == "podman" or app["LogConfig"]["Config"]["max-size"]
    assert not app["Binds"] and not app["Privileged"] and app["RestartPolicy"]["Name"] in ("no", "")
    status, environment = world.run(name, "python3", "-c", "import os, json; print(json.dumps(dict(os.environ)))")
    environment = json.loads(environment)
    assert status == 0
    assert {key: environment[key] for key in ("GREETING", "LINES", "DISABLE_AUTH", "PORT")} == {
        "GREETING": "hello", "LINES": "one\ntwo", "DISABLE_AUTH": "true", "PORT": "8888",
    }
    assert [key for key in environment if key.startswith(("SERVICE_", "OTEL_"))] == []
    assert world.run(name, "id", "-u") == (0, "1000\n")
    world.end(name)
    world.until_gone(name)


def test_baseline_profile_runs_as_the_user_of_the_image_with_few_capabilities(world):
    name = world.running(SHELL, security_profile="baseline")
    status, text = world.run(name, "grep", "-E", "CapBnd|NoNewPrivs", "/proc/self/status")
    assert status == 0
    # CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID.
    assert text.split() == ["CapBnd:", "00000000000000fb", "NoNewPrivs:", "1"]
    world.end(name)


def test_only_the_owner_reaches_the_workshop(world, shell):
    assert world.visit(shell, ALICE)[0] == 200
    assert world.visit(shell, BOB)[0] == 403
    assert world.visit(shell, ADMIN)[0] == 403
    assert world.visit("no-such-workshop", ALICE)[0] == 403
    for forged in ({}, {"X-Auth-Request-Email": ""}):
        connection = http.client.HTTPConnection("127.0.0.1", world.launcher.port, timeout=10)
        connection.request("GET", "/", headers={"Host": f"{shell}.workshops.test"} | forged)
        assert connection.getresponse().status in (401, 403)
        connection.close()


def test_websocket_passes_the_gateway(world, shell):
    with world.notebook(shell).websocket("/echo") as socket:
        for text in ("one", "x" * 100_000):
            socket.send(text)
            assert socket.recv(timeout=10) == text
    with pytest.raises(InvalidStatus):
        world.notebook(shell, BOB).websocket("/echo")


def test_large_bodies_pass_the_gateway(world, shell):
    status, output = world.run(shell, "python3", "-c", "print('y' * 5_000_000)")
    assert (status, len(output)) == (0, 5_000_001)


def test_launch_ended_at_once_leaves_nothing(world, leaves_nothing):
    """Workshops are ended at all moments of their start."""
    template, names = world.template(), []
    for number in range(8):
        names.append(world.launch(template))
        time.sleep(0.15 * number)
        world.end(names[-1])
    for name in names:
        world.until(name, "terminated")
    world.until_gone(*names)


def test_extended_workshop_runs_on_and_is_ended_by_the_page(world):
    """An extension changes the expiry without a restart, also for the frame page of the sidecar."""
    name = world.running(SHELL, name="extended", **SHORT)
    first = world.instance(name)["expires_at"]
    containers = [each["Id"] for each in world.containers(name)]
    assert world.launcher.request("POST", f"/instances/{name}/extend", ALICE)[0] == 200
    assert world.instance(name)["expires_at"] > first
    assert [each["Id"] for each in world.containers(name)] == containers
    status, location = page(world, "POST", f"/instances/{name}/end")
    assert status == 303, (status, location)
    world.until_gone(name)
    world.until(name, "terminated")
    assert world.visit(name)[0] in (403, 404)


def test_extended_jupyterlab_expires_and_leaves_nothing(world, jupyterlab, before):
    name = jupyterlab["k8s_name"]
    ended = world.until(name, "terminated", 180)
    assert ended["end_reason"] == "expired"
    assert ended["ended_at"] >= ended["expires_at"] > jupyterlab["expires_at"]
    world.until_gone(name)
    until_nothing_new(world.api, before)
    assert world.visit(name)[0] in (403, 404)
