"""Files of workshops after crashes, pauses, ends and expiries, with a volume and without one.

Workshops that need a minute run beside the other tests: they expire, wait for a slow git server, or for a full disk.
"""

import contextlib
import datetime
import os
import pathlib
import stat
import subprocess
import typing

import pytest
from git_server import git_server
from harness import exchange, wait_for
from network import INTERNET, in_surroundings
from notebook import run_cell
from saved_files import downloaded, saved_files
from websockets.exceptions import WebSocketException
from world import ALICE, BOB, BOTH, IMAGES, JUPYTER, PLACE, SHELL, WORK, World

TOKEN = {"name": "TOKEN", "label": "Token", "kind": "secret"}
# Without a volume: the files of this directory are saved at the end.
UNKEPT = {"kind": "workshop", "path": "/home/jovyan"}
# The shortest lifetime that a template can have, in seconds, and an extension by 15 seconds.
SHORT = {"lifetime_seconds": 60, "extension_seconds": 60, "max_lifetime_seconds": 60}
EXTENDED = SHORT | {"max_lifetime_seconds": 75}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    store = str(tmp_path_factory.mktemp("snapshots"))
    with World(SERVICE_SNAPSHOT_STORE=store, SERVICE_MATERIAL_IMAGE=f"{IMAGES}/material:test") as made:
        yield made


@pytest.fixture(scope="module")
def loading(world):
    """A workshop that waits for a git server, which sends one byte per second: (course, template, name). The launcher was
    killed meanwhile."""
    with git_server(INTERNET, is_slow=True, network=in_surroundings(PLACE)) as course:
        course.push({"lesson.txt": "lesson\n"})
        source = {"kind": "git", "url": course.url, "target": "lesson"}
        template = world.template(SHELL, name="loading", storage=WORK, material={"sources": [source]})
        name = world.launch(template)
        wait_for("the program to load the material", lambda: world.containers(name, "material"))
        world.restart()
        yield course, template, name


@pytest.fixture(scope="module")
def unsaved(tmp_path_factory):
    """A workshop whose owner ends it while the disk for saved files is full: (world, name, folder)."""
    folder = tmp_path_factory.mktemp("full")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "full", folder], check=True)
    try:
        (folder / "filler").write_bytes(bytes(1000 << 10))
        with World(SERVICE_SNAPSHOT_STORE=str(folder)) as world:
            name = world.running(SHELL, name="unsaved", storage=UNKEPT)
            world.shell(name, "echo unsaved > ~/file")
            world.end(name, ALICE)
            yield world, name, folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.fixture(scope="module")
def unattended():
    """Workshops whose launcher is killed. One crashes, one is removed by hand, one expires: (world, {what: name})."""
    with World() as world:
        names = {what: world.running(SHELL, name=what) for what in ("crashing", "removed", "kept")}
        names["expiring"] = world.running(SHELL, name="expiring", **SHORT)
        expires = world.instance(names["expiring"])["expires_at"]
        containers = {part: world.container(names["removed"], part)["Id"] for part in ("app", "sidecar")}
        world.launcher.kill()
        world.kill(names["crashing"], "app")
        # In the order in which Podman permits it.
        for container in containers.values():
            world.api.call("DELETE", f"/containers/{container}?force=true")
        yield world, names, expires


@pytest.fixture(scope="module")
def expiring(world):
    """Workshops that expire while the other tests run, {what: (template, instance)}, each with the file /work/file or
    /home/jovyan/file."""
    templates = {
        "ended": world.template(SHELL, name="ended", storage=WORK, **EXTENDED),
        "paused": world.template(SHELL, name="paused", storage=WORK | {"at_expiry": "suspend"}, **SHORT),
        "saved": world.template(SHELL, name="saved", storage=UNKEPT, **SHORT),
    }
    launched = {what: world.launch(template) for what, template in templates.items()}
    rows = {what: world.until(name, "running") for what, name in launched.items()}
    world.ask("POST", f"/instances/{launched['ended']}/extend", ALICE)
    for what, name in launched.items():
        world.shell(name, f"echo expired > {'/home/jovyan' if what == 'saved' else '/work'}/file")
    return {what: (templates[what], row) for what, row in rows.items()}


@pytest.fixture(scope="module", autouse=True)
def begun_early(request):
    """Begins what needs a minute before the first test, if a selected test of this file uses it."""
    used = {name for item in request.session.items if item.module is request.module for name in item.fixturenames}
    for name in ("loading", "unsaved", "unattended", "expiring"):
        if name in used:
            request.getfixturevalue(name)


def exceed_memory(world, name):
    with contextlib.suppress(OSError):
        status, _ = world.visit(name, path="/take/512")
        assert status != 200, "the app has more memory than its limit"


class Cause(typing.NamedTuple):
    """A cause of failures. The workshop fails after it has happened so many times."""

    happen: typing.Callable
    times: int
    codes: tuple


# Some versions of the engines do not report an OOM kill. The launcher then takes each SIGKILL of an app for one.
CAUSES = {
    "killed app": Cause(lambda world, name: world.kill(name, "app"), 3, ("crashed", "out-of-memory")),
    "exceeded memory": Cause(exceed_memory, 3, ("out-of-memory",)),
    "killed sidecar": Cause(lambda world, name: world.kill(name, "sidecar"), 1, ("crashed",)),
}


