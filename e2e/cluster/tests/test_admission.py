"""Validation by the API server, admission under Pod Security, and the rights of our programs."""

import concurrent.futures
import json
import re
import subprocess

import pytest
from faults import Proxy
from harness import ADMIN, DEADLINE, ROOT, exchange, wait_for
from world import ALICE, API_VERSION, BOB, IMAGES, World, by_hand, parse_time

PERMISSIONS = ROOT / "deploy/permissions.txt"
SETTINGS = {"SERVICE_ROOM_GRACE": "2", "SERVICE_LOG": "info,launcher_operator=debug"}
# {kind of API call: verbs that it requires}. A server-side apply is a PATCH, and requires create for a new object.
TAKES = {
    "GET": {"get"},
    "LIST": {"list"},
    "WATCH": {"watch"},
    "POST": {"create"},
    "PUT": {"update"},
    "PATCH": {"patch", "create"},
    "DELETE": {"delete"},
}
# No call needs it: an admission plugin of the API server requires it for the owner references of a workload.
BY_ADMISSION = {("workshops/finalizers", "update")}


class Recorded(World):
    """A world that counts the API calls of each program."""

    def __init__(self, name, of_launcher, of_operator, **settings):
        super().__init__(name, **settings)
        self.calls = {"workshop-launcher": of_launcher, "workshop-operator": of_operator}

    def new_launcher(self, server=None, **settings):
        return super().new_launcher(server or self.calls["workshop-launcher"].url, **settings)

    def new_operator(self, server=None, **settings):
        return super().new_operator(server or self.calls["workshop-operator"].url, **settings)


@pytest.fixture(scope="module")
def world():
    with Proxy() as one, Proxy() as other, Recorded("admission", one, other, security="restricted", **SETTINGS) as made:
        yield made


@pytest.fixture(scope="module")
def running(world):
    return world.running()


def amounts(**changes):
    """Returns a change of a Workshop's resources."""
    return {"resources": by_hand("any")["spec"]["resources"] | changes}


def with_download(volume):
    spec = {"volume": volume, "tokenSha256": "0" * 64}
    return {"apiVersion": API_VERSION, "kind": "WorkshopDownload", "metadata": {"name": "unknown"}, "spec": spec}


# Specs that the API server rejects: {name: (change, pattern of the error)}.
REFUSED = {
    "port-0": ({"port": 0}, r"spec\.port: Invalid value: 0: .*greater than or equal to 1"),
    "sidecar-port": ({"port": 8080}, r"spec\.port: Invalid value: .*8080 and 8081 are the sidecar's"),
    "no-owner": ({"owner": ""}, r'spec\.owner: Invalid value: "": .*at least 3 chars long'),
    "owner-null": ({"owner": None}, r"spec\.owner: (Required value|Invalid value)"),
    "profile": ({"securityProfile": "privileged"}, r'spec\.securityProfile: Unsupported value: "privileged"'),
    "no-quantity": (amounts(cpuLimit="much"), r"spec\.resources\.cpuLimit: .*not a quantity above zero: write for example 500m"),
    "zero": (amounts(memoryRequest="0"), r"spec\.resources\.memoryRequest: .*not a quantity above zero"),
    "cpu-request": (amounts(cpuRequest="1100m"), r"spec\.resources: .*the CPU request is above the limit"),
    "memory-request": (amounts(memoryRequest="1Gi"), r"spec\.resources: .*the memory request is above the limit"),
}


def test_invalid_workshop_is_rejected(world):
    # Separate documents: kubectl itself would check the objects of a List, and hide the API server's answers.
    documents = "\n---\n".join(json.dumps(by_hand(name, **changes)) for name, (changes, _) in REFUSED.items())
    said = world.kubectl("apply", "--filename", "-", input=documents, check=False)
    errors = re.split(r"^(?=Error from|The Workshop)", said, flags=re.MULTILINE)
    for name, (_, sentence) in REFUSED.items():
        assert any(f'"{name}"' in error and re.search(sentence, error) for error in errors), (name, said)
        assert world.workshop(name) is None
    assert "created" in world.kubectl("apply", "--filename", "-", "--dry-run=server", input=json.dumps(by_hand("fine")))
    assert "spec.volume" in world.apply(with_download("database"), check=False), "expected only volumes of kept files"


def test_immutable_field_change_is_rejected(world, running):
    before = world.workshop(running)["spec"]
    for change, sentence in (
        ({"owner": BOB}, "spec.owner: Invalid value: .*the owner cannot change"),
        ({"image": f"{IMAGES}/jupyter:test"}, "spec.image: Invalid value: .*the image cannot change: launch another"),
    ):
        patch = json.dumps({"spec": change})
        said = world.kubectl("patch", "workshop", running, "--type=merge", "--patch", patch, check=False)
        assert re.search(sentence, said), said
    assert world.workshop(running)["spec"] == before


# Pod Security.


def test_restricted_profile_runs_in_restricted_namespace(world, running):
    assert world.workshop(running)["spec"]["securityProfile"] == "restricted"
    assert world.visit(running, ALICE)[0] == 200


def test_baseline_profile_fails_in_restricted_namespace(world):
    name = world.launch(world.template(security_profile="baseline"), BOB)
    reason = world.until(name, "failed")["reason"]
    assert (reason["code"], reason["retryable"]) == ("invalid-spec", False)
    says = r'The workshop\'s template has settings that cannot run\. .* violates PodSecurity "restricted'
    assert re.match(says, reason["message"]), reason
    world.end(name, email=BOB)
    world.until_ended(name)


# Rights of our programs.


