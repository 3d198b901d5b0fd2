"""Files of workshops without a volume, which the launcher saves before it ends them, and with which it starts others: real
launcher, operator and pods."""

import pytest
from python_app import CRASH_SAFE, HOME, PYTHON, read, run, write
from saved_files import saved_files
from world import ALICE, BOB, IMAGES, World


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    store = {"SERVICE_SNAPSHOT_STORE": str(tmp_path_factory.mktemp("snapshots"))}
    with World("saved-files", launcher=store, SERVICE_MATERIAL_IMAGE=f"{IMAGES}/material:test") as made:
        yield made


def saved(world, name):
    return saved_files(world.launcher, name, ALICE, BOB)


def test_files_are_saved_at_the_end_and_are_in_the_next_workshop_and_its_archive(world):
    template = world.template(name="again", storage=CRASH_SAFE, **PYTHON)
    name = world.launch(template)
    world.until(name, "running")
    write(world, name, "saved")
    script = f"{HOME}/deep/run.sh"
    made = f"os.makedirs('{HOME}/deep', exist_ok=True); open('{script}', 'w').close(); os.chmod('{script}', 0o755)"
    run(world, name, f"import os; {made}")
    world.end(name, email=ALICE)
    world.until_ended(name)

    _, _, listed = world.launcher.request("GET", "/snapshots/", ALICE)
    snapshot = next(one["snapshot_id"] for one in listed if one["workshop"] == name)
    again = world.launch(template, ALICE, snapshot=snapshot)
    assert world.until(again, "running")["restored_from"] == snapshot
    assert read(world, again) == "saved"
    assert run(world, again, f"import os; print(oct(os.stat('{script}').st_mode))") == "0o100755"
    write(world, again, "newer")
    world.end(again, email=ALICE)
    world.until_ended(again)
    assert saved(world, again)["kept.txt"] == "newer"
    assert saved(world, name)["kept.txt"] == "saved", "the first archive stays"
    world.assert_nothing_was_forbidden()
