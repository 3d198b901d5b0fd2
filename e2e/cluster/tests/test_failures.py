"""Failures from real causes: each owner gets an explanation, all resources are freed, and other workshops are
unaffected."""

import json
import re
import typing

import pytest
from harness import wait_for
from world import APP, IMAGES, World

# The start timeout in seconds is short for a test, but every other workshop here fails earlier, by its own cause.
SETTINGS = {
    "launcher": {"SERVICE_MAX_INSTANCES_PER_USER": "1"},
    "SERVICE_START_TIMEOUT": "45",
    "SERVICE_ROOM_GRACE": "6",
    "SERVICE_LOG": "info,launcher_operator=debug",
}
# CPU request that no node of these tests can satisfy.
MUCH_CPU = {"cpu_request": "64", "cpu_limit": "64"}
# Memory quota of the namespace, and memory of the only workshop that exceeds it.
QUOTA, MORE_THAN_QUOTA = "2Gi", {"memory_request": "3Gi", "memory_limit": "3Gi"}
TELL = "Tell your teacher or an administrator"


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


def is_end_of_exit(lines):
    """Returns True if these are the last 20 lines of the crashing app's output. The line `fatal: …` comes from another
    stream, so it may be any of these lines."""
    said = [line for line in lines if not line.startswith("fatal: ")]
    last = [f"line {number} of an app that is about to crash" for number in range(31 - len(said), 31)]
    return len(lines) == 20 and said == last


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
    with World("failures", **SETTINGS) as made:
        metadata, hard = {"name": "room"}, {"requests.memory": QUOTA}
        made.apply({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard}})
        # Until its use is counted, a new quota refuses all pods.
        wait_for("the quota to be counted", lambda: made.jsonpath("resourcequota", "room", "{.status.used}"))
        yield made


@pytest.fixture(scope="module")
def launched(world):
    """Launches a workshop without a fault, and one workshop for each cause, with separate owners, all at the same time.
    Returns {cause: name}, and the pod of the healthy one."""
    healthy = world.running(email="healthy@example.org")
    names = {cause: world.launch(world.template(**what.changes), owner(cause)) for cause, what in CAUSES.items()}
    # No node has room for this template, so that its instances use no node.
    return names | {"healthy": healthy}, world.pod(healthy), world.template(**resources(**MUCH_CPU))


@pytest.mark.parametrize("cause", CAUSES)
def test_failed_workshop_is_explained_and_frees_resources(world, launched, cause):
    names, _, another = launched
    name, expected = names[cause], CAUSES[cause]
    if expected.after_running:
        world.until(name, "running")
        problem = world.ask(409, "POST", f"/templates/{another}/launch", owner(cause), {})
        assert problem["code"] == "instance-limit-reached"
        expected.after_running(world, name)

    failed = world.until(name, "failed")
    reason = failed["reason"]
    assert reason["code"] == expected.code
    assert re.match(expected.message, reason["message"]), reason["message"]
    assert re.match(expected.remedy, reason["remedy"]), reason["remedy"]
    assert failed["url"] is None
    lines = (failed["log_tail"] or "").splitlines()
    assert expected.log_tail(lines) if expected.log_tail else not lines, lines

    # The failed instance remains readable, but its workload is deleted, and its owner may launch another workshop.
    world.until_no_workload(name)
    world.end(world.launch(another, owner(cause)), email=owner(cause))
    assert world.instance(name)["state"] == "failed"
    world.end(name, email=owner(cause))
    ended = world.until_ended(name)
    assert (ended["end_reason"], ended["reason"]) == ("failed", reason)


def test_failures_do_not_affect_other_workshops(world, launched):
    names, before, _ = launched
    for cause in CAUSES:
        if not CAUSES[cause].after_running:
            wait_for(f"{cause} to fail", lambda cause=cause: world.instance(names[cause])["state"] in ("failed", "terminated"))
    name = names["healthy"]
    assert (world.instance(name)["state"], world.uid(name)) == ("running", before["metadata"]["uid"])
    assert world.restarts(name) == {"app": 0, "sidecar": 0}
    assert world.visit(name, "healthy@example.org")[0] == 200
    world.assert_nothing_was_forbidden()
