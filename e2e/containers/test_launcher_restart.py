"""A stop, a kill and an upgrade of the launcher: workshops run on, and the next launcher adopts them."""

import time

import pytest
from harness import wait_for
from world import ALICE, BOTH, SHELL, World

COUNT = 4


@pytest.fixture
def world():
    with World() as made:
        yield made


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


def visitable(world, name):
    return world.visit(name, ALICE)[0] == 200


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_workshops_run_on_without_the_launcher(world, how):
    template = world.template(SHELL)
    names = [world.launch(template) for _ in range(COUNT)]
    for name in names:
        world.until(name, "running")
        assert world.run(name, "bash", "-c", "echo work > ~/file") == (0, "")
    before = state(world, names)
    if how == "stopped":
        world.launcher.stop()
    else:
        world.launcher.kill()
    time.sleep(1)
    assert world.parts() == {name: BOTH for name in names}
    began = time.monotonic()
    world.launcher.start()
    for name in names:
        wait_for(f"{name} to be adopted", lambda: visitable(world, name), 15)
    print(f"{COUNT} workshops answered {time.monotonic() - began:.1f} s after the start of the launcher")
    assert state(world, names) == before
    for name in names:
        assert world.run(name, "cat", "/home/jovyan/file") == (0, "work\n")
        assert world.instance(name)["state"] == "running"


def test_ends_while_the_launcher_is_down_take_effect_at_its_start(world):
    """One workshop expires, one crashes, one is removed by hand, and one runs on, while no launcher runs."""
    short = {"lifetime_seconds": 60, "extension_seconds": 60, "max_lifetime_seconds": 60}
    expiring = world.running(SHELL, name="short", **short)
    expires = time.time() + 60
    crashing, removed, kept = (world.running(SHELL, name=each) for each in ("crashing", "removed", "kept"))
    world.launcher.kill()
    world.api.call("POST", f"/containers/{world.container(crashing, 'app')['Id']}/kill?signal=KILL")
    # In the order in which Podman permits it.
    for part in ("app", "sidecar"):
        world.api.call("DELETE", f"/containers/{world.container(removed, part)['Id']}?force=true")
    time.sleep(max(0, expires + 1 - time.time()))
    world.launcher.start()
    world.until(expiring, "terminated", 30)
    assert world.instance(expiring)["end_reason"] == "expired"
    failed = world.until(removed, "failed")
    assert failed["reason"]["message"] and failed["reason"]["remedy"], failed
    wait_for("the crash to be reported", lambda: world.instance(crashing)["last_crash"], 60)
    wait_for("the crashed app to answer again", lambda: visitable(world, crashing), 60)
    assert world.parts()[crashing] == BOTH
    world.until_gone(expiring)
    assert visitable(world, kept) and world.parts()[kept] == BOTH


def test_containers_without_a_workshop_are_removed(world):
    """A launcher that lost its data directory's records, or died between two steps, leaves no container for ever."""
    kept = world.running(SHELL)
    labels = world.container(kept, "app")["Config"]["Labels"]
    world.launcher.kill()
    orphan = labels | {"workshoplauncher.dev/workshop": "orphan-abcdefghij", "workshoplauncher.dev/uid": "00000000-0000-0000-0000-000000000000"}
    foreign = labels | {"workshoplauncher.dev/fleet": "another-fleet"}
    made = {}
    for name, each in (("orphan", orphan), ("foreign", foreign)):
        body = {"Image": "localhost/workshop-launcher/quick:test", "Cmd": ["/bin/busybox", "sleep", "1000"], "Labels": each,
                "HostConfig": {"Ulimits": [{"Name": one, "Soft": 4096, "Hard": 4096} for one in ("nofile", "nproc")]}}
        made[name] = world.api.call("POST", f"/containers/create?name=tier-{name}", body)["Id"]
        world.api.call("POST", f"/containers/{made[name]}/start")
    try:
        world.launcher.start()
        wait_for("the orphan to be removed", lambda: world.api.request("GET", f"/containers/{made['orphan']}/json")[0] == 404, 30)
        assert world.api.inspect(made["foreign"])["State"]["Running"], "a container of another launcher was removed"
        assert visitable(world, kept)
    finally:
        for each in made.values():
            world.api.request("DELETE", f"/containers/{each}?force=true")
