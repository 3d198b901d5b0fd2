"""Files after the planned ends of a workshop: a pause, the end by its owner, and the expiry, with a volume and without one;
and files of a JupyterLab after it exceeded its memory.

Workshops that need a minute run beside the other tests: they expire, wait for a slow git server, or for a full disk.
"""

import contextlib
import datetime
import os
import subprocess

import pytest
from addresses import INTERNET
from git_server import git_server
from harness import exchange, wait_for
from network import in_surroundings
from notebook import run_cell
from saved_files import saved_files
from test_kept_files import WORK, end, shell
from websockets.exceptions import WebSocketException
from world import ALICE, BOB, IMAGES, JUPYTER, PLACE, QUICK_TO_END, World

TOKEN = {"name": "TOKEN", "label": "Token", "kind": "secret"}
# Without a volume: the files of this directory are saved at the end.
UNKEPT = {"kind": "workshop", "path": "/home/jovyan"}
# The shortest lifetime that a template can have, in seconds.
SHORT = {"lifetime_seconds": 60, "max_lifetime_seconds": 60}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    store = str(tmp_path_factory.mktemp("snapshots"))
    with World(SERVICE_SNAPSHOT_STORE=store, SERVICE_MATERIAL_IMAGE=f"{IMAGES}/material:test") as made:
        yield made


@pytest.fixture(scope="module", autouse=True)
def loading(world):
    """A workshop that waits for a git server, which sends one byte per second: (course, template, name)."""
    with git_server(INTERNET, is_slow=True, network=in_surroundings(PLACE)) as course:
        course.push({"lesson.txt": "lesson\n"})
        source = {"kind": "git", "url": course.url, "target": "lesson"}
        template = world.template(QUICK_TO_END, name="loading", storage=WORK, material={"sources": [source]})
        yield course, template, world.launch(template)


@pytest.fixture(scope="module", autouse=True)
def unsaved(tmp_path_factory):
    """A workshop whose owner ends it while the disk for saved files is full: (world, name, folder, time of the request)."""
    folder = tmp_path_factory.mktemp("full")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "full", folder], check=True)
    try:
        (folder / "filler").write_bytes(bytes(1000 << 10))
        with World(SERVICE_SNAPSHOT_STORE=str(folder)) as world:
            name = world.running(QUICK_TO_END, name="unsaved", storage=UNKEPT)
            shell(world, name, "echo unsaved > ~/file")
            asked = datetime.datetime.now(datetime.UTC)
            world.end(name, ALICE)
            yield world, name, folder, asked
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.fixture(scope="module", autouse=True)
def expiring(world):
    """Three workshops that expire while the other tests run, {what: (template, name)}, each with the file /work/file or
    /home/jovyan/file."""
    templates = {
        "ended": world.template(QUICK_TO_END, name="ended", storage=WORK, **SHORT),
        "paused": world.template(QUICK_TO_END, name="paused", storage=WORK | {"at_expiry": "suspend"}, **SHORT),
        "saved": world.template(QUICK_TO_END, name="saved", storage=UNKEPT, **SHORT),
    }
    launched = {what: (template, world.launch(template)) for what, template in templates.items()}
    for what, (_, name) in launched.items():
        world.until(name, "running")
        folder = "/home/jovyan" if what == "saved" else "/work"
        shell(world, name, f"echo expired > {folder}/file")
    return launched


def ask(world, name, verb, email=ALICE):
    return world.launcher.request("POST", f"/instances/{name}/{verb}", email)[0]


def test_paused_workshop_has_no_containers_and_is_resumed_with_its_files_and_secrets(world):
    template = world.template(QUICK_TO_END, name="pausing", storage=WORK, parameters=[TOKEN])
    values = {"parameters": {"TOKEN": "hunter2"}}
    status, _, launched = world.launcher.request("POST", f"/templates/{template}/launch", ALICE, values)
    assert status == 201, (status, launched)
    name = launched["k8s_name"]
    before = world.until(name, "running")
    shell(world, name, "echo kept > /work/file")

    assert [ask(world, name, "suspend", email) for email in (BOB, ALICE)] == [404, 202]
    world.until(name, "suspended")
    world.until_gone(name)
    status, _, refused = world.launcher.request("POST", f"/templates/{template}/launch", ALICE, values)
    assert (status, refused["code"]) == (409, "volume-in-use"), refused

    assert [ask(world, name, "resume", email) for email in (BOB, ALICE)] == [404, 202]
    after = world.until(name, "running")
    assert (after["url"], after["volume"]) == (before["url"], before["volume"])
    assert shell(world, name, "cat /work/file; printenv TOKEN") == "kept\nhunter2\n"
    end(world, name)


