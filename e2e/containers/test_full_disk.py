"""A full disk of the engine: a second Docker Engine on this server, with a small disk."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest
from engine import Docker
from harness import wait_for
from world import ALICE, BOTH, PLACE, QUICK, World

pytestmark = pytest.mark.container_faults
BUSYBOX = ["/bin/busybox", "sh", "-c"]
SERVE = "trap exit TERM; {}; /bin/busybox httpd -f -p 127.0.0.1:8888 -h {} & wait"
# An app that first fills the disk, then answers.
FILL = SERVE.format("/bin/busybox dd if=/dev/zero of=/tmp/fill bs=65536 2>/dev/null", "/www")
# An app that writes a kept file at its first start, and shows it.
KEEP = SERVE.format("[ -f /work/file ] || echo kept > /work/file", "/work")


class SmallDocker(Docker):
    """An engine in a network namespace of its own: two of them would remove each other's bridge."""

    def group(self):
        return f"/{PLACE.name}/{self.place.name}"

    def command(self):
        return ["unshare", "--net", *super().command()]

    def prepare(self):
        super().prepare()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=130m,mode=0710", "engine", self.data], check=True)

    def free(self):
        return shutil.disk_usage(self.data).free


@pytest.fixture
def docker():
    with SmallDocker(pathlib.Path(tempfile.mkdtemp(dir=PLACE))) as started:
        started.api.load(pathlib.Path(os.environ["SERVER_IMAGES"]) / "small.tar")
        yield started


@pytest.fixture
def world(docker):
    with World(docker.api, SERVICE_CONTAINER_INTERNET="false") as made:
        yield made


def test_full_disk_is_explained_and_ends_with_its_cause(docker, world):
    """A workshop fills the disk: other workshops continue with their kept files, launches fail with the reason, and succeed
    after its end."""
    keeping = world.template(name="keeping", storage={"kind": "kept", "size": "1Gi", "path": "/work"}, command=[*BUSYBOX, KEEP])
    healthy = world.launched(keeping)
    filling = world.running(QUICK, name="filling", command=[*BUSYBOX, FILL])
    wait_for("the disk to be full", lambda: docker.free() < 1 << 20)
    assert world.visit(healthy, path="/file") == (200, b"kept\n")
    assert world.visit(filling)[0] == 200
    template = world.template()
    refused = world.launch(template)
    reason = world.until(refused, "failed")["reason"]
    assert "disk" in reason["message"].lower(), reason
    world.until_gone(refused)
    world.finish(healthy, filling)
    wait_for("the files of the ended workshop to be removed", lambda: docker.free() > 20 << 20)

    again = [world.launched(template), world.launched(keeping)]
    assert world.visit(again[1], path="/file") == (200, b"kept\n")
    assert world.parts() == dict.fromkeys(again, BOTH)
    volume = world.instance(again[1])["volume"]
    world.finish(*again)
    world.ask("DELETE", f"/volumes/{volume}", ALICE, expected=204)
    wait_for("the volume to be removed", lambda: not docker.api.volumes())
    assert docker.api.containers() == []
