"""Files of workshops without a volume, which the launcher saves before it ends them: real launcher, operator and pods."""

import pytest
from harness import wait_for
from saved_files import saved_files
from settled import until_ended
from test_storage import PYTHON, run
from world import ALICE, BOB, IMAGES, World, assert_nothing_was_forbidden

STORAGE = {"kind": "workshop", "path": "/home/jovyan"}
# The shortest lifetime that a template can have, in seconds.
SHORT = {"lifetime_seconds": 60, "max_lifetime_seconds": 60}


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
    with World("saved-files", processes=False, **material) as made:
        made.launcher = made.new_launcher(SERVICE_SNAPSHOT_STORE=str(tmp_path_factory.mktemp("snapshots")))
        made.operator = made.new_operator()
        made.launcher.start()
        made.operator.start()
        yield made


@pytest.fixture(scope="module", autouse=True)
def expiring(world):
    """A workshop that expires while the other tests run."""
    name = world.running(name="expiring", storage=STORAGE, **SHORT, **PYTHON)
    run(world, name, write("expired"))
    return name


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
    until_ended(world, expiring)
    files = wait_for("the saved files", lambda: saved(world, expiring), 10)
    assert files["private.txt"] == "expired"
    assert_nothing_was_forbidden(world)
