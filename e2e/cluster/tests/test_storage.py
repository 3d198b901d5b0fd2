"""Kept files on real volumes: they outlive the workshop, belong to one person, and are deleted only on request."""

import contextlib
import json
import signal
import uuid

import pytest
from harness import PATIENCE, wait_for
from local_volumes import local_volumes
from settled import killed_operator, phase, until_ended
from test_failures import evict
from world import ALICE, BOB, IMAGES, assert_nothing_was_forbidden

CLASS = f"kept-{uuid.uuid4().hex[:8]}"
WORLD = {
    "SERVICE_STORAGE_CLASS": CLASS,
    # Longer than the binding of a claim to a volume takes.
    "SERVICE_ROOM_GRACE": str(15 * PATIENCE),
    "SERVICE_START_TIMEOUT": "120",
}
FILE = "/home/jovyan/kept.txt"
WRITE, READ = f"open('{FILE}', 'w').write('kept')", f"print(open('{FILE}').read())"
EXISTS = f"import os; print(os.path.exists('{FILE}'))"
# A server that ends at SIGTERM, and exceeds its memory at SIGUSR1. By default, the first process of a container ignores
# these signals.
SERVER = """
import http.server, os, signal, sys
signal.signal(signal.SIGTERM, lambda *_: (print("ends at SIGTERM", flush=True), os._exit(0)))
signal.signal(signal.SIGUSR1, lambda *_: b"x" * 10**9)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.BaseHTTPRequestHandler).serve_forever()
"""
# An app with Python, which can write files, as the user that the operator sets.
PYTHON = {
    "app_type": "custom",
    "image": f"{IMAGES}/jupyter:test",
    "command": ["python3", "-c", SERVER, "$(PORT)"],
    "args": [],
    "resources": {"cpu_request": "5m", "cpu_limit": "1", "memory_request": "32Mi", "memory_limit": "128Mi"},
}
# One more than the tests use.
VOLUMES = 14
STORAGE = {"kind": "kept", "size": "1Gi", "path": "/home/jovyan"}
# Last line of the output of Python code in a pod. Without it, the output is cut off.
LAST_LINE = "that is all"


@pytest.fixture(scope="module", autouse=True)
def volumes(world):
    with local_volumes(world, CLASS, VOLUMES):
        yield


def by_hand(name, volume, size="1Gi"):
    """Returns a Workshop with this volume. Without the labels of the launcher, which therefore leaves it alone."""
    spec = {"owner": ALICE, "image": PYTHON["image"], "appType": "custom", "port": 8888, "command": PYTHON["command"]}
    spec["resources"] = {"cpuRequest": "5m", "cpuLimit": "1", "memoryRequest": "32Mi", "memoryLimit": "128Mi"}
    spec |= {"securityProfile": "restricted", "lifetimeSeconds": 3600}
    spec["storage"] = {"volume": volume, "size": size, "path": "/home/jovyan"}
    return {
        "apiVersion": "workshoplauncher.dev/v1alpha1",
        "kind": "Workshop",
        "metadata": {"name": name},
        "spec": spec,
    }


@contextlib.contextmanager
def workshop(world, name, volume, **spec):
    """Runs a Workshop with this volume during the block, and then waits until its pod is gone."""
    world.apply(by_hand(name, volume, **spec))
    try:
        yield name
    finally:
        world.kubectl("delete", "workshop", name, "--ignore-not-found")
        world.until_gone(name)


def until_running(world, name):
    wait_for(f"{name} to run", lambda: phase(world, name) == "Running", 60)


def run(world, name, code):
    """Runs Python code in the app of the workshop. Returns stdout.

    A busy API server may close the connection. The code then runs again, so it must have the same result twice.
    """
    command = ("exec", name, "--container", "app", "--", "python3", "-c", f"{code}\nprint('{LAST_LINE}')")
    errors = []

    def look():
        try:
            lines = world.kubectl(*command).splitlines()
        except AssertionError as error:
            errors[:] = [str(error)]
            return None
        return lines if lines[-1:] == [LAST_LINE] else None

    try:
        return "\n".join(wait_for(f"Python code to run in {name}", look, 20)[:-1]).strip()
    except AssertionError as error:
        raise AssertionError(f"{error}: {errors}") from None


