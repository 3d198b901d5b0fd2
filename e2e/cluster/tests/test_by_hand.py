"""Manual changes to the cluster: rows and cluster converge, and no workshop ends by mistake."""

import contextlib
import json

import pytest

from census import ObjectRecorder
from harness import ADMIN, wait_for
from settled import phase
from world import ALICE, APP, IMAGES

LABELS = {"app": "workshop", "managed-by": "workshop-launcher"}


@pytest.fixture(scope="module")
def template(world):
    return world.template()


@pytest.fixture
def running(world, template):
    """A running workshop. Its pod still terminates when the next test starts."""
    name = world.launch(template, ADMIN)
    world.until(name, "running")
    yield name
    world.end(name)


@contextlib.contextmanager
def launcher_down(world, is_down):
    """Stops the launcher for the duration of the block if `is_down`; it must detect manual changes in both cases."""
    if is_down:
        world.launcher.stop()
    try:
        yield
    finally:
        if is_down:
            world.launcher.start()


def down_or_up(test):
    """Runs a test twice: with the launcher running, and with the launcher stopped."""
    return pytest.mark.parametrize("is_down", [False, True], ids=["launcher up", "launcher down"])(test)


def by_hand(name, labels=None):
    """Returns a Workshop as an administrator would write it by hand."""
    spec = {"owner": ALICE, "image": f"{IMAGES}/http:test", "appType": "custom", "port": 8888, "args": ["serve"]}
    spec["resources"] = {"cpuRequest": "5m", "cpuLimit": "1", "memoryRequest": "16Mi", "memoryLimit": "64Mi"}
    spec |= {"securityProfile": "restricted", "lifetimeSeconds": 3600}
    metadata = {"name": name, "labels": labels or {}}
    return {"apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop", "metadata": metadata, "spec": spec}


def until_uid_changes(world, kind, name, before):
    """Waits until another object has this name; returns it."""

    def look():
        found = world.named(kind, name)
        return found if found and found["metadata"]["uid"] != before else None

    return wait_for(f"the {kind} {name} to be recreated", look, 30)


def uid_of(world, kind, name):
    return world.kubectl("get", kind, name, "--output", "jsonpath={.metadata.uid}")


@down_or_up
def test_deleted_workshop_ends_as_lost(world, running, is_down):
    with launcher_down(world, is_down):
        world.kubectl("delete", "workshop", running)
    ended = world.until(running, "terminated", seconds=30)
    assert (ended["end_reason"], ended["url"]) == ("lost", None)
    world.until_gone(running)


@pytest.mark.parametrize("kind", ["services", "ingresses"])
def test_deleted_service_or_ingress_is_recreated(world, running, kind):
    pod, before = world.pod(running)["metadata"]["uid"], uid_of(world, kind, running)
    world.kubectl("delete", kind, running)
    until_uid_changes(world, kind, running, before)
    assert world.visit(running, ALICE)[0] == 403, "expected the admin as the owner"
    assert world.visit(running, ADMIN)[0] == 200
    assert world.pod(running)["metadata"]["uid"] == pod, "the workshop restarted"
    assert world.instance(running)["state"] == "running"


@pytest.mark.parametrize("is_down", [False, True], ids=["operator up", "operator down"])
def test_deleted_pod_is_recreated(world, running, is_down):
    pod = world.pod(running)["metadata"]
    if is_down:
        world.operator.kill()
    world.kubectl("delete", "pod", pod["name"], "--grace-period=1")
    if is_down:
        world.operator.start()
    until_answers_from_another_pod(world, running, pod["uid"])


def until_answers_from_another_pod(world, name, before):
    """Waits until the workshop runs again, in another pod, and checks that its expiry is unchanged."""
    before_expiry = world.instance(name)["expires_at"]

    def look():
        pods = world.of_workshop("pods", name)
        uids = [pod["metadata"]["uid"] for pod in pods]
        return len(uids) == 1 and uids != [before] and world.workshop(name)["status"]["phase"] == "Running"

    wait_for(f"{name} to run in another pod", look, 60)
    # The phase Running may still be that of the old pod. Wait until the app in the new pod answers.
    world.until_app_answers(name, ADMIN)
    instance = world.instance(name)
    assert (instance["state"], instance["expires_at"]) == ("running", before_expiry)