def test_owner_ends_a_workshop_without_a_volume_and_its_files_are_saved(world):
    name = world.running(QUICK_TO_END, name="without a volume", storage=UNKEPT)
    shell(world, name, "mkdir ~/notes; echo secret > ~/notes/private; chmod 600 ~/notes/private")
    end(world, name)
    assert saved_files(world.launcher, name, ALICE, BOB)["notes/private"] == "secret\n"


def test_launcher_is_killed_during_the_end_of_a_workshop_and_its_files_are_saved(world):
    name = world.running(QUICK_TO_END, name="killed launcher", storage=UNKEPT)
    shell(world, name, "echo last byte > ~/file")
    world.end(name, ALICE)
    world.launcher.kill()
    world.launcher.start()
    world.until(name, "terminated", 90)
    world.until_gone(name)
    assert saved_files(world.launcher, name, ALICE, BOB)["file"] == "last byte\n"


def test_jupyterlab_whose_notebook_exceeds_its_memory_runs_cells_again_within_10_seconds(world):
    """The kernel of the notebook ends, or the whole app: this depends on the version of cgroups."""
    resources = JUPYTER["resources"] | {"memory_limit": "512Mi"}
    name = world.launch(world.template(JUPYTER, resources=resources))
    world.until(name, "running", 90)

    def run(code, seconds=60):
        alice = world.notebook(name)
        with alice.channels(alice.start_kernel()) as channels:
            return run_cell(channels, code, seconds)

    assert run("open('notes.txt', 'w').write('mine')") == "4"
    with contextlib.suppress(OSError, WebSocketException):
        assert run("len(b'x' * (2 << 30))", seconds=5) is None, "the notebook has more memory than its limit"

    def is_usable():
        # JupyterLab does not answer yet, or its WebSocket ends.
        with contextlib.suppress(OSError, AssertionError, KeyError, WebSocketException):
            return run("open('notes.txt').read()") == "'mine'"

    wait_for("JupyterLab to run a cell", is_usable, 10)
    assert world.until(name, "running")["k8s_name"] == name
    end(world, name)


def test_files_are_there_after_the_expiry(world, expiring):
    template, name = expiring["ended"]
    world.until(name, "terminated", 120)
    world.until_gone(name)
    successor = world.launch(template)
    world.until(successor, "running")
    assert shell(world, successor, "cat /work/file") == "expired\n"

    _, name = expiring["paused"]
    world.until(name, "suspended")
    assert ask(world, name, "resume") == 202
    world.until(name, "running")
    assert shell(world, name, "cat /work/file") == "expired\n"

    _, name = expiring["saved"]
    world.until(name, "terminated")
    files = wait_for("the saved files", lambda: saved_files(world.launcher, name, ALICE, BOB), 10)
    assert files["file"] == "expired\n"


def seconds_between(earlier, later):
    """Returns the seconds between two times of the API."""
    return (datetime.datetime.fromisoformat(later) - datetime.datetime.fromisoformat(earlier)).total_seconds()


def test_slow_git_server_delays_the_start_by_a_minute_and_the_next_launch_has_its_files(world, loading):
    course, template, name = loading
    row = world.until(name, "running", 120)
    (source,) = row["material"]
    late = "The source was not ready after 60 seconds. The next launch tries again."
    assert (source["outcome"], source["message"]) == ("failed", late)
    # The limit is 75 seconds. The start of the containers takes some, too.
    assert 60 <= seconds_between(row["created_at"], row["started_at"]) < 120
    assert shell(world, name, "echo mine > /work/file; ls /work") == "file\n"
    end(world, name)

    course.is_slow = False
    name = world.launch(template)
    (source,) = world.until(name, "running")["material"]
    assert source["outcome"] == "placed", source
    assert shell(world, name, "cat /work/file /work/lesson/*") == "mine\nlesson\n"


def test_workshop_ends_after_a_minute_if_the_disk_for_saved_files_is_full(unsaved):
    world, name, folder, asked = unsaved
    row = world.until(name, "terminated", 120)
    assert row["snapshot"] == {"state": "failed", "failure": "store-unavailable"}
    assert 50 <= seconds_between(asked.isoformat(), row["ended_at"]) < 120
    assert os.listdir(folder) == ["filler"]
    _, _, page = exchange(world.launcher.port, "GET", f"/instances/{name}", {"X-Auth-Request-Email": ALICE})
    assert "Your files could not be saved. The service could not store them." in page.decode()
