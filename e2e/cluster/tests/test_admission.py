"""Validation by the API server, admission under Pod Security, and the rights of our programs."""

import json
import re
import subprocess

import pytest
from faults import Proxy
from harness import ADMIN, PATIENCE, ROOT, exchange, wait_for
from world import ALICE, BOB, IMAGES, World, assert_nothing_was_forbidden, parse_time

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


RESOURCES = {"cpuRequest": "5m", "cpuLimit": "1", "memoryRequest": "16Mi", "memoryLimit": "64Mi"}


def amounts(**changes):
    """Returns a change of a Workshop's resources."""
    return {"resources": RESOURCES | changes}


def workshop(name, **changes):
    """Returns a Workshop without our labels, which the launcher leaves alone: it has no row."""
    spec = {
        "owner": ALICE,
        "image": f"{IMAGES}/http:test",
        "appType": "custom",
        "port": 8888,
        "args": ["serve"],
        "lifetimeSeconds": 600,
        "securityProfile": "restricted",
        "resources": RESOURCES,
    }
    made = {"apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop", "metadata": {"name": name}}
    return made | {"spec": spec | changes}


def apply_by_hand(world, made, *words):
    return world.kubectl("apply", "--filename", "-", *words, input=json.dumps(made), check=False)


def status(world, name):
    return world.workshop(name).get("status", {})


# Workshops that the API server rejects.

REFUSED = {
    "port 0": ({"port": 0}, r"spec\.port: Invalid value: 0: .*greater than or equal to 1"),
    "the sidecar's port": ({"port": 8080}, r"spec\.port: Invalid value: .*8080 and 8081 are the sidecar's"),
    "the sidecar's other port": ({"port": 8081}, r"spec\.port: Invalid value: .*8080 and 8081 are the sidecar's"),
    "port 70000": ({"port": 70000}, r"spec\.port: Invalid value: 70000: .*less than or equal to 65535"),
    "no owner": ({"owner": ""}, r'spec\.owner: Invalid value: "": .*at least 3 chars long'),
    "no image": ({"image": ""}, r'spec\.image: Invalid value: "": .*at least 1 chars long'),
    "another app type": ({"appType": "nonsense"}, r'spec\.appType: Unsupported value: "nonsense": supported values: .*"custom"'),
    "another profile": ({"securityProfile": "privileged"}, r'spec\.securityProfile: Unsupported value: "privileged"'),
    "no lifetime": ({"lifetimeSeconds": 0}, r"spec\.lifetimeSeconds: Invalid value: 0: .*greater than or equal to 1"),
    "no quantity": (amounts(cpuLimit="much"), r"spec\.resources\.cpuLimit: Invalid value: .*not a quantity above zero: write for example 500m"),
    "a quantity of zero": (amounts(memoryRequest="0"), r"spec\.resources\.memoryRequest: Invalid value: .*not a quantity above zero"),
    "a CPU request above the limit": (amounts(cpuRequest="1100m"), r"spec\.resources: Invalid value: .*the CPU request is above the limit"),
    "a memory request above the limit": (amounts(memoryRequest="1Gi"), r"spec\.resources: Invalid value: .*the memory request is above the limit"),
    "owner null": ({"owner": None}, r"spec\.owner: (Required value|Invalid value)"),
}


def test_valid_workshop_is_accepted(world):
    assert "created" in apply_by_hand(world, workshop("fine"), "--dry-run=server")


@pytest.mark.parametrize("what", REFUSED)
def test_invalid_workshop_is_rejected(world, what):
    changes, sentence = REFUSED[what]
    said = apply_by_hand(world, workshop("refused", **changes))
    assert re.search(sentence, said), said
    assert world.workshop("refused") is None


# What kubectl shows.


def test_workshops_are_in_a_category(world, running):
    assert f"workshop.workshoplauncher.dev/{running}" in world.kubectl("get", "workshop-launcher", "--output", "name").split()


@pytest.mark.parametrize("selector", [f"spec.owner={ALICE}", "status.phase=Running"])
def test_workshops_are_selected_by_field(world, running, selector):
    others = "spec.owner=carol@example.org" if "owner" in selector else "status.phase=Expired"
    assert running in world.kubectl("get", "workshops", "--field-selector", selector, "--output", "name")
    assert running not in world.kubectl("get", "workshops", "--field-selector", others, "--output", "name")


