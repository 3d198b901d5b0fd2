"""Failures from real causes: each owner gets an explanation, all resources are freed, and other workshops are
unaffected."""

import json
import re
import typing

import pytest
from harness import PATIENCE, wait_for
from world import APP, IMAGES, World, assert_nothing_was_forbidden

# Seconds. The start timeout is short for a test, but every workshop here fails earlier, by its own cause.
START_TIMEOUT, ROOM_GRACE = 45 * PATIENCE, 6
SETTINGS = {
    "SERVICE_START_TIMEOUT": str(START_TIMEOUT),
    "SERVICE_ROOM_GRACE": str(ROOM_GRACE),
    "SERVICE_LOG": "info,launcher_operator=debug",
}
# CPU request that no node of these tests can satisfy.
MUCH_CPU = {"cpu_request": "64", "cpu_limit": "64"}
# Memory quota of the namespace, and memory of the only workshop that exceeds it.
QUOTA, MORE_THAN_QUOTA = "2Gi", {"memory_request": "3Gi", "memory_limit": "3Gi"}
TELL = "Tell your teacher or an administrator"


class OneEach(World):
    """A world with a limit of one workshop per user."""

    def new_launcher(self, server=None, **settings):
        return super().new_launcher(server, **{"SERVICE_MAX_INSTANCES_PER_USER": "1"} | settings)


class Cause(typing.NamedTuple):
    """A cause of failure. `message` and `remedy` are patterns for the beginning of the texts that the owner reads."""

    code: str
    message: str
    remedy: str
    changes: dict = {}
    after_running: typing.Callable | None = None
    log_tail: typing.Callable | None = None


def resources(**changes):
    return {"resources": APP["resources"] | changes}


def evict(world, name):
    """Evicts the pod through the API, as a drain of its node does."""
    pod = world.pod(name)["metadata"]["name"]
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": world.namespace}}
    path = f"/api/v1/namespaces/{world.namespace}/pods/{pod}/eviction"
    world.kubectl("create", "--raw", path, "--filename", "-", input=json.dumps(eviction))


def lose_node(world, name):
    """Writes the pod condition that the cluster writes for a lost node. The test cluster cannot lose its only node."""
    lost = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    patch = json.dumps({"status": {"conditions": [lost]}})
    pod = world.pod(name)["metadata"]["name"]

    def is_read():
        # Patch repeatedly, because the pod's kubelet still runs and may overwrite the condition.
        world.kubectl("patch", "pod", pod, "--subresource=status", "--patch", patch, check=False)
        return world.instance(name)["state"] != "running"

    wait_for("the row to be failed", is_read, 30)


def is_end_of_exit(lines):
    """Returns True if these are the last 20 lines of the crashing app's output. The line `fatal: …` comes from another
    stream, so it may be any of these lines."""
    said = [line for line in lines if not line.startswith("fatal: ")]
    last = [f"line {number} of an app that is about to crash" for number in range(31 - len(said), 31)]
    return len(lines) == 20 and said == last


def nothing(lines):
    return not lines


CAUSES = {
    "no-image": Cause(
        "image-pull-failed",
        rf"The cluster could not download the workshop's image\. .*{IMAGES}/missing:test",
        f"{TELL}: the template names a wrong image",
        {"image": f"{IMAGES}/missing:test"},
    ),
    "crash": Cause(
        "crashed",
        r"The workshop's program stopped unexpectedly\. The app terminated repeatedly with exit code 3\.$",
        r"Files that were not saved elsewhere are lost\. Launch it again, or show its output",
        {"args": ["exit", "3"]},
        log_tail=is_end_of_exit,
    ),
    "no-memory": Cause(
        "out-of-memory",
        r"The workshop exceeded its memory limit\.$",
        r"Files that were not saved elsewhere are lost\. Launch it again and load less data",
        {"args": ["hog"], **resources(memory_limit="32Mi")},
        log_tail=lambda lines: lines[:1] == ["took 8 MiB"] and len(lines) < 4,
    ),
    "no-room": Cause(
        "unschedulable",
        r"The cluster has no free capacity for this workshop right now\. .*Insufficient cpu",
        "Try again in a few minutes",
        resources(**MUCH_CPU),
    ),
    "no-quota": Cause(
        "quota-exceeded",
        r"The quota for workshops is used up\. .*exceeded quota: room",
        "Try again when other workshops have ended",
        resources(**MORE_THAN_QUOTA),
    ),
    "no-command": Cause(
        "invalid-spec",
        r"The workshop's template has settings that cannot run\. .*/no/such/program",
        f"{TELL}: they must correct the template",
        {"command": ["/no/such/program"]},
    ),
    "evicted": Cause(
        "evicted",
        r"The cluster stopped the workshop, for example because its node was drained or ran short of memory or disk\.",
        r"Files that were not saved elsewhere are lost\. Launch it again\.$",
        after_running=evict,
    ),
    "node-lost": Cause(
        "node-lost",
        r"The cluster lost the node of this workshop\.",
        r"Files that were not saved elsewhere are lost\. Launch it again\.$",
        after_running=lose_node,
    ),
    "no-answer": Cause(
        "start-timeout",
        r"The workshop did not become ready in time\. The app runs but does not answer on its port\.$",
        r"Launch it again\. If it is slow again",
        {"args": ["silent"]},
    ),
}


