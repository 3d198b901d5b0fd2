"""Failures from real causes: each owner gets an explanation, all resources are freed, and other workshops are
unaffected."""

import json
import typing

import pytest
from harness import wait_for
from world import APP, IMAGES, World

SETTINGS = {
    "launcher": {"SERVICE_MAX_INSTANCES_PER_USER": "1"},
    "SERVICE_ROOM_GRACE": "6",
    "SERVICE_LOG": "info,launcher_operator=debug",
}
# CPU request that no node of these tests can satisfy.
MUCH_CPU = {"cpu_request": "64", "cpu_limit": "64"}
# Memory quota of the namespace, and memory of the only workshop that exceeds it.
QUOTA, MORE_THAN_QUOTA = "2Gi", {"memory_request": "3Gi", "memory_limit": "3Gi"}


class Cause(typing.NamedTuple):
    """A cause of failure. `message` is the part of the message that comes from the cluster."""

    code: str
    message: str
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


def is_output_of_hog(lines):
    return lines[:1] == ["took 8 MiB"] and len(lines) < 4


CAUSES = {
    "no-image": Cause("image-pull-failed", f"{IMAGES}/missing:test", {"image": f"{IMAGES}/missing:test"}),
    "crash": Cause("crashed", "with exit code 3.", {"args": ["exit", "3"]}, log_tail=is_end_of_exit),
    "no-memory": Cause("out-of-memory", "", {"args": ["hog"], **resources(memory_limit="32Mi")}, log_tail=is_output_of_hog),
    "no-room": Cause("unschedulable", "Insufficient cpu", resources(**MUCH_CPU)),
    "no-quota": Cause("quota-exceeded", "exceeded quota: room", resources(**MORE_THAN_QUOTA)),
    "no-command": Cause("invalid-spec", "/no/such/program", {"command": ["/no/such/program"]}),
    "evicted": Cause("evicted", "", after_running=evict),
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
    assert (reason["code"], failed["url"]) == (expected.code, None)
    assert expected.message in reason["message"] and reason["remedy"], reason
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
