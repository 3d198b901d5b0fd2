"""Files that a pod sends: downloads of kept files, while the workshop runs, after its end, and after crashes, never in the
way of a launch; and the files of a workshop without a volume, for its snapshot.

The namespace has the Pod Security profile `restricted`.
"""

import contextlib
import gzip
import hashlib
import http.client
import io
import json
import tarfile
import uuid

import pytest
from harness import ADMIN, DEADLINE, exchange, wait_for
from local_volumes import local_volumes
from python_app import EXCEED_MEMORY, HOME, KEPT, PYTHON, PYTHON_SPEC, kill, read, until_again, write
from surroundings import Source, client_pods
from test_policies import POLICIES
from world import ALICE, API_VERSION, IMAGES

CLASS = f"download-{uuid.uuid4().hex[:8]}"
WORLD = {
    "security": "restricted",
    "SERVICE_STORAGE_CLASS": CLASS,
    "SERVICE_MATERIAL_IMAGE": f"{IMAGES}/material:test",
    "SERVICE_ROOM_GRACE": "180",
}
TOKEN = "5d41402abc4b2a76b9719d911017c592"
DIGEST = hashlib.sha256(TOKEN.encode()).hexdigest()


@pytest.fixture(scope="module", autouse=True)
def volumes(world):
    with local_volumes(world, CLASS, 6):
        yield


@pytest.fixture(scope="module")
def template(world):
    return world.template(name="kept", storage=KEPT, **PYTHON)


@contextlib.contextmanager
def opened(world, volume, email):
    """Begins a download, and yields the response. On a busy node, the pod may not be ready within the 30 s that the
    launcher waits. The test then tries again, as the launcher's answer says."""
    with contextlib.ExitStack() as connections:

        def look():
            connection = http.client.HTTPConnection("127.0.0.1", world.launcher.port, timeout=DEADLINE)
            connections.callback(connection.close)
            connection.request("GET", f"/api/v1/volumes/{volume}/download", headers={"X-Auth-Request-Email": email})
            response = connection.getresponse()
            if response.status == 200:
                return response
            problem = json.loads(response.read())
            assert (response.status, problem["code"]) == (503, "download-not-ready"), problem
            until_no_downloads(world)
            return None

        yield wait_for("the download to begin", look)