def test_service_account_permissions_match_committed_file():
    done = subprocess.run([ROOT / "e2e/cluster/permissions.sh"], capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr
    committed = PERMISSIONS.read_text()
    assert re.findall(r"secrets.*", committed) == ["secrets: [create]"], "no program can read Secrets"
    assert "*" not in committed


def granted():
    """Returns the committed permissions, {account: {(resource, verb)}}; resources without their groups."""
    found = {}
    for line in PERMISSIONS.read_text().splitlines():
        if not line.startswith(" "):
            rights = found.setdefault(line, set())
            continue
        name, verbs = line.strip().split(": ")
        resource, slash, part = name.partition("/")
        rights |= {(resource.split(".")[0] + slash + part, verb) for verb in verbs.strip("[]").split()}
    return found


def used(proxy):
    """Returns the rights that the calls through this proxy required."""
    calls = (call.split() for call in list(proxy.calls))
    return {(resource, verb) for method, resource in calls for verb in TAKES[method]}


def test_every_granted_permission_is_used_and_no_call_is_forbidden(world):
    everything_that_happens(world)
    unused = {account: rights - used(world.calls[account]) - BY_ADMISSION for account, rights in granted().items()}
    assert unused == {"workshop-launcher": set(), "workshop-operator": set()}
    world.assert_nothing_was_forbidden()


def everything_that_happens(world):
    """Triggers all API calls of launcher and operator."""
    token = {"name": "TOKEN", "label": "Token", "kind": "secret"}
    asking = world.template(name="asks", parameters=[token])
    # The cluster provides no volume, so the workshop fails.
    kept = world.launch(world.template(name="kept", storage={"kind": "kept", "path": "/kept"}), "kept@example.org")
    asks = world.launch(asking, "asks@example.org", parameters={"TOKEN": "hunter2"})
    lost = world.launch(world.template(name="lost"), "lost@example.org")
    world.apply(by_hand("short", lifetimeSeconds=3), by_hand("crash", args=["exit"]))
    # The launcher waits 30 seconds for the download.
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        download = threads.submit(downloaded_and_deleted, world, kept)
        secret_is_created_and_deleted(world, asks)
        world.until_phase("short", "Expired")
        world.until_phase("crash", "Failed")
        download.result()
    # It kills the launcher.
    restarted_extended_and_lost(world, lost)

    # If the garbage collector is faster, the operator does not delete the Workshop: then try again.
    def is_deleted_by_operator():
        if ("workshops", "delete") in used(world.calls["workshop-operator"]):
            return True
        world.apply(by_hand("removed"))
        world.until_phase("removed", "Running")
        world.kubectl("delete", "workshop", "removed", "--cascade=foreground")
        return False

    wait_for("the operator to delete a Workshop", is_deleted_by_operator)

    # Start timeout of 8 s: a failing image pull fails the workshop only after 15 s. The workshop therefore fails by
    # timeout, and the operator lists the pod's Events for the reason.
    world.replace_operator(SERVICE_START_TIMEOUT="8")
    world.apply(by_hand("missing", image=f"{IMAGES}/missing:test"))
    assert world.until_phase("missing", "Failed")["reason"] == "start-timeout"


def secret_is_created_and_deleted(world, name):
    """The launcher creates a Secret, which the cluster deletes with the Workshop."""
    world.until(name, "running")
    assert "hunter2" not in json.dumps([world.workshop(name), world.instance(name)])
    world.kubectl("get", "secret", f"{name}-parameters")
    world.end(name)
    world.until(name, "terminated")
    gone = lambda: "NotFound" in world.kubectl("get", "secret", f"{name}-parameters", check=False)
    wait_for("the Secret to be deleted", gone)


def restarted_extended_and_lost(world, name):
    """The workshop starts a second time. The operator must create the Event again, because it may not patch Events."""
    world.until(name, "running")
    uid = world.uid(name)
    world.kubectl("delete", "pod", name, "--wait=false")
    world.until_other_pod(name, uid)
    # The operator writes the new expiry to the pod.
    expiry = world.extend(name)
    noted = lambda: world.pod(name)["metadata"]["annotations"]["workshoplauncher.dev/expires-at"]
    wait_for("the new expiry in the pod", lambda: (at := noted())[0] != "+" and parse_time(at) == expiry)
    # The launcher is down during the deletion, so its watch misses it. The launcher must then use the verb `get`.
    world.launcher.kill()
    world.kubectl("delete", "workshop", name)
    world.launcher.start()
    assert world.until(name, "terminated")["end_reason"] == "lost"


def downloaded_and_deleted(world, kept):
    """The volume of a failed workshop is downloaded, and then deleted with its claim."""
    # The Workshop may be gone already. The claim outlives it.
    volume = world.until(kept, "failed")["volume"]
    assert world.named("persistentvolumeclaims", volume)
    # The download cannot mount the volume either: the launcher waits 30 seconds for it.
    path = f"/api/v1/volumes/{volume}/download"
    refused = exchange(world.launcher.port, "GET", path, {"X-Auth-Request-Email": ADMIN})
    assert refused[0] == 503, refused
    wait_for("the download to be deleted", lambda: not world.objects("workshopdownloads"))
    # The operator deletes a download that it cannot serve.
    world.apply(with_download("work-unknown"))
    wait_for("the operator to delete the download", lambda: not world.objects("workshopdownloads"))
    code, _, body = world.launcher.request("DELETE", f"/volumes/{volume}")
    assert code in (202, 204), (code, body)
    wait_for("the claim to be deleted", lambda: not world.named("persistentvolumeclaims", volume))