def append(path, text):
    """Returns Python code that appends the text to the file, unless the file ends with it."""
    return f"text = open('{path}').read().removesuffix('{text}'); open('{path}', 'w').write(text + '{text}')"


def kill(world, name, number):
    """Sends this signal to the app. Its end may end the command, too."""
    code = f"import os; os.kill(1, {int(number)})"
    world.kubectl("exec", name, "--container", "app", "--", "python3", "-c", code, check=False)


def last_crash(world, name):
    return world.workshop(name)["status"].get("lastCrash")


def claim(world, name):
    return world.named("persistentvolumeclaims", name)


def message_of_failure(world, name):
    """Waits until the Workshop has failed. Returns (reason, message)."""
    wait_for(f"{name} to fail", lambda: phase(world, name) == "Failed", 60)
    status = world.workshop(name)["status"]
    return status["reason"], status["message"]


def test_files_outlive_the_workshop_and_are_in_the_next_one_with_the_volume(world):
    with workshop(world, "first", "work-one"):
        until_running(world, "first")
        run(world, "first", WRITE)
        assert run(world, "first", READ) == "kept"
        before = claim(world, "work-one")
        assert before["spec"]["resources"]["requests"] == {"storage": "1Gi"}
        assert before["metadata"]["labels"] == {"app": "workshop", "managed-by": "workshop-launcher"}
    after = claim(world, "work-one")
    assert (after["metadata"]["uid"], after["status"]["phase"]) == (before["metadata"]["uid"], "Bound")
    with workshop(world, "second", "work-one"), workshop(world, "other", "work-other"):
        until_running(world, "second")
        until_running(world, "other")
        assert run(world, "second", READ) == "kept"
        assert run(world, "other", EXISTS) == "False"
    assert_nothing_was_forbidden(world)


def test_replaced_pod_has_the_same_files(world):
    with workshop(world, "replaced", "work-replaced"):
        until_running(world, "replaced")
        run(world, "replaced", WRITE)
        before = world.pod("replaced")["metadata"]["uid"]
        world.kubectl("delete", "pod", "replaced")
        pods = lambda: [pod["metadata"]["uid"] for pod in world.of_workshop("pods", "replaced")]
        wait_for("the next pod", lambda: pods() and before not in pods() and phase(world, "replaced") == "Running", 60)
        assert run(world, "replaced", READ) == "kept"


def test_crashed_app_runs_again_with_its_files_and_fails_at_the_third_crash(world):
    with workshop(world, "crashing", "work-crashing"):
        until_running(world, "crashing")
        run(world, "crashing", WRITE)
        pod, before = world.pod("crashing")["metadata"]["uid"], world.workshop("crashing")["status"]

        kill(world, "crashing", signal.SIGUSR1)
        is_again = lambda: last_crash(world, "crashing") and phase(world, "crashing") == "Running"
        wait_for("the app to run again", is_again, 60)
        first = world.workshop("crashing")["status"]
        assert run(world, "crashing", READ) == "kept"
        assert world.pod("crashing")["metadata"]["uid"] == pod
        assert [first[field] for field in ("url", "readyAt")] == [before[field] for field in ("url", "readyAt")]
        crash = {"at": first["lastCrash"]["at"], "reason": "out-of-memory", "filesLost": False}
        assert first["lastCrash"] == crash

        # The kubelet now starts the app again only 10 s after its end.
        with killed_operator(world):
            kill(world, "crashing", signal.SIGTERM)
            containers = lambda: world.pod("crashing")["status"]["containerStatuses"]
            wait_for("the app to end", lambda: not all(one["ready"] for one in containers()), 60)
        # The new operator leads once the lease of the killed one has expired, after 15 s.
        wait_for("the second crash", lambda: last_crash(world, "crashing") not in (None, crash), 60)
        until_running(world, "crashing")
        assert last_crash(world, "crashing")["reason"] == "crashed"
        assert run(world, "crashing", READ) == "kept"

        kill(world, "crashing", signal.SIGTERM)
        reason, message = message_of_failure(world, "crashing")
        assert reason == "crashed"
        assert message.endswith("The app terminated repeatedly with exit code 0."), message
        assert world.workshop("crashing")["status"]["logTail"].endswith("ends at SIGTERM\n")
    with workshop(world, "successor", "work-crashing"):
        until_running(world, "successor")
        assert run(world, "successor", READ) == "kept"
    assert_nothing_was_forbidden(world)