def test_kubectl_explains_workshops_and_their_fields(world):
    for what, text in (
        ("workshops", "Workshop of one user. The operator runs it in a pod with the same name."),
        ("workshop.spec.owner", "only user that the sidecar admits"),
        ("workshop.status.lastCrash.reason", "If the cluster drained or lost the node"),
    ):
        told = " ".join(world.kubectl("explain", what).split())
        assert text in told, told


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("owner", BOB, "spec.owner: Invalid value: .*the owner cannot change"),
        ("image", f"{IMAGES}/jupyter:test", "spec.image: Invalid value: .*the image cannot change: launch another"),
    ],
)
def test_immutable_field_change_is_rejected(world, running, field, value, sentence):
    before = world.workshop(running)["spec"]
    patch = json.dumps({"spec": {field: value}})
    said = world.kubectl("patch", "workshop", running, "--type=merge", "--patch", patch, check=False)
    assert re.search(sentence, said), said
    assert world.workshop(running)["spec"] == before


# Pod Security.


def test_restricted_profile_runs_in_restricted_namespace(world, running):
    assert enforced(world) == "restricted"
    assert world.workshop(running)["spec"]["securityProfile"] == "restricted"
    assert world.visit(running, ALICE)[0] == 200


def test_baseline_profile_fails_in_restricted_namespace(world):
    name = world.launch(world.template(security_profile="baseline"), BOB)
    reason = world.until(name, "failed")["reason"]
    assert reason["code"] == "invalid-spec"
    says = r'The workshop\'s template has settings that cannot run\. .* violates PodSecurity "restricted'
    assert re.match(says, reason["message"]), reason
    assert reason["remedy"] == "Tell your teacher or an administrator: they must correct the template."
    assert not reason["retryable"]
    world.end(name, BOB)
    world.until(name, "terminated")
    world.until_gone(name)


def test_baseline_profile_runs_in_baseline_namespace():
    with World("baseline", security="baseline") as world:
        assert enforced(world) == "baseline"
        name = world.running(security_profile="baseline")
        assert world.visit(name, ALICE)[0] == 200
        assert_nothing_was_forbidden(world)


def enforced(world):
    namespace = json.loads(world.kubectl("get", "namespace", world.namespace, "--output", "json"))
    return namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]


# Rights of our programs.


def test_service_account_permissions_match_committed_file():
    done = subprocess.run([ROOT / "e2e/cluster/permissions.sh"], capture_output=True, text=True, timeout=60 * PATIENCE)
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


def test_operator_deletes_workload_that_cannot_start(world):
    apply_by_hand(world, workshop("no-command", command=["/no/such/program"]))
    wait_for("no-command to fail", lambda: status(world, "no-command").get("phase") == "Failed", 30)
    wait_for("the workload to be deleted", lambda: not world.workload("no-command"), 60)
    assert (status(world, "no-command")["phase"], status(world, "no-command")["reason"]) == ("Failed", "invalid-spec")


def test_failed_workshop_starts_after_correction(world):
    apply_by_hand(world, workshop("corrected", env={"1ST": "no"}))
    wait_for("corrected to fail", lambda: status(world, "corrected").get("reason") == "invalid-spec", 30)
    assert '"1ST"' in status(world, "corrected")["message"]
    apply_by_hand(world, workshop("corrected"))
    wait_for("corrected to run", lambda: status(world, "corrected").get("phase") == "Running", 30)


def test_every_granted_permission_is_used(world, running):
    everything_that_happens(world, running)
    unused = {account: rights - used(world.calls[account]) - BY_ADMISSION for account, rights in granted().items()}
    assert unused == {"workshop-launcher": set(), "workshop-operator": set()}