def test_next_launch_and_download_after_failures_have_the_last_saved_byte(world):
    templates = {cause: world.template(SHELL, name=cause, storage=WORK) for cause in CAUSES}
    names = {cause: world.launch(template) for cause, template in templates.items()}
    crashes = {cause: world.until(name, "running")["last_crash"] for cause, name in names.items()}
    # All causes happen at the same time, because each one takes some seconds.
    for number in range(1, 4):
        crashing = {cause: name for cause, name in names.items() if number <= CAUSES[cause].times}
        for cause, name in crashing.items():
            world.shell(name, f"echo line {number} >> /work/file")
            CAUSES[cause].happen(world, name)
        for cause, name in crashing.items():
            if number < CAUSES[cause].times:
                wait_for(f"the crash of {cause}", lambda: world.instance(name)["last_crash"] != crashes[cause])
                world.until_answering(name)
                crashes[cause] = world.instance(name)["last_crash"]
    for cause, name in names.items():
        failed, written = world.until(name, "failed"), "".join(f"line {number + 1}\n" for number in range(CAUSES[cause].times))
        assert failed["reason"]["code"] in CAUSES[cause].codes, failed["reason"]
        assert failed["reason"]["remedy"].startswith("The saved files of this workshop are kept."), failed["reason"]
        world.until_gone(name)
        assert downloaded(world.launcher, f"/volumes/{failed['volume']}/download", ALICE, BOB) == {"file": written}
        for email, found in ((ALICE, f"{written}file\n"), (BOB, "")):
            successor = world.launched(templates[cause], email)
            assert world.shell(successor, "cat /work/file 2>/dev/null; ls -A /work", email) == found
            world.end(successor, email)


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


def test_paused_workshop_has_no_containers_and_is_resumed_with_its_files_and_secrets(world):
    template, values = world.template(SHELL, name="pausing", storage=WORK, parameters=[TOKEN]), {"TOKEN": "hunter2"}
    name = world.launched(template, parameters=values)
    before = world.instance(name)
    world.shell(name, "echo kept > /work/file")

    for email, status in ((BOB, 404), (ALICE, 202)):
        world.ask("POST", f"/instances/{name}/suspend", email, expected=status)
    world.until(name, "suspended")
    world.until_gone(name)
    refused = world.ask("POST", f"/templates/{template}/launch", ALICE, {"parameters": values}, 409)
    assert refused["code"] == "volume-in-use", refused

    for email, status in ((BOB, 404), (ALICE, 202)):
        world.ask("POST", f"/instances/{name}/resume", email, expected=status)
    after = world.until(name, "running")
    assert (after["url"], after["volume"]) == (before["url"], before["volume"])
    assert world.shell(name, "cat /work/file; printenv TOKEN") == "kept\nhunter2\n"
    world.finish(name)


def test_launcher_is_killed_during_the_end_of_a_workshop_and_its_files_are_saved(world):
    name = world.running(SHELL, name="without a volume", storage=UNKEPT)
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


def test_files_are_there_after_the_expiry(world, expiring):
    template, before = expiring["ended"]
    ended = world.until(before["k8s_name"], "terminated")
    assert (ended["end_reason"], ended["ended_at"] >= ended["expires_at"] > before["expires_at"]) == ("expired", True)
    world.until_gone(before["k8s_name"])
    assert world.visit(before["k8s_name"])[0] in (403, 404)
    successor = world.launched(template)
    assert world.shell(successor, "cat /work/file") == "expired\n"

    name = expiring["paused"][1]["k8s_name"]
    world.until(name, "suspended")
    world.ask("POST", f"/instances/{name}/resume", ALICE, expected=202)
    world.until(name, "running")
    assert world.shell(name, "cat /work/file") == "expired\n"

    name = expiring["saved"][1]["k8s_name"]
    world.until(name, "terminated")
    files = wait_for("the saved files", lambda: saved_files(world.launcher, name, ALICE, BOB))
    assert files["file"] == "expired\n"


def test_ends_while_the_launcher_is_down_take_effect_at_its_start(unattended):
    """One workshop expires, one crashes, one is removed by hand, and one runs on, while no launcher runs."""
    world, names, expires = unattended
    wait_for("the expiry", lambda: datetime.datetime.now(datetime.UTC) > datetime.datetime.fromisoformat(expires))
    world.launcher.start()
    assert world.until(names["expiring"], "terminated")["end_reason"] == "expired"
    world.until_gone(names["expiring"])
    failed = world.until(names["removed"], "failed")
    assert failed["reason"]["message"] and failed["reason"]["remedy"], failed
    wait_for("the crash to be reported", lambda: world.instance(names["crashing"])["last_crash"])
    world.until_answering(names["crashing"], names["kept"])
    assert world.parts() == {names["crashing"]: BOTH, names["kept"]: BOTH}


def test_slow_git_server_delays_the_start_by_a_minute_and_the_next_launch_has_its_files(world, loading):
    course, template, name = loading
    (source,) = world.until(name, "running")["material"]
    late = "The source was not ready after 60 seconds. The next launch tries again."
    assert (source["outcome"], source["message"]) == ("failed", late)
    assert world.shell(name, "echo mine > /work/file; ls /work") == "file\n"
    world.finish(name)

    course.is_slow = False
    name = world.launched(template)
    (source,) = world.instance(name)["material"]
    assert source["outcome"] == "placed", source
    assert world.shell(name, "cat /work/file /work/lesson/*") == "mine\nlesson\n"


def test_workshop_ends_after_a_minute_if_the_disk_for_saved_files_is_full(unsaved):
    world, name, folder = unsaved
    assert world.until(name, "terminated")["snapshot"] == {"state": "failed", "failure": "store-unavailable"}
    assert os.listdir(folder) == ["filler"]
    _, _, page = exchange(world.launcher.port, "GET", f"/instances/{name}", {"X-Auth-Request-Email": ALICE})
    assert "Your files could not be saved. The service could not store them." in page.decode()
