"""Starts of workshops: JupyterLab from the page, ends during a start, and the queue."""

import contextlib
import http.client
import json
import pathlib
import re

import pytest
from harness import wait_for
from notebook import run_cell
from websockets.exceptions import InvalidStatus
from world import ALICE, BOB, JUPYTER, QUICK, RESOURCES

pytestmark = pytest.mark.container_faults


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
