"""A full disk of the engine. Needs a small one: `server.py --data-size 120m --images small docker python -m pytest …`."""

import shutil

import pytest
from harness import wait_for
from registry import Registry
from world import ALICE, BOTH, IMAGES, PLACE, QUICK, World

# An app that first fills the disk, then answers.
FILL = "/bin/busybox dd if=/dev/zero of=/tmp/fill bs=65536 2>/dev/null; exec /bin/busybox httpd -f -p 127.0.0.1:8888 -h /www"
SHELL = ["/bin/busybox", "sh", "-c"]
# An app that writes a kept file at its first start, and shows it.
KEEP = "[ -f /work/file ] || echo kept > /work/file; exec /bin/busybox httpd -f -p 127.0.0.1:8888 -h /work"


@pytest.fixture(scope="module")
def world():
    with World() as made:
        yield made


def free():
    return shutil.disk_usage(PLACE / "data").free


def test_full_disk_is_explained_and_ends_with_its_cause(world, leaves_nothing):
    """A workshop fills the disk: other workshops continue with their kept files, launches fail with the reason, and succeed
    after its end."""
    storage = {"kind": "kept", "size": "1Gi", "path": "/work"}
    keeping = world.template(name="keeping", storage=storage, command=[*SHELL, KEEP])
    healthy = world.launch(keeping)
    world.until(healthy, "running")
    filling = world.running(QUICK, name="filling", command=[*SHELL, FILL])
    wait_for("the disk to be full", lambda: free() < 1 << 20, 30)
    assert world.visit(healthy, path="/file") == (200, b"kept\n")
    assert world.visit(filling)[0] == 200
    template = world.template()
    name = world.launch(template)
    failed = world.until(name, "failed", 60)
    assert "disk" in failed["reason"]["message"].lower(), failed["reason"]
    world.until_gone(name)
    world.end(healthy)
    world.until_gone(healthy)
    world.end(filling)
    world.until_gone(filling)
    assert free() > 20 << 20, "the files of the ended workshop are left"
    again = [world.launch(template), world.launch(keeping)]
    for each in again:
        world.until(each, "running")
    assert world.visit(again[1], path="/file") == (200, b"kept\n")
    assert world.parts() == dict.fromkeys(again, BOTH)
    volume = world.instance(again[1])["volume"]
    for each in again:
        world.end(each)
        world.until(each, "terminated")
    assert world.launcher.request("DELETE", f"/volumes/{volume}", ALICE)[0] == 204


def test_pull_on_a_full_disk_is_explained(world, leaves_nothing):
    with Registry() as registry:
        image = registry.push(world.api, f"{IMAGES}/pull:test", "pull:test")
        world.api.call("DELETE", f"/images/{IMAGES}/pull:test")
        keep = PLACE / "data/filler"
        with keep.open("wb") as file:
            left = free()
            file.write(bytes(max(0, left - (300 << 10))))
        try:
            name = world.launch(world.template(image=image, name="big"))
            failed = world.until(name, "failed", 60)
            assert "disk" in failed["reason"]["message"].lower(), failed["reason"]
            world.until_gone(name)
        finally:
            keep.unlink()
        world.end(world.running(image=image, name="big"))
