"""Files of workshops after failures, files that attack the next workshop, and notebooks that exceed their memory."""

import contextlib
import os
import pathlib
import stat

import pytest
from harness import wait_for
from notebook import run_cell
from saved_files import downloaded, saved_files
from websockets.exceptions import WebSocketException
from world import ALICE, BOB, JUPYTER, SHELL, WORK, World


def exceed_memory(world, name):
    with contextlib.suppress(OSError):
        status, _ = world.visit(name, path="/take/512")
        assert status != 200, "the app has more memory than its limit"


def kill_sidecar(world, name):
    world.kill(name, "sidecar")


@pytest.mark.parametrize(("happen", "times", "code"), [(exceed_memory, 3, "out-of-memory"), (kill_sidecar, 1, "crashed")])
def test_next_launch_and_download_after_failures_have_the_last_saved_byte(world, happen, times, code):
    """The workshop fails after the failure has happened so many times."""
    template, written = world.template(SHELL, name=code, storage=WORK), ""
    name = world.launched(template)
    for number in range(1, times + 1):
        before = world.instance(name)["last_crash"]
        world.shell(name, f"echo line {number} >> /work/file")
        written += f"line {number}\n"
        happen(world, name)
        if number < times:
            wait_for("the crash to be reported", lambda: world.instance(name)["last_crash"] != before)
            world.until_answering(name)
    failed = world.until(name, "failed")
    assert failed["reason"]["code"] == code, failed["reason"]
    assert failed["reason"]["remedy"].startswith("The saved files of this workshop are kept."), failed["reason"]
    world.until_gone(name)
    assert downloaded(world.launcher, f"/volumes/{failed['volume']}/download", ALICE, BOB) == {"file": written}
    successor = world.launched(template)
    assert world.shell(successor, "cat /work/file; ls -A /work") == f"{written}file\n"
    world.end(successor)


@pytest.mark.podman
def test_set_user_id_program_and_device_file_in_kept_files_give_no_rights(world):
    template = world.template(SHELL, storage=WORK)
    first = world.launched(template)
    world.shell(first, "cp /usr/local/bin/become-root /work/; echo mine > /work/file")
    assert world.run(first, "mknod", "/work/disk", "b", "7", "0")[0] != 0
    own = world.instance(first)["volume"]
    world.finish(first)
    # As if an app with more rights had left them.
    (volume,) = (each for each in world.api.volumes() if each.endswith(own))
    folder = pathlib.Path(world.api.call("GET", f"/volumes/{volume}")["Mountpoint"])
    os.chown(folder / "become-root", 0, 0)
    (folder / "become-root").chmod(0o4755)
    os.mknod(folder / "disk", stat.S_IFBLK | 0o666, pathlib.Path("/").stat().st_dev)
    (folder / "disk").chmod(0o666)
    second = world.launched(template)
    status, output = world.run(second, "/work/become-root")
    assert status != 0 and "effective user 0" not in output, output
    status, output = world.run(second, "head", "-c", "1", "/work/disk")
    assert status != 0 and ("not permitted" in output or "denied" in output), output
    assert world.shell(second, "cat /work/file") == "mine\n"
    world.finish(second)


def test_launcher_is_killed_during_the_end_of_a_workshop_and_its_files_are_saved(tmp_path):
    with World(SERVICE_SNAPSHOT_STORE=str(tmp_path)) as world:
        name = world.running(SHELL, storage={"kind": "workshop", "path": "/home/jovyan"})
        world.shell(name, "mkdir ~/notes; echo secret > ~/notes/private; chmod 600 ~/notes/private")
        world.end(name, ALICE)
        world.restart()
        world.until(name, "terminated")
        world.until_gone(name)
        assert saved_files(world.launcher, name, ALICE, BOB)["notes/private"] == "secret\n"


class KernelEnded(Exception):
    """JupyterLab starts the kernel again."""


class Observed:
    """The channels of a kernel. A wait for a message ends with KernelEnded when the kernel has ended."""

    def __init__(self, channels):
        self.channels, self.send = channels, channels.send

    def recv(self, timeout):
        text = self.channels.recv(timeout)
        if '"restarting"' in text:
            raise KernelEnded
        return text


def test_jupyterlab_whose_notebook_exceeds_its_memory_runs_cells_again(world):
    """The kernel of the notebook ends, or the whole app: this depends on the version of cgroups."""
    name = world.running(JUPYTER, resources=JUPYTER["resources"] | {"memory_limit": "512Mi"})

    def run(code):
        alice = world.notebook(name)
        with alice.channels(alice.start_kernel()) as channels:
            return run_cell(Observed(channels), code)

    def is_usable():
        # JupyterLab does not answer yet, or its WebSocket ends.
        with contextlib.suppress(OSError, AssertionError, KeyError, WebSocketException, KernelEnded):
            return run("open('notes.txt').read()") == "'mine'"

    assert run("open('notes.txt', 'w').write('mine')") == "4"
    with contextlib.suppress(OSError, WebSocketException, KernelEnded):
        pytest.fail(f"the notebook has more memory than its limit: {run('len(bytes([120]) * (2 << 30))')}")
    wait_for("JupyterLab to run a cell", is_usable)
    world.finish(name)
