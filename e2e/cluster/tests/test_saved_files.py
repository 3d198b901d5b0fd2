"""Files of workshops without a volume, which the launcher saves before it ends them, and with which it starts others; and kept
files after the expiry: real launcher, operator and pods."""

import contextlib
import socket
import subprocess
import uuid
from pathlib import Path

import pytest
from harness import DEADLINE, wait_for
from local_volumes import local_volumes
from python_app import CRASH_SAFE, HOME, KEPT, PYTHON, read, run, write
from saved_files import saved_files
from world import ALICE, BOB, IMAGES, World

CLASS = f"expiring-{uuid.uuid4().hex[:8]}"
# In seconds. The test must write the files before the workshops expire.
SHORT = {"lifetime_seconds": 60, "max_lifetime_seconds": 60, "extension_seconds": 60}
NUMBERS = f"{HOME}/numbers.txt"
# Writes one number after the other, and prints each number after it is written.
COUNT = f"""
import itertools, time
with open('{NUMBERS}', 'w') as file:
    for number in itertools.count():
        print(number, file=file, flush=True)
        print(number, flush=True)
        time.sleep(0.1)  # pacing: a student who saves all the time
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    store = {"SERVICE_SNAPSHOT_STORE": str(tmp_path_factory.mktemp("snapshots")), "SERVICE_MAX_INSTANCES_PER_USER": "10"}
    settings = {"SERVICE_MATERIAL_IMAGE": f"{IMAGES}/material:test", "SERVICE_STORAGE_CLASS": CLASS, "SERVICE_ROOM_GRACE": "30"}
    with World("saved-files", launcher=store, **settings) as made, local_volumes(made, CLASS, 3):
        yield made


@contextlib.contextmanager
def counting(world, name, log):
    """Writes numbers in the workshop, until it ends. Yields a function that waits for the end, and returns the numbers that
    were written before."""
    command = ["kubectl", "--namespace", world.namespace, "exec", name, "--container", "app", "--", "python3", "-c", COUNT]
    with log.open("w") as output, subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL) as writer:
        try:
            wait_for("the first number", log.read_text)

            def written():
                writer.wait(DEADLINE)
                return [int(line) for line in log.read_text().splitlines()]

            yield written
        finally:
            writer.kill()


@pytest.fixture(scope="module", autouse=True)
def expiring(world, tmp_path_factory):
    """Workshops that expire while the other test runs: {what: (template, name)}, and the written numbers of `kept`."""
    storages = {"saved": CRASH_SAFE, "kept": KEPT}
    templates = {what: world.template(name=what, storage=one, **SHORT, **PYTHON) for what, one in storages.items()}
    launched = {what: (template, world.launch(template)) for what, template in templates.items()}
    for _, name in launched.values():
        world.until(name, "running")
        write(world, name, "expired")
    with counting(world, launched["kept"][1], tmp_path_factory.mktemp("counting") / "log") as numbers:
        yield launched | {"numbers": numbers}


def unsent(world, template, name):
    """Launches with the saved files of the ended workshop, and kills the launcher before it has sent them. Returns the name of
    the new workshop, and the identifier of the files."""
    _, _, listed = world.launcher.request("GET", "/snapshots/", ALICE)
    snapshot = next(one["snapshot_id"] for one in listed if one["workshop"] == name)
    launched = world.launch(template, ALICE, snapshot=snapshot)
    wait_for("the Workshop", lambda: world.workshop(launched))
    world.launcher.kill()
    return launched, snapshot


def until_waiting(world, name, uid=None):
    """Waits until a pod of the workshop, which is not the one with this uid, waits for saved files. Returns host and port."""

    def look():
        pods = world.of_workshop("pods", name)
        ips = [pod["status"].get("podIP") for pod in pods if pod["metadata"]["uid"] != uid]
        host, _, port = world.status(name).get("restoreAddress", "").rpartition(":")
        address = host.strip("[]"), int(port or 0)
        if address[0] not in ips:
            return None
        # The program listens a moment after the start of its container.
        with contextlib.suppress(OSError), socket.create_connection(address, timeout=DEADLINE):
            return address

    return wait_for(f"a pod of {name} to wait for saved files", look)


def saved(world, name):
    return saved_files(world.launcher, name, ALICE, BOB)


def test_launcher_is_killed_during_the_end_and_the_files_are_saved(world):
    names = [world.launch(world.template(name=name, storage=CRASH_SAFE, **PYTHON)) for name in ("ended", "killed")]
    for name in names:
        world.until(name, "running")
        write(world, name, f"last byte of {name}")
    world.end(names[0], email=ALICE)
    world.until_ended(names[0])
    world.end(names[1], email=ALICE)
    world.launcher.kill()
    world.launcher.start()
    world.until_ended(names[1])
    for name in names:
        assert saved(world, name)["kept.txt"] == f"last byte of {name}"


def test_workshop_starts_with_saved_files_after_its_pod_and_the_launcher_were_killed(world):
    template = world.template(name="again", storage=CRASH_SAFE, **PYTHON)
    name = world.launch(template)
    world.until(name, "running")
    write(world, name, "saved")
    script = f"{HOME}/deep/run.sh"
    made = f"os.makedirs('{HOME}/deep', exist_ok=True); open('{script}', 'w').close(); os.chmod('{script}', 0o755)"
    run(world, name, f"import os; {made}")
    world.end(name, email=ALICE)
    world.until_ended(name)

    again, snapshot = unsent(world, template, name)
    host, port = until_waiting(world, again)
    uid = world.uid(again)
    with socket.create_connection((host, port), timeout=DEADLINE) as stranger:
        stranger.sendall(b"0" * 64)
        assert len(stranger.recv(64, socket.MSG_WAITALL)) == 64
        stranger.sendall(b"0" * 64)
        assert stranger.recv(1) == b"", "a wrong token ends the connection"
    world.kubectl("delete", "pod", again, "--grace-period=0", "--force")
    until_waiting(world, again, uid)
    world.launcher.start()
    assert world.until(again, "running")["restored_from"] == snapshot
    assert read(world, again) == "saved"
    assert run(world, again, f"import os; print(oct(os.stat('{script}').st_mode))") == "0o100755"
    write(world, again, "newer")
    world.end(again, email=ALICE)
    world.until_ended(again)
    assert saved(world, again)["kept.txt"] == "newer"
    assert saved(world, name)["kept.txt"] == "saved", "the first archive stays"
    world.assert_nothing_was_forbidden()


def test_workshop_whose_saved_files_are_gone_fails_and_does_not_start_empty(world):
    template = world.template(name="gone", storage=CRASH_SAFE, **PYTHON)
    name = world.launch(template)
    world.until(name, "running")
    write(world, name, "saved")
    world.end(name, email=ALICE)
    world.until_ended(name)
    again, snapshot = unsent(world, template, name)
    until_waiting(world, again)
    Path(world.launcher_settings["SERVICE_SNAPSHOT_STORE"], f"{snapshot}.tar.gz").unlink()
    world.launcher.start()
    reason = world.until(again, "failed")["reason"]
    assert reason["code"] == "files-not-restored" and "no longer exist" in reason["message"], reason


def test_workshop_expires_and_its_files_are_saved(world, expiring):
    _, name = expiring["saved"]
    world.until_ended(name)
    assert saved(world, name)["kept.txt"] == "expired"
    world.assert_nothing_was_forbidden()


def test_workshop_with_kept_files_expires_and_the_next_one_has_all_that_was_written(world, expiring):
    template, name = expiring["kept"]
    assert world.until_ended(name)["end_reason"] == "expired"
    written = expiring["numbers"]()
    successor, other = world.launch(template, ALICE), world.launch(template, BOB)
    world.until(successor, "running")
    found = [int(line) for line in run(world, successor, f"print(open('{NUMBERS}').read())").splitlines()]
    assert found[: len(written)] == written and len(written) > 1, (written[-3:], found[-3:])
    assert read(world, successor) == "expired"
    world.until(other, "running")
    assert run(world, other, f"import os; print(os.listdir('{HOME}'))") == "[]"
    world.assert_nothing_was_forbidden()
