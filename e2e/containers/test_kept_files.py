"""Files in the volume of a template with storage: they outlive restarts, the workshop, and give no rights."""

import json
import os
import pathlib
import stat

import pytest
from harness import wait_for
from test_engine_restart import restart
from world import ALICE, BOB, BOTH, QUICK_TO_END, SHELL, World

WORK = {"kind": "kept", "size": "1Gi", "path": "/work"}


@pytest.fixture
def world():
    with World() as made:
        yield made


def shell(world, name, script, email=ALICE):
    # A script may read all files of the image.
    status, output = world.run(name, "bash", "-c", script, email=email, seconds=90)
    assert status == 0, output
    return output


def end(world, name):
    world.end(name)
    world.until_gone(name)
    world.until(name, "terminated")


def volumes(world):
    """Returns the names of the launcher's volumes."""
    label = json.dumps({"label": ["managed-by=workshop-launcher"]}).replace(" ", "")
    return [each["Name"] for each in world.api.call("GET", f"/volumes?filters={label}")["Volumes"] or []]


@pytest.mark.parametrize("how", ["stopped", "killed", "server"])
def test_kept_files_survive_a_restart_and_the_end_of_the_workshop(world, how):
    before = set(volumes(world))
    template = world.template(SHELL, storage=WORK)
    first = world.launch(template)
    world.until(first, "running")
    shell(world, first, "echo one > /work/file")
    restart(world, how)
    wait_for("the workshop to answer again", lambda: world.visit(first, ALICE)[0] == 200, 90)
    wait_for("both containers", lambda: world.parts() == {first: BOTH}, 10)
    assert shell(world, first, "echo two >> /work/file; cat /work/file") == "one\ntwo\n"
    end(world, first)
    assert len(set(volumes(world)) - before) == 1
    second = world.launch(template)
    world.until(second, "running")
    assert shell(world, second, "echo three >> /work/file; cat /work/file") == "one\ntwo\nthree\n"


def test_each_user_has_own_files(world):
    template = world.template(QUICK_TO_END, storage=WORK)
    names = {email: world.launch(template, email) for email in (ALICE, BOB)}
    for email, name in names.items():
        world.until(name, "running")
        assert shell(world, name, f"ls /work; echo {email} > /work/file", email) == ""
    for email, name in names.items():
        assert shell(world, name, "cat /work/file", email) == f"{email}\n"


def test_home_has_the_files_of_the_image_and_keeps_new_ones(world):
    template = world.template(QUICK_TO_END, storage=WORK | {"path": "/home/jovyan"})
    first = world.launch(template)
    world.until(first, "running")
    assert shell(world, first, "stat -c '%a %u' ~; ls -A ~; echo kept > ~/file").split()[:3] == ["700", "1000", ".bash_logout"]
    end(world, first)
    second = world.launch(template)
    world.until(second, "running")
    assert shell(world, second, "cat ~/file; ls ~/.bashrc") == "kept\n/home/jovyan/.bashrc\n"


def test_set_user_id_program_and_device_file_in_kept_files_give_no_rights(world):
    before = set(volumes(world))
    template = world.template(QUICK_TO_END, storage=WORK)
    first = world.launch(template)
    world.until(first, "running")
    shell(world, first, "cp /usr/local/bin/become-root /work/; echo mine > /work/file")
    assert world.run(first, "mknod", "/work/disk", "b", "7", "0")[0] != 0
    end(world, first)
    # As if an app with more rights had left them.
    (volume,) = set(volumes(world)) - before
    folder = pathlib.Path(world.api.call("GET", f"/volumes/{volume}")["Mountpoint"])
    os.chown(folder / "become-root", 0, 0)
    (folder / "become-root").chmod(0o4755)
    os.mknod(folder / "disk", stat.S_IFBLK | 0o666, pathlib.Path("/").stat().st_dev)
    (folder / "disk").chmod(0o666)
    second = world.launch(template)
    world.until(second, "running")
    status, output = world.run(second, "/work/become-root")
    assert status != 0 and "effective user 0" not in output, output
    status, output = world.run(second, "head", "-c", "1", "/work/disk")
    assert status != 0 and ("not permitted" in output or "denied" in output), output
    assert shell(world, second, "cat /work/file") == "mine\n"