def test_two_workshops_with_one_volume_run_one_after_the_other(world):
    with workshop(world, "one", "work-shared"):
        until_running(world, "one")
        with workshop(world, "two", "work-shared"):
            ready = lambda: (world.workshop("two").get("status") or {}).get("conditions", [{}])[0]
            wait_for("the second workshop to wait", lambda: ready().get("reason") == "VolumeInUse", 30)
            assert ready()["message"] == "the volume work-shared is in use by the workshop one"
            assert world.of_workshop("pods", "two") == []
            world.kubectl("delete", "workshop", "one")
            wait_for("the pod of the second workshop", lambda: world.of_workshop("pods", "two"), 60)
            assert world.of_workshop("pods", "one") == []
            until_running(world, "two")


def test_foreign_claim_is_not_mounted(world):
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": CLASS}
    theirs = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "database"}, "spec": spec}
    world.apply(theirs)
    with workshop(world, "thief", "database"):
        reason, message = message_of_failure(world, "thief")
        assert reason == "invalid-spec"
        assert "the PersistentVolumeClaim database, which does not have the label managed-by" in message, message
        assert world.of_workshop("pods", "thief") == []
    assert claim(world, "database")["metadata"].get("labels") is None
    world.kubectl("delete", "persistentvolumeclaim", "database")


def test_workshop_without_a_volume_of_its_size_fails_with_the_cause(world):
    with workshop(world, "large", "work-large", size="1Ti"):
        reason, message = message_of_failure(world, "large")
        assert reason == "unschedulable"
        assert "unbound immediate PersistentVolumeClaims" in message, message


def test_launched_workshops_keep_the_files_of_each_person_until_the_volume_is_deleted(world):
    template = world.template(name="kept", storage=STORAGE, **PYTHON)
    volume = lambda name: world.workshop(name)["spec"]["storage"]["volume"]
    first = world.launch(template, ALICE)
    world.until(first, "running")
    run(world, first, WRITE)
    kept = volume(first)
    world.end(first)
    until_ended(world, first)

    second, other = world.launch(template, ALICE), world.launch(template, BOB)
    world.until(second, "running")
    world.until(other, "running")
    assert (volume(second), run(world, second, READ)) == (kept, "kept")
    assert (volume(other) != kept, run(world, other, EXISTS)) == (True, "False")
    status, _, body = world.launcher.request("DELETE", f"/volumes/{kept}", ALICE)
    assert status == 409, (status, body)
    world.end(second)
    until_ended(world, second)

    status, _, body = world.launcher.request("DELETE", f"/volumes/{kept}", BOB)
    assert status == 404, (status, body)
    status, _, body = world.launcher.request("DELETE", f"/volumes/{kept}", ALICE)
    assert status in (202, 204), (status, body)
    wait_for("the claim to be deleted", lambda: claim(world, kept) is None, 90)
    assert claim(world, volume(other))
    third = world.launch(template, ALICE)
    world.until(third, "running")
    assert (volume(third) != kept, run(world, third, EXISTS)) == (True, "False")
    assert_nothing_was_forbidden(world)


def assert_next_workshop_has_the_file(world, template, volume):
    """Launches the template, and ends the workshop. Returns the name of its node."""
    name = world.launch(template, ALICE)
    row = world.until(name, "running")
    assert (row["volume"], run(world, name, READ)) == (volume, "kept")
    node = world.pod(name)["spec"]["nodeName"]
    world.end(name)
    until_ended(world, name)
    return node


def until_moved(world, name, pod, seconds=90):
    """Waits until the app of a workshop answers in another pod than the one with this uid. Returns the row."""

    def is_moved():
        uids = [one["metadata"]["uid"] for one in world.of_workshop("pods", name)]
        return uids and pod not in uids and phase(world, name) == "Running"

    # The operator writes the disruption and the phase Starting at the same time. The phase Running is then that of the new
    # pod.
    wait_for("the row to have the disruption", lambda: world.instance(name)["last_crash"], seconds)
    wait_for("another pod that is ready", is_moved, seconds)
    return world.instance(name)


