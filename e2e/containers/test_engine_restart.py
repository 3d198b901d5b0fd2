"""The engine restarts or is killed, or the whole server restarts: all workshops come back, with their files."""

import time

import pytest
from harness import wait_for
from world import ALICE, BOTH, SHELL, World, engine

COUNT = 10


@pytest.fixture
def world():
    with World() as made:
        yield made


def stop_all(world):
    """Stops all containers, as a restart of the server does."""
    for container in world.containers():
        world.api.call("POST", f"/containers/{container['Id']}/kill?signal=KILL")


def restart(world, how):
    """Restarts the engine: by a stop, by a kill, or with the whole server, launcher and all. With "interrupted", the
    launcher is killed again while it starts the containers.
    """
    running, with_launcher = engine(), how in ("server", "interrupted")
    if with_launcher:
        world.launcher.kill()
        stop_all(world)
    if how == "killed":
        running.kill()
    else:
        running.stop()
    running.start()
    if how == "interrupted":
        world.launcher.start()
        wait_for("a container to run", lambda: "running" in {each["State"] for each in world.containers()}, 30)
        world.launcher.kill()
    if with_launcher:
        world.launcher.start()


@pytest.mark.parametrize("how", ["stopped", "killed", "server", "interrupted"])
def test_all_workshops_come_back_with_their_files(world, how):
    template = world.template(SHELL, resources=SHELL["resources"] | {"memory_limit": "128Mi"})
    names = [world.launch(template) for _ in range(COUNT)]
    for number, name in enumerate(names):
        world.until(name, "running")
        assert world.run(name, "bash", "-c", f"echo {number} > ~/file; echo {number} > /tmp/file") == (0, "")
    began = time.monotonic()
    restart(world, how)
    for name in names:
        wait_for(f"{name} to answer again", lambda: world.visit(name, ALICE)[0] == 200, 90)
    print(f"{COUNT} workshops answered {time.monotonic() - began:.1f} s after the engine was {how}")
    assert {world.instance(name)["state"] for name in names} == {"running"}
    wait_for("two containers for each workshop", lambda: world.parts() == {name: BOTH for name in names}, 10)
    for number, name in enumerate(names):
        assert world.run(name, "bash", "-c", "cat ~/file /tmp/file") == (0, f"{number}\n{number}\n")
        # The rules of the network are in place again.
        status, output = world.run(name, "python3", "-m", "attack", "tcp", "169.254.169.254", "80")
        assert (status, '"gained": false' in output) == (0, True), output
        assert '"gained": true' in world.run(name, "python3", "-m", "attack", "tcp", "198.51.100.10", "80")[1]


def test_launch_while_the_engine_is_down_succeeds_afterwards(world):
    template, running = world.template(), engine()
    running.stop()
    try:
        name = world.launch(template)
        time.sleep(2)
        assert world.instance(name)["state"] not in ("running", "failed")
        assert world.launcher.request("GET", "/instances/")[0] == 200
    finally:
        running.start()
    world.until(name, "running")


def test_workshop_that_is_ended_while_the_engine_is_down_is_removed(world):
    name = world.running(SHELL)
    running = engine()
    running.stop()
    world.end(name)
    running.start()
    world.until_gone(name)
    world.until(name, "terminated")


def test_running_workshop_keeps_its_network_rules_when_the_internet_is_closed(world):
    name = world.running(SHELL)
    world.launcher.kill()
    stop_all(world)
    world.launcher.environment["SERVICE_CONTAINER_INTERNET"] = "false"
    world.launcher.start()
    wait_for(f"{name} to answer again", lambda: world.visit(name, ALICE)[0] == 200, 60)
    for address in ("169.254.169.254", "10.99.0.1"):
        assert '"gained": false' in world.run(name, "python3", "-m", "attack", "tcp", address, "80")[1]
    closed = world.running(SHELL)
    assert '"gained": false' in world.run(closed, "python3", "-m", "attack", "tcp", "198.51.100.10", "80")[1]
