"""Downloads of kept files: while the workshop runs, after its end, and after crashes. Only for the owner and admins, and
never in the way of a launch.

The namespace has the Pod Security profile `restricted`.
"""

import contextlib
import gzip
import hashlib
import http.client
import io
import json
import signal
import tarfile
import uuid

import pytest
from harness import ADMIN, PATIENCE, ROOT, exchange, wait_for
from local_volumes import local_volumes
from settled import phase, until_ended
from surroundings import Source
from test_policies import kill_task, sidecar_of
from test_storage import PYTHON, by_hand, kill, run
from world import ALICE, BOB, IMAGES, assert_nothing_was_forbidden

CLASS = f"download-{uuid.uuid4().hex[:8]}"
WORLD = {"security": "restricted", "SERVICE_STORAGE_CLASS": CLASS, "SERVICE_ROOM_GRACE": "60"}
POLICIES = ROOT / "deploy/network-policies.yaml"
STORAGE = {"kind": "kept", "size": "1Gi", "path": "/home/jovyan"}
# A file that only the user of the app can read.
WRITE = """
import os
os.makedirs("/home/jovyan/notes", exist_ok=True)
with open(os.open("/home/jovyan/notes/private.txt", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
    file.write("the last saved byte")
"""
# A file that the buffers of a download cannot hold, also compressed. Prints its SHA-256.
WRITE_LARGE = """
import hashlib, os
digest = hashlib.sha256()
with open("/home/jovyan/large", "wb") as file:
    for _ in range(80):
        block = os.urandom(10**6)
        digest.update(block)
        file.write(block)
print(digest.hexdigest())
"""
EXPECTED = {"notes": None, "notes/private.txt": b"the last saved byte"}
TOKEN = "5d41402abc4b2a76b9719d911017c592"


@pytest.fixture(scope="module", autouse=True)
def volumes(world):
    with local_volumes(world, CLASS, 14):
        yield


@pytest.fixture(scope="module")
def template(world):
    return world.template(name="kept", storage=STORAGE, **PYTHON)


def request(world, path, email):
    """Sends a GET request of the API. Waits longer than the launcher does. Returns (status, body)."""
    connection = http.client.HTTPConnection("127.0.0.1", world.launcher.port, timeout=60)
    try:
        connection.request("GET", f"/api/v1{path}", headers={"X-Auth-Request-Email": email})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def files_of(archive):
    """Returns {path: content} of a compressed archive; directories have no content."""
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(archive))) as tar:
        return {one.name: tar.extractfile(one).read() if one.isfile() else None for one in tar}


@contextlib.contextmanager
def opened(world, volume, email):
    """Begins a download, and yields the response. On a busy node, the pod may not be ready within the 30 s that the
    launcher waits. The test then tries again, as the launcher's answer says."""
    with contextlib.ExitStack() as connections:

        def look():
            connection = http.client.HTTPConnection("127.0.0.1", world.launcher.port, timeout=60)
            connections.callback(connection.close)
            connection.request("GET", f"/api/v1/volumes/{volume}/download", headers={"X-Auth-Request-Email": email})
            response = connection.getresponse()
            if response.status == 200:
                return response
            problem = json.loads(response.read())
            assert (response.status, problem["code"]) == (503, "download-not-ready"), problem
            until_no_downloads(world)
            return None

        yield wait_for("the download to begin", look, 60)


def download(world, volume, email=ALICE):
    """Downloads the volume. Returns {path: content}."""
    with opened(world, volume, email) as response:
        return files_of(response.read())


def downloads(world):
    """Returns the downloads and their pods."""
    pods = world.objects("pods", labelSelector="app=workshop-download")
    return [one["metadata"]["name"] for one in world.objects("workshopdownloads") + pods]


def until_no_downloads(world, seconds=60):
    wait_for("all downloads to be gone", lambda: not downloads(world), seconds)


def volume_of(world, name):
    return world.instance(name)["volume"]


def written(world, template, email):
    """Launches a workshop that has written its files. Returns its name and its volume."""
    name = world.launch(template, email)
    world.until(name, "running")
    run(world, name, WRITE)
    return name, volume_of(world, name)


def test_owner_and_admin_download_while_the_workshop_runs_and_after_its_end(world, template):
    name, volume = written(world, template, ALICE)
    pod = world.pod(name)["metadata"]["uid"]
    assert download(world, volume) == EXPECTED
    assert download(world, volume, ADMIN) == EXPECTED
    until_no_downloads(world)
    assert (world.pod(name)["metadata"]["uid"], phase(world, name)) == (pod, "Running")
    run(world, name, WRITE.replace("last", "very last"))

    world.end(name)
    until_ended(world, name)
    assert download(world, volume) == EXPECTED | {"notes/private.txt": b"the very last saved byte"}
    until_no_downloads(world)
    assert_nothing_was_forbidden(world)


