"""The operator is down or paused: workshops converge to the same result, and each has one workload."""

import json
import signal

import pytest
from census import ObjectRecorder
from harness import ADMIN, wait_for
from world import LONG_AGO

WORLD = {"SERVICE_LEASE_SECONDS": "6"}


@pytest.fixture(scope="module")
def template(world):
    return world.template()


def test_changes_made_during_operator_downtime_are_applied_after_restart(world, template):
    """Without an operator, one workshop expires, one is ended, one is launched, and one loses its Service."""
    ending, kept = (world.launch(template, ADMIN) for _ in range(2))
    world.until_converged([ending, kept])
    with world.by_hand("expiring") as expiring, ObjectRecorder(world) as recorder:
        world.until_phase(expiring, "Running")
        with world.killed_operator():
            world.end(ending)
            launched = world.launch(template, ADMIN)
            world.kubectl("delete", "service", kept)
            over = json.dumps({"spec": {"expiresAt": LONG_AGO}})
            world.kubectl("patch", "workshop", expiring, "--type=merge", "--patch", over)
            assert world.of_workshop("pods", expiring), "expected that only the operator ends the workshop"
        world.until_converged([launched, kept], [ending])
        world.until_phase(expiring, "Expired")
        world.until_no_workload(expiring)
        assert world.visit(kept, ADMIN)[0] == 200
        recorder.assert_one_each(expiring, ending, launched, kept)
    world.end(launched, kept)
    world.until_ended(launched, kept)


def leads(operator):
    return operator.metrics()["operator_leading"] == 1


def test_paused_leader_becomes_standby(world, template):
    """A standby takes over and works. The old leader resumes in the middle of its work and becomes a standby."""
    old, standby = world.operator, world.new_operator()
    standby.start()
    wait_for("the old operator to lead", lambda: leads(old))
    ending = world.launch(template, ADMIN)
    world.until_converged([ending])
    with ObjectRecorder(world) as recorder:
        interrupted = world.launch(template, ADMIN)
        world.end(ending)
        # The old leader has begun its work.
        wait_for("the Workshop", lambda: world.workshop(interrupted))
        old.process.send_signal(signal.SIGSTOP)
        try:
            wait_for("the standby to lead", lambda: leads(standby))
            launched = world.launch(template, ADMIN)
            world.until_converged([interrupted, launched], [ending])
            world.end(launched)
            world.until_ended(launched)
        finally:
            old.process.send_signal(signal.SIGCONT)
        wait_for("the old leader to stand by", lambda: not leads(old))
        after = world.launch(template, ADMIN)
        world.until_converged([interrupted, after])
        assert not (leads(old) and leads(standby))
        world.end(after, interrupted)
        world.until_ended(after, interrupted)
        recorder.assert_one_each(ending, interrupted, launched, after)