def owner(cause):
    return f"{cause}@example.org"


@pytest.fixture(scope="module")
def world():
    with OneEach("failures", **SETTINGS) as made:
        metadata, hard = {"name": "room"}, {"requests.memory": QUOTA}
        made.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard}})
        # Until its use is counted, a new quota refuses all pods.
        used = ("get", "resourcequota", "room", "--output", "jsonpath={.status.used}")
        wait_for("the quota to be counted", lambda: made.kubectl(*used), 30)
        yield made


@pytest.fixture(scope="module")
def healthy(world):
    """A workshop without a fault, and its pod."""
    name = world.running(email="healthy@example.org")
    return name, world.pod(name)


@pytest.fixture(scope="module")
def launched(world, healthy):
    """Launches one workshop for each cause, with separate owners, all at the same time."""
    return {name: world.launch(world.template(**cause.changes), owner(name)) for name, cause in CAUSES.items()}


@pytest.fixture(scope="module")
def another(world, launched):
    """A template that no node has room for, so that its instances use no node."""
    return world.template(**resources(**MUCH_CPU))


def launch_status(world, template, email):
    status, _, body = world.launcher.request("POST", f"/templates/{template}/launch", email, {})
    return status, body


@pytest.mark.parametrize("cause", CAUSES)
def test_failed_workshop_is_explained_and_frees_resources(world, launched, another, cause):
    name, expected = launched[cause], CAUSES[cause]
    if expected.after_running:
        world.until(name, "running")
        status, problem = launch_status(world, another, owner(cause))
        assert (status, problem["code"]) == (409, "instance-limit-reached")
        expected.after_running(world, name)

    failed = world.until(name, "failed", START_TIMEOUT + 30)
    reason = failed["reason"]
    assert reason["code"] == expected.code
    assert re.match(expected.message, reason["message"]), reason["message"]
    assert re.match(expected.remedy, reason["remedy"]), reason["remedy"]
    assert failed["url"] is None
    assert (expected.log_tail or nothing)((failed["log_tail"] or "").splitlines()), failed["log_tail"]

    # The failed instance remains readable, but its workload is deleted, and its owner may launch another workshop.
    wait_for(f"the workload of {name} to be deleted", lambda: not world.workload(name), 60)
    status, next_one = launch_status(world, another, owner(cause))
    assert status == 201, next_one
    world.end(next_one["k8s_name"], owner(cause))
    assert world.instance(name)["state"] == "failed"

    world.end(name, owner(cause))
    ended = world.until(name, "terminated")
    assert ended["end_reason"] == "failed"
    assert ended["reason"] == reason
    assert world.workshop(name) is None
    assert world.workload(name) == []


def test_failures_do_not_affect_other_workshops(world, healthy, launched):
    name, before = healthy
    assert world.instance(name)["state"] == "running"
    after = world.pod(name)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert [one["restartCount"] for one in after["status"]["containerStatuses"]] == [0, 0]
    assert world.visit(name, "healthy@example.org")[0] == 200


def test_start_timeout_reports_last_warning(world):
    # No node has enough CPU: the scheduler warns at once. The start timeout ends before the time to wait for a node.
    settings = SETTINGS | {"SERVICE_START_TIMEOUT": str(8 * PATIENCE), "SERVICE_ROOM_GRACE": "300"}
    with World("impatient", **settings) as impatient:
        name = impatient.launch(impatient.template(**resources(**MUCH_CPU)))
        reason = impatient.until(name, "failed")["reason"]
        assert reason["code"] == "start-timeout"
        assert re.match(r"The workshop did not become ready in time\. .*Insufficient cpu", reason["message"]), reason
        assert_nothing_was_forbidden(impatient)


def test_programs_log_no_forbidden_requests(world, launched):
    assert_nothing_was_forbidden(world)