def everything_that_happens(world, running):
    """Triggers the API calls that the tests above have not made."""
    apply_by_hand(world, workshop("short", lifetimeSeconds=3))
    apply_by_hand(world, workshop("crash", args=["exit"]))
    # The operator has created the pod before it sees a Deployment with the same name.
    wait_for("crash to have a pod", lambda: world.named("pods", "crash") or status(world, "crash").get("phase") == "Failed", 30)
    apply_by_hand(world, deployment_of(world.workshop("crash")))
    # The workshop starts a second time. The operator must create the Event again, because it may not patch Events.
    world.kubectl("delete", "pod", world.pod(running)["metadata"]["name"], "--wait=false")
    wait_for("the workshop to restart", lambda: status(world, running)["phase"] == "Starting", 40)
    wait_for("the workshop to run again", lambda: status(world, running)["phase"] == "Running", 40)
    # The operator writes the new expiry to the pod.
    code, _, body = world.launcher.request("POST", f"/instances/{running}/extend", ALICE, {})
    assert code == 200, (code, body)
    noted = lambda: world.pod(running)["metadata"]["annotations"]["workshoplauncher.dev/expires-at"]  # noqa: E731
    wait_for("the new expiry in the pod", lambda: parse_time(noted()) == parse_time(body["expires_at"]), 30)
    # The launcher is down during the deletion, so its watch misses it. The launcher must then use the verb `get`.
    world.launcher.kill()
    world.kubectl("delete", "workshop", running)
    world.launcher.start()
    assert world.until(running, "terminated")["end_reason"] == "lost"
    # The cluster provides no volume, so the workshop fails. The launcher deletes the claim with the volume.
    kept = world.launch(world.template(name="kept", storage={"kind": "kept", "path": "/kept"}))
    volume = wait_for("the Workshop", lambda: world.workshop(kept), 30)["spec"]["storage"]["volume"]
    wait_for("the claim", lambda: world.named("persistentvolumeclaims", volume), 30)
    world.until(kept, "failed")
    # A download cannot mount the volume either: the launcher waits 30 seconds for it.
    path = f"/api/v1/volumes/{volume}/download"
    refused = exchange(world.launcher.port, "GET", path, {"X-Auth-Request-Email": ADMIN}, timeout=60)
    assert refused[0] == 503, refused
    wait_for("the download to be deleted", lambda: not world.objects("workshopdownloads"), 30)
    # The operator deletes a download that it cannot serve.
    kind = {"apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "WorkshopDownload", "metadata": {"name": "unknown"}}
    apply_by_hand(world, kind | {"spec": {"volume": "work-unknown", "tokenSha256": "0" * 64}})
    wait_for("the operator to delete the download", lambda: not world.objects("workshopdownloads"), 30)
    code, _, body = world.launcher.request("DELETE", f"/volumes/{volume}")
    assert code in (202, 204), (code, body)
    wait_for("the claim to be deleted", lambda: not world.named("persistentvolumeclaims", volume), 90)
    # The launcher creates a Secret, which the cluster deletes with the Workshop.
    token = {"name": "TOKEN", "label": "Token", "kind": "secret"}
    path = f"/templates/{world.template(name='asks', parameters=[token])}/launch"
    code, _, body = world.launcher.request("POST", path, ALICE, {"parameters": {"TOKEN": "hunter2"}})
    assert code == 201, (code, body)
    asks = body["k8s_name"]
    world.until(asks, "running")
    assert "hunter2" not in json.dumps([body, world.workshop(asks), world.instance(asks)])
    world.kubectl("get", "secret", f"{asks}-parameters")
    world.end(asks)
    world.until(asks, "terminated")
    gone = lambda: "NotFound" in world.kubectl("get", "secret", f"{asks}-parameters", check=False)  # noqa: E731
    wait_for("the Secret to be deleted", gone, 60)
    for name, phase in {"short": "Expired", "crash": "Failed"}.items():
        wait_for(f"{name} to be {phase}", lambda: status(world, name).get("phase") == phase, 40)

    # If the garbage collector is faster, the operator does not delete the Workshop: then try again.
    def is_deleted_by_operator():
        if ("workshops", "delete") in used(world.calls["workshop-operator"]):
            return True
        apply_by_hand(world, workshop("removed"))
        wait_for("removed to run", lambda: status(world, "removed").get("phase") == "Running", 60)
        world.kubectl("delete", "workshop", "removed", "--cascade=foreground")
        return False

    wait_for("the operator to delete a Workshop", is_deleted_by_operator, 120)

    # Start timeout of 8 s: a failing image pull fails the workshop only after 15 s. The workshop therefore fails by
    # timeout, and the operator lists the pod's Events for the reason.
    world.operator.stop()
    world.new_operator(SERVICE_START_TIMEOUT="8").start()
    apply_by_hand(world, workshop("missing", image=f"{IMAGES}/missing:test"))
    wait_for("missing to fail", lambda: status(world, "missing").get("reason") == "start-timeout", 40)


def deployment_of(owner):
    """Returns a Deployment without pods, as an earlier version of the operator created it for this Workshop."""
    name = owner["metadata"]["name"]
    labels = {"app": "workshop", "managed-by": "workshop-launcher", "workshoplauncher.dev/workshop": name}
    reference = {"apiVersion": owner["apiVersion"], "kind": "Workshop", "name": name, "uid": owner["metadata"]["uid"]}
    reference |= {"controller": True, "blockOwnerDeletion": True}
    app = {"name": "app", "image": f"{IMAGES}/http:test"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [app]}}
    spec = {"replicas": 0, "strategy": {"type": "Recreate"}, "selector": {"matchLabels": labels}, "template": pod}
    metadata = {"name": name, "labels": labels, "ownerReferences": [reference]}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def test_programs_log_no_forbidden_requests(world):
    assert_nothing_was_forbidden(world)