def files_of(archive):
    """Returns {path: content} of the files in an archive."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {one.name: tar.extractfile(one).read() for one in tar if one.isfile()}


def download(world, volume, email=ALICE):
    """Downloads the volume. Returns {path: content} of its files."""
    with opened(world, volume, email) as response:
        return files_of(gzip.decompress(response.read()))


def downloads(world):
    """Returns the downloads and their pods."""
    return world.objects("workshopdownloads") + world.objects("pods", labelSelector="app=workshop-download")


def until_no_downloads(world):
    wait_for("all downloads to be gone", lambda: not downloads(world))


def written(world, template, email, text="the last saved byte"):
    """Launches a workshop that has written its file. Returns its name and its volume."""
    name = world.launch(template, email)
    volume = world.until(name, "running")["volume"]
    write(world, name, text)
    return name, volume


def ended_volume(world, template, email):
    name, volume = written(world, template, email)
    world.end(name)
    world.until_ended(name)
    return volume


def made(world, name, volume):
    """Creates a download by hand, and waits until its pod is ready. Returns the IP address of the pod."""
    spec = {"volume": volume, "tokenSha256": DIGEST}
    world.apply({"apiVersion": API_VERSION, "kind": "WorkshopDownload", "metadata": {"name": name}, "spec": spec})
    address = lambda: ((world.named("workshopdownloads", name) or {}).get("status") or {}).get("address")
    return wait_for("the pod of the download", address).rpartition(":")[0]


def ask(address, token=TOKEN, port=8080):
    """Requests the archive. Returns (status, body)."""
    return exchange(port, "GET", "/archive", {"Authorization": f"Bearer {token}"}, host=address)[::2]


def test_owner_and_admin_download_while_the_workshop_runs_and_after_its_end(world, template):
    name, volume = written(world, template, ALICE, "first")
    assert download(world, volume) == download(world, volume, ADMIN) == {"kept.txt": b"first"}
    write(world, name, "the last saved byte")
    world.end(name)
    world.until_ended(name)
    assert download(world, volume) == {"kept.txt": b"the last saved byte"}
    until_no_downloads(world)
    world.assert_nothing_was_forbidden()


def test_files_are_downloaded_after_a_crash_and_after_the_loss_of_the_pod(world, template):
    email = "crash@example.org"
    name, volume = written(world, template, email)
    before = world.instance(name)
    kill(world, name, EXCEED_MEMORY)
    crash = until_again(world, name)
    assert (crash["reason"], crash["filesLost"], read(world, name)) == ("out-of-memory", False, "the last saved byte")
    after = wait_for("the row to have the crash", lambda: (row := world.instance(name))["last_crash"] and row)
    assert [after[field] for field in ("url", "expires_at")] == [before[field] for field in ("url", "expires_at")]
    assert download(world, volume, email) == {"kept.txt": b"the last saved byte"}
    world.kubectl("delete", "workshop", name)
    world.until(name, "terminated")
    assert download(world, volume, email) == {"kept.txt": b"the last saved byte"}


def test_launch_starts_during_a_download(world, template):
    email = "launch@example.org"
    volume = ended_volume(world, template, email)
    address = made(world, "meanwhile", volume)
    for wrong in ("", "wrong", DIGEST):
        assert ask(address, wrong)[0] == 401
    name = world.launch(template, email)
    world.until(name, "running")
    assert world.named("workshopdownloads", "meanwhile"), "the download has ended"
    status, archive = ask(address)
    assert (status, files_of(archive)) == (200, {"kept.txt": b"the last saved byte"})
    until_no_downloads(world)
    assert world.phase(name) == "Running"
    world.end(name)


def archive_address(world, name):
    """Returns (host, port) at which the files of a running workshop are sent."""
    host, _, port = world.status(name)["archiveAddress"].rpartition(":")
    return host.strip("[]"), int(port)


def with_snapshot():
    """Returns the spec of a Workshop whose files are saved at its end."""
    snapshot = {"directory": HOME, "tokenSha256": DIGEST, "graceSeconds": 90}
    return {**PYTHON_SPEC, "crashSafeDirectory": HOME, "snapshot": snapshot}


def test_network_policies_permit_only_the_launcher(world, template):
    """The same policies protect the pod of a download, and the container that sends the files of a running workshop."""
    volume = ended_volume(world, template, "policy@example.org")
    launcher = {"app.kubernetes.io/name": "workshop-launcher", "app.kubernetes.io/component": "launcher"}
    pods = {"stranger": (world.namespace, {}), "launcher": (world.namespace, launcher)}
    ours = ("metadata.name: launcher}", f"metadata.name: {world.namespace}}}")
    with client_pods(world, pods), world.by_hand("policed", **with_snapshot()) as name:
        world.until_phase(name, "Running")
        pod, port = archive_address(world, name)
        # The pod of a download has the name of the download, which therefore cannot be the Workshop's.
        targets = [f"{made(world, 'policed-download', volume)}:8080", f"{pod}:{port}"]

        def reached(source):
            return [Source(world.namespace, source).reaches(world, target) for target in targets]

        wait_for("both to be reachable without policies", lambda: reached("stranger") == [True, True])
        with world.applied_file(POLICIES, ours):
            wait_for("the policy", lambda: reached("stranger") == [False, False])
            wait_for("the launcher to reach both", lambda: reached("launcher") == [True, True])
            assert not Source(world.namespace, "launcher").reaches(world, f"{pod}:8080"), "only the edge proxy reaches it"
            world.kubectl("delete", "workshopdownload", "policed-download", "--ignore-not-found")
            until_no_downloads(world)
            assert download(world, volume, "policy@example.org") == {"kept.txt": b"the last saved byte"}