def test_another_user_gets_the_same_404_as_for_an_unknown_volume(world, template):
    name, volume = written(world, template, ALICE)
    answers = [request(world, f"/volumes/{one}/download", BOB) for one in (volume, "work-aaaaaaaaaa")]
    without_id = [{**json.loads(body), "request_id": None, "instance": None} for _, body in answers]
    assert [status for status, _ in answers] == [404, 404] and without_id[0] == without_id[1]
    assert downloads(world) == []
    world.end(name)
    until_ended(world, name)


def test_files_of_a_workshop_that_exceeded_its_memory_and_failed_are_downloaded(world, template):
    email = "crash@example.org"
    name, volume = written(world, template, email)
    kill(world, name, signal.SIGUSR1)
    crashed = lambda: (world.workshop(name)["status"].get("lastCrash") or {}).get("reason") == "out-of-memory"
    wait_for("the crash", crashed, 30)
    assert download(world, volume, email) == EXPECTED
    # The pod is gone, as after a node was lost: a final status, and nothing that runs.
    world.kubectl("delete", "workshop", name)
    wait_for("the instance to be lost", lambda: world.instance(name)["state"] == "terminated", 60)
    assert download(world, volume, email) == EXPECTED
    until_no_downloads(world)


def test_volume_that_was_never_mounted_has_an_empty_archive(world):
    email = "never@example.org"
    template = world.template(name="never", storage=STORAGE, **PYTHON | {"image": f"{IMAGES}/missing:test"})
    name = world.launch(template, email)
    volume = volume_of(world, name)
    wait_for("the claim", lambda: world.named("persistentvolumeclaims", volume), 30)
    assert download(world, volume, email) == {}
    world.end(name, email)


