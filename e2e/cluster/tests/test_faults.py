"""The API server fails the writes of launcher and operator, with every fault of the proxy: the state converges, no
object is duplicated, and no workshop ends by mistake."""

import json

import pytest

import faults
from census import ObjectRecorder
from faulty import assert_still_runs, stop_faults_after_test, template, unrelated_workshop, world
from harness import ADMIN, wait_for
from settled import until_ended
from world import expires_at, parse_time

FAULTS = [faults.CONFLICT, faults.TOO_MANY, faults.BROKEN, faults.DONE_BUT_504, faults.DONE_BUT_RESET, faults.RESET]


def extend(world, name):
    """Extends the instance and waits until the Workshop has the new expiry."""
    status, _, extended = world.launcher.request("POST", f"/instances/{name}/extend", body={})
    assert status == 200, (status, extended)
    wait_for("the extension", lambda: expires_at(world.workshop(name)) == parse_time(extended["expires_at"]), 45)


@pytest.mark.parametrize("fault", FAULTS)
def test_failed_writes_are_retried(world, unrelated_workshop, fault):
    """Runs one workshop from launch to end; each kind of write fails twice, and the creation of the pod once."""
    rules = [world.to_launcher.inject(fault, f"{verb} workshops", 2, "unlucky") for verb in ("PATCH", "DELETE")]
    written = ["services", "ingresses", "workshops/status"]
    rules += [world.to_operator.inject(fault, f"PATCH {what}", 2, "unlucky") for what in written]
    # Only once: if the first call created the pod, there is no second one.
    rules.append(world.to_operator.inject(fault, "POST pods", 1, "unlucky"))
    with ObjectRecorder(world) as recorder:
        name = world.launch(world.template(name="unlucky"), ADMIN)
        world.until(name, "running")
        extend(world, name)
        world.end(name)
        assert until_ended(world, name)["end_reason"] == "owner"
        recorder.assert_one_each(name)
    wait_for("each fault to be injected", lambda: not any(rule.left for rule in rules), 10)
    assert_still_runs(world, unrelated_workshop)


def test_unanswered_writes_are_retried(world, template, unrelated_workshop):
    """The programs time out and repeat the writes."""
    names = [world.template(name=name) for name in ("mute launcher", "mute operator")]
    rules = [
        world.to_launcher.inject(faults.HANG, "PATCH workshops", 1, "mute-launcher"),
        world.to_launcher.inject(faults.HANG, "DELETE workshops", 1, "mute-launcher"),
        world.to_operator.inject(faults.HANG, "POST pods", 1, "mute-operator"),
    ]
    with ObjectRecorder(world) as recorder:
        names = [world.launch(one, ADMIN) for one in names]
        for name in names:
            world.until(name, "running")
            world.end(name)
        for name in names:
            until_ended(world, name)
        recorder.assert_one_each(*names)
    assert [rule.injected for rule in rules] == [1, 1, 1]
    assert_still_runs(world, unrelated_workshop)


def test_instance_stays_terminating_while_delete_is_refused(world, template):
    """A row never becomes `terminated` while its Workshop exists, for any answer of the API server to the delete."""
    name = world.launch(template, ADMIN)
    world.until(name, "running")
    refused = world.to_launcher.inject(faults.CONFLICT, "DELETE workshops", 4, name)
    also = world.to_launcher.inject(faults.BROKEN, "GET workshops", 1, name)
    world.end(name)

    def all_refused():
        seen = (world.instance(name)["state"], world.workshop(name) is not None)
        assert seen == ("terminating", True) or not refused.left, seen
        return not refused.left

    wait_for("all requests to be refused", all_refused, 60)
    assert (refused.injected, also.injected) == (4, 1)
    until_ended(world, name)


@pytest.mark.parametrize("fault", [faults.BROKEN, faults.HANG])
def test_failing_delete_does_not_block_other_workshops(world, template, unrelated_workshop, fault):
    """Other workshops start and end while the launcher cannot delete an orphaned Workshop."""
    there = world.workshop(unrelated_workshop[0])
    metadata = {"name": "stray", "labels": there["metadata"]["labels"]}
    refused = world.to_launcher.inject(fault, "DELETE workshops", 1000, "stray")
    world.apply({"apiVersion": there["apiVersion"], "kind": "Workshop", "metadata": metadata, "spec": there["spec"]})
    wait_for("the deletion of the orphaned Workshop to be refused", lambda: refused.injected, 30)
    name = world.launch(template, ADMIN)
    world.until(name, "running")
    world.end(name)
    until_ended(world, name)
    assert world.workshop("stray")
    world.stop_faults()
    world.until_gone("stray", 90)


@pytest.mark.parametrize("fault", [faults.CONFLICT, faults.TOO_MANY, faults.BROKEN, faults.DONE_BUT_504, faults.RESET])
def test_leader_keeps_lease_after_one_failed_renewal(world, fault):
    """The leader renews its lease by a retry before the lease expires, and lists no objects again."""
    before = lease(world)
    rule = world.to_operator.inject(fault, "PUT leases", 1, "workshop-operator")
    wait_for("the fault to be injected", lambda: rule.injected, 20)
    then = lease(world)
    renewed = lambda: lease(world)["renewTime"] > then["renewTime"] and lease(world)["holderIdentity"]
    wait_for("the lease to be renewed", renewed, 20)
    assert lease(world)["leaseTransitions"] == before["leaseTransitions"], "the leader gave up the lease"


def lease(world):
    return json.loads(world.kubectl("get", "lease", "workshop-operator", "--output", "json"))["spec"]
