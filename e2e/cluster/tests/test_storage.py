"""Files of real volumes: kept files belong to one person and outlive the workshop, files of crash-safe directories outlive
a crash. Each volume is a small disk."""

import json
import uuid

import pytest
from harness import wait_for
from local_volumes import local_volumes
from python_app import CRASH_SAFE, EXCEED_MEMORY, HOME, KEPT, PYTHON, kill, read, run, until_again, write
from test_download import download
from test_failures import evict
from world import ALICE, BOB, IMAGES

CLASS = f"kept-{uuid.uuid4().hex[:8]}"
WORLD = {
    "SERVICE_STORAGE_CLASS": CLASS,
    "SERVICE_MATERIAL_IMAGE": f"{IMAGES}/material:test",
    # Longer than the binding of a claim to a volume takes.
    "SERVICE_ROOM_GRACE": "180",
}
# Bytes of the disk of each volume.
DISK = 24 << 20
# Fills the disk to the last block. Prints the error.
FILL = f"""
import os
with open('{HOME}/fill', 'wb', buffering=0) as file:
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
    with local_volumes(world, CLASS, 6, DISK):
        yield


def claim(world, name):
    return world.named("persistentvolumeclaims", name)


def ended(world, name):
    world.end(name)
    world.until_ended(name)


def test_kept_files_belong_to_one_person_until_the_volume_is_deleted(world):
    template = world.template(name="kept", storage=KEPT, **PYTHON)
    first, other = world.launch(template, ALICE), world.launch(template, BOB)
    volume, theirs = world.until(first, "running")["volume"], world.until(other, "running")["volume"]
    write(world, first, "kept")
    assert (theirs != volume, read(world, other)) == (True, None)
    before = claim(world, volume)
    assert before["spec"]["resources"]["requests"] == {"storage": "1Gi"}
    world.ask(409, "DELETE", f"/volumes/{volume}", ALICE)
    ended(world, first)

    assert claim(world, volume)["metadata"]["uid"] == before["metadata"]["uid"]
    second = world.launch(template, ALICE)
    assert (world.until(second, "running")["volume"], read(world, second)) == (volume, "kept")
    ended(world, second)
    world.ask(404, "DELETE", f"/volumes/{volume}", BOB)
    status, _, body = world.launcher.request("DELETE", f"/volumes/{volume}", ALICE)
    assert status in (202, 204), body
    wait_for("the claim to be deleted", lambda: claim(world, volume) is None)
    assert claim(world, theirs)
    third = world.launch(template, ALICE)
    assert (world.until(third, "running")["volume"] != volume, read(world, third)) == (True, None)
    world.end(third, other)
    world.assert_nothing_was_forbidden()


def test_files_of_a_crash_safe_directory_outlive_a_crash(world):
    name = world.running(name="crash-safe", storage=CRASH_SAFE, **PYTHON)
    write(world, name, "kept")
    image = read(world, name, f"{HOME}/.bashrc")
    assert image, "expected the files of the image"
    pod = world.uid(name)
    kill(world, name, EXCEED_MEMORY)
    crash = until_again(world, name)
    assert (crash["reason"], crash["filesLost"]) == ("out-of-memory", False)
    assert (world.uid(name), read(world, name), read(world, name, f"{HOME}/.bashrc")) == (pod, "kept", image)
    # The sidecar gets the crash for the frame page.
    noted = world.pod(name)["metadata"]["annotations"]["workshoplauncher.dev/last-crash"]
    assert noted == f"{crash['at']} out-of-memory"
    world.end(name)


def test_drained_workshop_continues_with_its_files_and_one_that_the_kubelet_evicts_fails(world):
    template = world.template(name="evicted", storage=KEPT, **PYTHON)
    name = world.launch(template, "evicted@example.org")
    before = world.until(name, "running")
    write(world, name, "kept")
    pod = world.uid(name)
    evict(world, name)
    world.until_other_pod(name, pod)
    after = wait_for("the row to have the disruption", lambda: (row := world.instance(name))["last_crash"] and row)
    fields = ("state", "url", "expires_at", "volume")
    assert [after[field] for field in fields] == [before[field] for field in fields]
    assert (after["last_crash"]["code"], after["last_crash"]["files_lost"]) == ("evicted", False), after
    assert read(world, name) == "kept"

    # The status that a kubelet writes if a pod exceeds its disk space. The kubelet then ends the pod.
    evicted = {"status": {"phase": "Failed", "reason": "Evicted", "message": "Pod exceeded its disk space."}}
    world.kubectl("patch", "pod", name, "--subresource=status", "--patch", json.dumps(evicted))
    reason = world.until(name, "failed")["reason"]
    assert reason["code"] == "evicted", reason
    assert reason["remedy"].startswith("The saved files of this workshop are kept."), reason
    ended(world, name)
    successor = world.launch(template, "evicted@example.org")
    assert (world.until(successor, "running")["volume"], read(world, successor)) == (before["volume"], "kept")
    world.end(successor)


def test_suspended_workshop_has_no_pod_and_is_resumed_with_its_files_and_secrets(world):
    token = {"name": "TOKEN", "label": "Token", "kind": "secret"}
    template = world.template(name="suspended", storage=KEPT, parameters=[token], **PYTHON)
    name = world.launch(template, "suspend@example.org", parameters={"TOKEN": "hunter2"})
    before = world.until(name, "running")
    write(world, name, "kept")
    uid = world.workshop(name)["metadata"]["uid"]
    world.ask(202, "POST", f"/instances/{name}/suspend")
    world.until(name, "suspended")
    assert world.workshop(name) is None and world.workload(name) == []
    assert claim(world, before["volume"])["status"]["phase"] == "Bound"
    # The next pod needs the volume at once.
    world.ask(202, "POST", f"/instances/{name}/resume")
    after = world.until(name, "running")
    assert (after["url"], after["volume"]) == (before["url"], before["volume"])
    assert world.workshop(name)["metadata"]["uid"] != uid
    assert read(world, name) == "kept"
    assert run(world, name, "import os; print(os.environ['TOKEN'])") == "hunter2"
    world.end(name)
    world.assert_nothing_was_forbidden()


def test_files_from_before_a_full_disk_are_in_the_download_and_the_next_workshop(world):
    email = "full@example.org"
    template = world.template(name="full", storage=KEPT, **PYTHON)
    name = world.launch(template, email)
    volume = world.until(name, "running")["volume"]
    write(world, name, "kept")
    assert run(world, name, FILL) == "No space left on device"
    found = download(world, volume, email)
    assert found["kept.txt"] == b"kept" and len(found["fill"]) > DISK / 2
    assert world.instance(name)["last_crash"] is None
    ended(world, name)
    name = world.launch(template, email)
    assert (world.until(name, "running")["volume"], read(world, name)) == (volume, "kept")
    run(world, name, f"import os; os.path.exists('{HOME}/fill') and os.remove('{HOME}/fill')")
    write(world, name, "changed")
    ended(world, name)
    found = download(world, volume, email)
    assert found["kept.txt"] == b"changed" and "fill" not in found
