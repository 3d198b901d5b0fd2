"""The launcher, the engine or the whole server restarts: all workshops come back, with their files and network rules."""

import json

import pytest
from harness import wait_for
from network import INTERNET, METADATA
from world import BOTH, ENGINE, SHELL, WORK, World, engine, gained, probe

pytestmark = pytest.mark.container_faults
COUNT = 3 if ENGINE == "docker" else 2


@pytest.fixture(scope="module")
def names(world):
    """Running workshops, whose storage is kept."""
    templates = [world.template(SHELL, name=f"workshop {number}", storage=WORK) for number in range(COUNT)]
    launched = [world.launch(template) for template in templates]
    for name in launched:
        world.until(name, "running")
    return launched


def stop_all(world):
    """Stops all containers, as a restart of the server does."""
    for container in world.containers():
        world.api.call("POST", f"/containers/{container['Id']}/kill?signal=KILL")


def restart(world, how):
    """Restarts the engine: by a stop, by a kill, or with the whole server, whose launcher is killed again while it starts the
    containers ("interrupted").
    """
    running = engine()
    if how == "interrupted":
        world.launcher.kill()
        stop_all(world)
    if how == "killed":
        running.kill()
    else:
        running.stop()
    running.start()
    if how == "interrupted":
        world.launcher.start()
        wait_for("a container to run", lambda: "running" in {each["State"] for each in world.containers()})
        world.restart()


def assert_isolated(world, name, *refused):
    """The rules of the workshop's network are in place."""
    many = json.dumps([["tcp", address, "80"] for address in (METADATA, *refused)])
    status, output = world.run(name, *probe("--all", many))
    assert status == 0 and not any(each["gained"] for each in json.loads(output)), output


@pytest.mark.parametrize("how", [
    "stopped", pytest.param("killed", marks=pytest.mark.podman), pytest.param("interrupted", marks=pytest.mark.podman),
])
def test_all_workshops_come_back_with_their_files_and_network_rules(world, names, how):
    for number, name in enumerate(names):
        world.shell(name, f"echo {how} {number} | tee ~/file /tmp/file > /work/file")
    restart(world, how)
    world.until_answering(*names)
    assert {world.instance(name)["state"] for name in names} == {"running"}
    wait_for("two containers for each workshop", lambda: world.parts() == {name: BOTH for name in names})
    for number, name in enumerate(names):
        assert world.shell(name, "cat ~/file /tmp/file /work/file") == f"{how} {number}\n" * 3
        assert_isolated(world, name)
        assert gained(world.run(name, *probe("tcp", INTERNET, "80"))[1])


def state(world, names):
    """Returns what must not change: the containers with their start times, and the process of each app."""
    return {
        name: [world.started(name)] + [
            (part, container["Id"], container["State"]["StartedAt"], container["State"]["Pid"])
            for part in BOTH
            for container in [world.container(name, part)]
        ]
        for name in names
    }


def test_workshops_run_on_without_the_launcher(world, names):
    before = state(world, names)
    for end in (world.launcher.stop, world.launcher.kill):
        end()
        assert world.parts() == {name: BOTH for name in names}
        world.launcher.start()
        world.until_answering(*names)
        assert state(world, names) == before
    assert {world.instance(name)["state"] for name in names} == {"running"}


@pytest.mark.podman
def test_launch_and_end_while_the_engine_is_down_take_effect_afterwards(world):
    ended, template, running = world.running(), world.template(), engine()
    running.stop()
    try:
        name = world.launch(template)
        world.end(ended)
        failed_calls = lambda: [line for line in world.launcher.log.read_text().splitlines() if "starting app failed, retrying" in line]
        wait_for("a failed call to the engine", lambda: any(name in line for line in failed_calls()))
        assert world.instance(name)["state"] not in ("running", "failed")
        world.ask("GET", "/instances/")
    finally:
        running.start()
    world.until(name, "running")
    world.until(ended, "terminated")
    world.until_gone(ended)
    world.finish(name)


@pytest.mark.podman
def test_running_workshop_keeps_its_network_rules_when_the_internet_is_closed():
    with World() as world:
        name = world.running(SHELL)
        world.launcher.kill()
        stop_all(world)
        world.launcher.environment["SERVICE_CONTAINER_INTERNET"] = "false"
        world.launcher.start()
        world.until_answering(name)
        assert_isolated(world, name, "10.99.0.1")
        assert_isolated(world, world.running(SHELL), INTERNET)