def evict_by_kubelet(world, name):
    """Writes the pod status that a kubelet writes if a pod exceeds its disk space. The kubelet then ends the pod."""
    ended = {"status": {"phase": "Failed", "reason": "Evicted", "message": "Pod exceeded its disk space."}}
    pod = world.pod(name)["metadata"]["name"]
    world.kubectl("patch", "pod", pod, "--subresource=status", "--patch", json.dumps(ended))


def test_drained_workshop_continues_with_its_files_and_one_that_the_kubelet_evicts_fails(world):
    template = world.template(name="evicted", storage=STORAGE, **PYTHON)
    first = world.launch(template, ALICE)
    before = world.until(first, "running")
    run(world, first, WRITE)
    pod = world.pod(first)["metadata"]["uid"]
    evict(world, first)
    after = until_moved(world, first, pod)
    fields = ("state", "url", "expires_at", "volume")
    assert [after[field] for field in fields] == [before[field] for field in fields]
    assert (after["last_crash"]["code"], after["last_crash"]["files_lost"]) == ("evicted", False), after
    assert run(world, first, READ) == "kept"

    evict_by_kubelet(world, first)
    reason = world.until(first, "failed")["reason"]
    assert reason["code"] == "evicted", reason
    assert reason["remedy"].startswith("The saved files of this workshop are kept."), reason
    assert_next_workshop_has_the_file(world, template, before["volume"])
    assert_nothing_was_forbidden(world)


def test_suspended_workshop_has_no_pod_and_is_resumed_with_its_files_and_secrets(world):
    token = {"name": "TOKEN", "label": "Token", "kind": "secret"}
    template = world.template(name="suspended", storage=STORAGE, parameters=[token], **PYTHON)
    values = {"parameters": {"TOKEN": "hunter2"}}
    status, _, body = world.launcher.request("POST", f"/templates/{template}/launch", ALICE, values)
    assert status == 201, (status, body)
    name = body["k8s_name"]

    def ask(verb, email=ALICE):
        return world.launcher.request("POST", f"/instances/{name}/{verb}", email)[0]

    before = world.until(name, "running")
    run(world, name, WRITE)
    first = world.workshop(name)["metadata"]["uid"]
    assert (ask("suspend", BOB), ask("suspend"), ask("suspend")) == (404, 202, 202)
    world.until(name, "suspended")
    assert world.workshop(name) is None
    world.until_gone(name)
    assert claim(world, before["volume"])["status"]["phase"] == "Bound"
    status, _, body = world.launcher.request("POST", f"/templates/{template}/launch", ALICE, values)
    assert (status, body["code"]) == (409, "volume-in-use"), body
    assert "resume it" in body["detail"], body

    assert (ask("resume"), ask("resume")) == (202, 202)
    after = world.until(name, "running")
    assert (after["url"], after["volume"]) == (before["url"], before["volume"])
    assert world.workshop(name)["metadata"]["uid"] != first
    assert run(world, name, READ) == "kept"
    assert run(world, name, "import os; print(os.environ['TOKEN'])") == "hunter2"

    # The operator deletes the workload at the moment of the suspension, and the next pod needs the volume at once.
    assert ask("suspend") == 202
    world.until(name, "suspended")
    assert ask("resume") == 202
    world.until(name, "running")
    assert run(world, name, READ) == "kept"
    world.end(name)
    until_ended(world, name)
    assert_nothing_was_forbidden(world)


def test_existing_volumes_are_not_affected_by_the_deletion_of_the_storage_class(world):
    template = world.template(name="no class", storage=STORAGE, **PYTHON)
    first = world.launch(template, ALICE)
    before = world.until(first, "running")
    run(world, first, WRITE)
    world.end(first)
    until_ended(world, first)

    # The last test of this file, because the other tests need the class and its volumes.
    world.kubectl("delete", "storageclass", CLASS)
    volumes = json.loads(world.kubectl("get", "persistentvolumes", "--output", "json"))["items"]
    free = [one for one in volumes if one["spec"]["storageClassName"] == CLASS and one["status"]["phase"] == "Available"]
    world.kubectl("delete", "persistentvolume", *[one["metadata"]["name"] for one in free])
    refused = world.until(world.launch(template, BOB), "failed")["reason"]
    assert refused["code"] == "unschedulable", refused
    assert "unbound immediate PersistentVolumeClaims" in refused["message"], refused
    assert_next_workshop_has_the_file(world, template, before["volume"])
    assert_nothing_was_forbidden(world)
