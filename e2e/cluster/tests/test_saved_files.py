"""Files of workshops without a volume, which the launcher saves before it ends them; and kept files after the expiry: real
launcher, operator and pods."""

import contextlib
import subprocess
import uuid

import pytest
from harness import PATIENCE, wait_for
from local_volumes import local_volumes
from saved_files import saved_files
from settled import until_ended
from test_storage import PYTHON, READ, WRITE, run
from world import ALICE, BOB, IMAGES, World, assert_nothing_was_forbidden

STORAGE = {"kind": "workshop", "path": "/home/jovyan"}
KEPT = {"kind": "kept", "size": "1Gi", "path": "/home/jovyan"}
CLASS = f"expiring-{uuid.uuid4().hex[:8]}"
# In seconds. The others must run before the first one expires.
SHORT = {"lifetime_seconds": 120, "max_lifetime_seconds": 120}
NUMBERS = "/home/jovyan/numbers.txt"
# Writes one number after the other, and prints each number after it is written.
COUNT = f"""
import itertools, time
with open('{NUMBERS}', 'w') as file:
    for number in itertools.count():
        print(number, file=file, flush=True)
        print(number, flush=True)
        time.sleep(0.1)
"""


def write(text):
    """Returns Python code that writes a file which only its user can read."""
    return f"""
import os
with open(os.open('/home/jovyan/private.txt', os.O_CREAT | os.O_WRONLY, 0o600), 'w') as file:
    file.write('{text}')
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    material = {"SERVICE_MATERIAL_IMAGE": f"{IMAGES}/material:test"}
    settings = {"SERVICE_STORAGE_CLASS": CLASS, "SERVICE_ROOM_GRACE": str(15 * PATIENCE)}
    with World("saved-files", processes=False, **material, **settings) as made, local_volumes(made, CLASS, 4):
        store = str(tmp_path_factory.mktemp("snapshots"))
        made.launcher = made.new_launcher(SERVICE_SNAPSHOT_STORE=store, SERVICE_MAX_INSTANCES_PER_USER="10")
        made.operator = made.new_operator()
        made.launcher.start()
        made.operator.start()
        yield made


@contextlib.contextmanager
def counting(world, name, log):
    """Writes numbers in the workshop, until it ends. Yields a function that waits for the end, and returns the numbers that
    were written before."""
    command = ["kubectl", "--namespace", world.namespace, "exec", name, "--container", "app", "--", "python3", "-c", COUNT]
    with log.open("w") as output, subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL) as writer:
        try:
            wait_for("the first number", log.read_text, 20)

            def written():
                writer.wait(30 * PATIENCE)
                return [int(line) for line in log.read_text().splitlines()]

            yield written
        finally:
            writer.kill()


@pytest.fixture(scope="module", autouse=True)
def expiring(world, tmp_path_factory):
    """Workshops that expire while the other tests run: {what: (template, name)}, and the written numbers of `kept`."""
    storages = {"saved": STORAGE, "kept": KEPT, "paused": KEPT | {"at_expiry": "suspend"}}
    templates = {what: world.template(name=what, storage=one, **SHORT, **PYTHON) for what, one in storages.items()}
    launched = {what: (template, world.launch(template)) for what, template in templates.items()}
    for what, (_, name) in launched.items():
        world.until(name, "running")
        run(world, name, write("expired") if what == "saved" else WRITE)
    with counting(world, launched["kept"][1], tmp_path_factory.mktemp("counting") / "log") as numbers:
        yield launched | {"numbers": numbers}


def saved(world, name):
    return saved_files(world.launcher, name, ALICE, BOB)


def test_owner_ends_the_workshop_and_its_files_are_saved(world):
    name = world.running(name="ended", storage=STORAGE, **PYTHON)
    run(world, name, write("last byte"))
    world.end(name, ALICE)
    until_ended(world, name)
    assert saved(world, name)["private.txt"] == "last byte"


def test_launcher_is_killed_during_the_end_and_the_files_are_saved(world):
    name = world.running(name="killed", storage=STORAGE, **PYTHON)
    run(world, name, write("last byte"))
    world.end(name, ALICE)
    world.launcher.kill()
    world.launcher.start()
    until_ended(world, name)
    assert saved(world, name)["private.txt"] == "last byte"


def test_workshop_expires_and_its_files_are_saved(world, expiring):
    _, name = expiring["saved"]
    until_ended(world, name)
    files = wait_for("the saved files", lambda: saved(world, name), 10)
    assert files["private.txt"] == "expired"
    assert_nothing_was_forbidden(world)


def test_workshop_with_kept_files_expires_and_the_next_one_has_all_that_was_written(world, expiring):
    template, name = expiring["kept"]
    assert until_ended(world, name)["end_reason"] == "expired"
    written = expiring["numbers"]()
    successor, other = world.launch(template, ALICE), world.launch(template, BOB)
    world.until(successor, "running")
    found = [int(line) for line in run(world, successor, f"print(open('{NUMBERS}').read())").splitlines()]
    assert found[: len(written)] == written and len(written) > 1, (written[-3:], found[-3:])
    assert run(world, successor, READ) == "kept"
    world.until(other, "running")
    assert run(world, other, "import os; print(os.listdir('/home/jovyan'))") == "[]"
    assert_nothing_was_forbidden(world)


def test_workshop_that_is_paused_at_the_expiry_is_resumed_with_its_files(world, expiring):
    _, name = expiring["paused"]
    world.until(name, "suspended")
    world.until_gone(name)
    status, _, body = world.launcher.request("POST", f"/instances/{name}/resume", ALICE)
    assert status == 202, (status, body)
    world.until(name, "running")
    assert run(world, name, READ) == "kept"
    assert_nothing_was_forbidden(world)