@down_or_up
@pytest.mark.parametrize(
    "change",
    [{"lifetimeSeconds": 60}, {"expiresAt": "2000-01-01T00:00:00Z", "lifetimeSeconds": 60}],
    ids=["shorter lifetime", "past expiry"],
)
def test_changed_lifetime_is_reverted_or_enforced(world, running, is_down, change):
    """The launcher reverts a shortened lifetime. A past expiry is reverted, or ends the workshop as expired."""
    before = world.workshop(running)["spec"]
    with launcher_down(world, is_down):
        world.kubectl("patch", "workshop", running, "--type=merge", "--patch", json.dumps({"spec": change}))
    if "expiresAt" in change:
        # Both results are correct: the launcher restores the spec first, or the operator ends the workshop first.
        wait_for("the Workshop to be restored or to expire", lambda: restored_or_expired(world, running, before), 60)
    else:
        wait_for("the Workshop's spec to be restored", lambda: world.workshop(running)["spec"] == before, 30)
        assert world.instance(running)["state"] == "running"


def restored_or_expired(world, name, before):
    """Returns True if row and cluster agree: both as before, or both ended."""
    instance, workshop = world.instance(name), world.workshop(name)
    if instance["state"] == "running":
        return workshop and workshop["spec"] == before and workshop["status"]["phase"] == "Running"
    return instance["state"] == "terminated" and instance["end_reason"] == "expired" and not workshop


@down_or_up
def test_changed_arguments_are_reverted(world, running, is_down):
    before = world.workshop(running)["spec"]
    with launcher_down(world, is_down):
        world.kubectl("patch", "workshop", running, "--type=merge", "--patch", '{"spec": {"args": ["serve", "8899"]}}')
    wait_for("the Workshop's spec to be restored", lambda: world.workshop(running)["spec"] == before, 30)
    wait_for("the app to run with the original arguments", lambda: runs_only(world, running, APP["args"]), 60)
    world.until_app_answers(running, ADMIN)
    assert world.instance(running)["state"] == "running"


def runs_only(world, name, args):
    """Returns True if there is exactly one pod, ready, whose app has these arguments."""
    pods = world.of_workshop("pods", name)
    apps = [container for pod in pods for container in pod["spec"]["containers"] if container["name"] == "app"]
    return [app.get("args") for app in apps] == [args] and phase(world, name) == "Running"


@down_or_up
def test_removed_workshop_label_is_restored(world, running, is_down):
    pod = world.pod(running)["metadata"]["uid"]
    with launcher_down(world, is_down):
        world.kubectl("label", "workshop", running, "managed-by-", "app=other", "--overwrite")
    wait_for("the labels to be restored", lambda: world.workshop(running)["metadata"]["labels"] == LABELS, 30)
    assert world.pod(running)["metadata"]["uid"] == pod
    assert world.instance(running)["state"] == "running"


def test_removed_labels_of_workload_objects_are_restored(world, running):
    pod = world.pod(running)["metadata"]["uid"]
    for kind in ("pod", "service", "ingress"):
        world.kubectl("label", kind, running, "managed-by-")
        wait_for(f"the label of the {kind} to be restored", lambda kind=kind: labelled(world, kind, running), 30)
    assert world.pod(running)["metadata"]["uid"] == pod
    assert world.instance(running)["state"] == "running"


def labelled(world, kind, name):
    labels = json.loads(world.kubectl("get", kind, name, "--output", "json"))["metadata"]["labels"]
    return labels.items() >= LABELS.items()


@down_or_up
def test_workshop_without_launcher_labels_is_ignored(world, template, is_down):
    name = f"somebodys-{'down' if is_down else 'up'}"
    with ObjectRecorder(world) as recorder:
        with launcher_down(world, is_down):
            world.apply(by_hand(name))
        wait_for(f"{name} to run", lambda: phase(world, name) == "Running", 60)
        # An orphaned Workshop, created later. When the launcher has deleted it, it has also seen the first Workshop.
        stray = f"stray-of-{name}"
        world.apply(by_hand(stray, LABELS))
        world.until_gone(stray)
        assert phase(world, name) == "Running"
        assert world.visit(name, ALICE)[0] == 200
        recorder.assert_one_each(name)
    rows = {row["k8s_name"] for row in world.launcher.request("GET", "/instances/?state=all")[2]}
    assert not rows & {name, stray}
    world.kubectl("delete", "workshop", name)
    world.until_gone(name)


@down_or_up
def test_orphaned_workshop_is_deleted(world, running, is_down):
    with launcher_down(world, is_down):
        world.apply(by_hand("nobodys", LABELS))
    world.until_gone("nobodys")
    assert world.instance(running)["state"] == "running"


@down_or_up
def test_recreated_workshop_is_deleted_and_instance_lost(world, running, is_down):
    """The recreated Workshop lacks the work of the old one: the row ends as lost, and the new Workshop is deleted."""
    workshop = world.workshop(running)
    again = by_hand(running, LABELS) | {"spec": workshop["spec"]}
    with launcher_down(world, is_down):
        world.kubectl("delete", "workshop", running, "--cascade=foreground")
        world.apply(again)
    ended = world.until(running, "terminated", seconds=60)
    assert ended["end_reason"] == "lost"
    world.until_gone(running)