def made(world, name, volume):
    """Creates a download by hand, and waits until its pod is ready. Returns the IP address of the pod."""
    spec = {"volume": volume, "tokenSha256": hashlib.sha256(TOKEN.encode()).hexdigest()}
    kind = {"apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "WorkshopDownload"}
    world.apply(kind | {"metadata": {"name": name}, "spec": spec})
    address = lambda: ((world.named("workshopdownloads", name) or {}).get("status") or {}).get("address")
    return wait_for("the pod of the download", address, 30).rpartition(":")[0]


def ask(address, token, path="/archive"):
    return exchange(8080, "GET", path, {"Authorization": f"Bearer {token}"}, host=address)[::2]


def ended_volume(world, template, email):
    name, volume = written(world, template, email)
    world.end(name, email)
    until_ended(world, name)
    return volume


def test_pod_sends_the_files_once_and_only_with_the_token(world, template):
    volume = ended_volume(world, template, "token@example.org")
    address = made(world, "by-hand", volume)
    for wrong in ("", "wrong", hashlib.sha256(TOKEN.encode()).hexdigest()):
        assert ask(address, wrong)[0] == 401
    status, tar = ask(address, TOKEN)
    assert status == 200
    with tarfile.open(fileobj=io.BytesIO(tar)) as found:
        assert found.extractfile("notes/private.txt").read() == b"the last saved byte"
    until_no_downloads(world)


def test_network_policy_blocks_other_pods_and_permits_the_launcher(world, template):
    volume = ended_volume(world, template, "policy@example.org")
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
    address = made(world, "policed", volume)

    def reaches(pod):
        return Source(world.namespace, pod).reaches(world, f"{address}:8080")

    assert reaches("stranger"), "unreachable without policies: the test proves nothing"
    text = POLICIES.read_text().replace("namespace: workshops\n", f"namespace: {world.namespace}\n")
    text = text.replace("metadata.name: launcher}", f"metadata.name: {world.namespace}}}")
    world.kubectl("apply", "--filename", "-", input=text)
    try:
        wait_for("the policy", lambda: not reaches("stranger"), 60)
        assert reaches("launcher")
        assert download(world, volume, "policy@example.org") == EXPECTED
    finally:
        world.kubectl("delete", "--filename", "-", input=text)
        world.kubectl("delete", "pod", *pods, "--wait=false")
        world.kubectl("delete", "workshopdownload", "policed", "--ignore-not-found")
    until_no_downloads(world)


def test_claim_of_another_program_is_not_read(world):
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": CLASS}
    theirs = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "work-foreign"}, "spec": spec}
    kind = {"apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "WorkshopDownload", "metadata": {"name": "thief"}}
    wanted = kind | {"spec": {"volume": "work-foreign", "tokenSha256": "0" * 64}}
    world.apply(theirs, wanted)
    wait_for("the download to be deleted", lambda: not world.objects("workshopdownloads"), 30)
    assert world.objects("pods", labelSelector="app=workshop-download") == []
    refused = kind | {"spec": {"volume": "database", "tokenSha256": "0" * 64}}
    assert "spec.volume" in world.kubectl("create", "--filename", "-", input=json.dumps(refused), check=False)
    world.kubectl("delete", "persistentvolumeclaim", "work-foreign")


def test_workshop_starts_on_the_same_node_during_a_download(world, template):
    email = "both@example.org"
    volume = ended_volume(world, template, email)
    address = made(world, "meanwhile", volume)
    name = world.launch(template, email)
    world.until(name, "running")
    assert world.named("workshopdownloads", "meanwhile"), "the download has ended"
    assert ask(address, TOKEN)[0] == 200
    until_no_downloads(world)
    assert phase(world, name) == "Running"
    world.end(name, email)
    until_ended(world, name)


def test_launch_that_finds_no_room_ends_the_download(world, template):
    volume = ended_volume(world, template, "room@example.org")
    made(world, "in-the-way", volume)
    launched = by_hand("large", volume)
    launched["spec"]["resources"] |= {"cpuRequest": "1000", "cpuLimit": "1000"}
    world.apply(launched)
    wait_for("the download to end", lambda: not downloads(world), 20)
    assert "a launch needs the volume" in world.operator.log.read_text()
    world.kubectl("delete", "workshop", "large")


def test_download_without_room_is_refused_with_advice(world, template):
    email = "quota@example.org"
    volume = ended_volume(world, template, email)
    world.kubectl("create", "quota", "none", "--hard=pods=0")
    try:
        status, body = request(world, f"/volumes/{volume}/download", email)
        problem = json.loads(body)
        assert (status, problem["code"]) == (503, "download-not-ready"), problem
        assert "try again in a minute" in problem["detail"], problem
        wait_for("the reason in the log", lambda: "exceeded quota" in world.launcher.log.read_text(), 5)
    finally:
        world.kubectl("delete", "quota", "none")
    until_no_downloads(world)
    assert download(world, volume, email) == EXPECTED


@contextlib.contextmanager
def begun(world, volume, email):
    """Begins a download, and reads no more than its first bytes. Yields the response."""
    # The previous download may still be being deleted, and this one is counted.
    until_no_downloads(world)
    with opened(world, volume, email) as response:
        assert len(response.read(1000)) == 1000
        assert len(downloads(world)) == 2
        yield response


LARGE = "large@example.org"


@pytest.fixture(scope="module")
def large(world, template):
    """The volume of an ended workshop of LARGE with a large file, and the SHA-256 of this file."""
    name, volume = written(world, template, LARGE)
    digest = run(world, name, WRITE_LARGE)
    world.end(name, LARGE)
    until_ended(world, name)
    return volume, digest


def assert_complete(world, large):
    volume, digest = large
    found = download(world, volume, LARGE)
    assert hashlib.sha256(found.pop("large")).hexdigest() == digest
    assert found == EXPECTED


def test_killed_launcher_leaves_nothing(world, large):
    with begun(world, large[0], LARGE):
        world.launcher.kill()
    try:
        until_no_downloads(world)
    finally:
        world.launcher.start()
    assert_complete(world, large)


def test_download_whose_pod_is_killed_is_broken_and_the_next_one_is_complete(world, large):
    with begun(world, large[0], LARGE) as response:
        (pod,) = world.objects("pods", labelSelector="app=workshop-download")
        kill_task(pod["status"]["containerStatuses"][0]["containerID"])
        with pytest.raises(http.client.IncompleteRead):
            response.read()
    until_no_downloads(world)
    assert_complete(world, large)


def test_files_outlive_a_killed_sidecar(world, template):
    email = "sidecar@example.org"
    name, volume = written(world, template, email)
    pod = world.pod(name)["metadata"]["uid"]
    kill_task(sidecar_of(world, name)["containerID"])
    restarted = lambda: sidecar_of(world, name)["restartCount"] == 1 and sidecar_of(world, name)["ready"]
    wait_for("the sidecar to restart", restarted, 30)
    assert run(world, name, "print(open('/home/jovyan/notes/private.txt').read())") == "the last saved byte"
    run(world, name, WRITE.replace("last", "very last"))
    restarts = {one["name"]: one["restartCount"] for one in world.pod(name)["status"]["containerStatuses"]}
    assert (world.pod(name)["metadata"]["uid"], restarts) == (pod, {"app": 0, "sidecar": 1})
    assert world.instance(name)["last_crash"] is None
    world.end(name, email)
    until_ended(world, name)
    assert download(world, volume, email) == EXPECTED | {"notes/private.txt": b"the very last saved byte"}
    until_no_downloads(world)
    assert_nothing_was_forbidden(world)
