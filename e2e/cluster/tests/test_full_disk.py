"""An app fills the disk of its kept files."""

import uuid

import pytest
from harness import PATIENCE
from local_volumes import local_volumes
from settled import until_ended
from test_download import download
from test_storage import PYTHON, READ, STORAGE, WRITE, run
from world import assert_nothing_was_forbidden

CLASS = f"full-{uuid.uuid4().hex[:8]}"
WORLD = {"SERVICE_STORAGE_CLASS": CLASS, "SERVICE_ROOM_GRACE": str(15 * PATIENCE)}
# Bytes of the disk of each volume.
DISK = 24 << 20
# Fills the disk to the last block. Prints the error.
FILL = """
import os
with open('/home/jovyan/fill', 'wb', buffering=0) as file:
    for size in (1 << 16, 1):
        try:
            while True:
                file.write(b'x' * size)
        except OSError as error:
            found = error
print(os.strerror(found.errno))
"""


@pytest.fixture(scope="module", autouse=True)
def volumes(world):
    with local_volumes(world, CLASS, 1, DISK):
        yield


def test_files_from_before_a_full_disk_are_in_the_download_and_the_next_workshop(world):
    template = world.template(name="full", storage=STORAGE, **PYTHON)
    name = world.launch(template)
    volume = world.until(name, "running")["volume"]
    run(world, name, WRITE)
    assert run(world, name, FILL) == "No space left on device"
    assert run(world, name, READ) == "kept"
    found = download(world, volume)
    assert found["kept.txt"] == b"kept" and len(found["fill"]) > DISK / 2
    assert world.instance(name)["last_crash"] is None
    world.end(name)
    until_ended(world, name)
    assert download(world, volume) == found

    name = world.launch(template)
    assert world.until(name, "running")["volume"] == volume
    assert run(world, name, READ) == "kept"
    run(world, name, "import os; os.remove('/home/jovyan/fill')")
    run(world, name, WRITE.replace("'kept'", "'changed'"))
    world.end(name)
    until_ended(world, name)
    found = download(world, volume)
    assert found["kept.txt"] == b"changed" and "fill" not in found
    assert_nothing_was_forbidden(world)
