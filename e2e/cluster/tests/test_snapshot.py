"""The files of a workshop without a volume, which the launcher saves at its end: a container of the pod sends them to a
client with the token, and the operator ends the workshop only after the time to save them.

The namespace has the Pod Security profile `restricted`. The Workshops are made by hand, so no launcher ends them.
"""

import hashlib
import io
import tarfile

import pytest
from harness import PATIENCE, ROOT, exchange, wait_for
from settled import phase
from surroundings import Source
from test_crash_safe import workshop
from test_storage import PYTHON, run, until_running
from world import IMAGES, assert_nothing_was_forbidden, seconds_from_now

HOME = "/home/jovyan"
WORLD = {"security": "restricted", "SERVICE_MATERIAL_IMAGE": f"{IMAGES}/material:test", "SERVICE_ROOM_GRACE": "30"}
POLICIES = ROOT / "deploy/network-policies.yaml"
CONTAINER = "snapshot-archive"
TOKEN = "5d41402abc4b2a76b9719d911017c592"
# A file that only the user of the app can read.
WRITE = """
import os
os.makedirs("/home/jovyan/notes", exist_ok=True)
with open(os.open("/home/jovyan/notes/private.txt", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
    file.write("the last saved byte")
"""


def snapshot(grace=90):
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    return {"directory": HOME, "tokenSha256": digest, "graceSeconds": grace}


def address(world, name):
    """Returns host and port at which the files are sent, or None."""
    found = world.workshop(name)["status"].get("archiveAddress")
    return found and (found.rpartition(":")[0].strip("[]"), int(found.rpartition(":")[2]))


def ask(where, token=TOKEN):
    """Requests the archive. Returns (status, body)."""
    host, port = where
    return exchange(port, "GET", "/archive", {"Authorization": f"Bearer {token}"}, host=host)[::2]


def files(where):
    """Returns {path: content} of the files in the archive."""
    status, body = ask(where)
    assert status == 200, (status, body)
    with tarfile.open(fileobj=io.BytesIO(body)) as tar:
        return {one.name: tar.extractfile(one).read() for one in tar if one.isfile()}


def restarts(world, name):
    """Returns {container: restarts} of the pod."""
    return {one["name"]: one["restartCount"] for one in world.pod(name)["status"]["containerStatuses"]}


@pytest.mark.parametrize("app_port, port", [(8888, 8082), (8082, 8083)])
def test_files_are_sent_to_each_client_with_the_token_and_the_workshop_stays_running(world, app_port, port):
    with workshop(world, "saved", snapshot=snapshot(), port=app_port) as name:
        until_running(world, name)
        where = address(world, name)
        assert where and where[1] == port
        run(world, name, WRITE)
        for wrong in ("", "wrong", snapshot()["tokenSha256"]):
            assert ask(where, wrong)[0] == 401

        found = files(where)
        assert found["notes/private.txt"] == b"the last saved byte"
        assert ".bashrc" in found, "the files of the image"
        assert not any(path.startswith("NOT-IN-THIS-ARCHIVE") for path in found), found
        run(world, name, WRITE.replace("last", "very last"))
        assert files(where)["notes/private.txt"] == b"the very last saved byte"

        assert phase(world, name) == "Running"
        assert restarts(world, name) == {"app": 0, "sidecar": 0, CONTAINER: 0}
        assert address(world, name) == where
    assert_nothing_was_forbidden(world)


def test_workshop_ends_after_the_time_to_save_its_files_without_a_launcher(world):
    lifetime, grace = 30, 30
    with workshop(world, "ending", snapshot=snapshot(grace), lifetimeSeconds=lifetime) as name:
        until_running(world, name)
        run(world, name, WRITE)
        expiry = world.workshop(name)["status"]["expiresAt"]
        wait_for("the expiry", lambda: seconds_from_now(expiry) < -1, lifetime + 5)
        assert phase(world, name) == "Running"
        assert files(address(world, name))["notes/private.txt"] == b"the last saved byte"
        assert world.workshop(name)["status"]["expiresAt"] == expiry

        wait_for("the end", lambda: phase(world, name) == "Expired", grace + 20)
        late = -seconds_from_now(expiry)
        # Much earlier than the operator's regular check, which is every 600 s.
        assert grace <= late < grace + 20, late
        assert "archiveAddress" not in world.workshop(name)["status"]
        wait_for("the end of the pod", lambda: world.named("pods", name) is None, 60)


def test_workshop_without_the_directory_or_a_snapshot_has_no_such_container(world):
    for name, changes in {"bare": {"directory": None, "snapshot": snapshot()}, "unsaved": {}}.items():
        with workshop(world, name, **changes):
            until_running(world, name)
            assert [one["name"] for one in world.pod(name)["spec"]["containers"]] == ["app", "sidecar"]
            assert address(world, name) is None


def test_network_policy_blocks_other_pods_and_permits_the_launcher(world):
    hardened = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    hardened |= {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    app = {"name": "app", "image": f"{IMAGES}/http:test", "args": ["serve", "8000"], "securityContext": hardened}
    spec = {"containers": [app], "terminationGracePeriodSeconds": 0}
    pods = {"stranger": {}, "launcher": {"app.kubernetes.io/name": "workshop-launcher"}}
    pods["launcher"]["app.kubernetes.io/component"] = "launcher"
    world.apply(*(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec}
        for name, labels in pods.items()
    ))
    world.kubectl("wait", "pod", *pods, "--for=condition=Ready", f"--timeout={60 * PATIENCE}s")
    text = POLICIES.read_text().replace("namespace: workshops\n", f"namespace: {world.namespace}\n")
    text = text.replace("metadata.name: launcher}", f"metadata.name: {world.namespace}}}")
    with workshop(world, "policed", snapshot=snapshot()) as name:
        until_running(world, name)
        host, port = address(world, name)

        def reaches(pod, port=port):
            return Source(world.namespace, pod).reaches(world, f"{host}:{port}")

        assert reaches("stranger"), "unreachable without policies: the test proves nothing"
        world.kubectl("apply", "--filename", "-", input=text)
        try:
            wait_for("the policy", lambda: not reaches("stranger"), 60)
            assert reaches("launcher")
            assert not reaches("launcher", 8080), "only the edge proxy reaches the sidecar"
        finally:
            world.kubectl("delete", "--filename", "-", input=text)
            world.kubectl("delete", "pod", *pods, "--wait=false")
