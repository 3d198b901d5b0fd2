"""The operator is killed or paused: workshops converge to the same result, and each has one workload."""

import json
import random
import signal
import time

import pytest
from census import ObjectRecorder
from harness import ADMIN, seed_of, wait_for
from world import LONG_AGO

WORLD = {"SERVICE_LEASE_SECONDS": "6"}
# Upper bounds of the delay before the kill, one for each round. With the shortest bound, the operator may not have seen
# the launch yet. With the longest bound, the workshop may run already.
LATEST_KILL_SECONDS = (0.2, 2.5)


@pytest.fixture(scope="module")
def template(world):
    return world.template()


@pytest.fixture(scope="module")
def rng():
    return random.Random(seed_of("OPERATOR_SEED"))


def test_workshops_converge_after_operator_is_killed_and_restarted(world, template, rng):
    """In each round one workshop starts and another ends while the operator is killed."""
    running, unrelated = world.launch(template, ADMIN), world.launch(template, ADMIN)
    world.until_converged([running, unrelated])
    with ObjectRecorder(world) as recorder:
        for latest in LATEST_KILL_SECONDS:
            starting, ending = world.launch(template, ADMIN), running
            world.end(ending)
            time.sleep(rng.uniform(0, latest))  # pacing: the random moment of a kill, from a seed
            with world.killed_operator():
                pass
            world.until_converged([starting, unrelated], [ending])
            recorder.assert_one_each(starting, ending, unrelated)
            running = starting
    world.end(running, unrelated)
    world.until_ended(running, unrelated)


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
        standby.kill()
        wait_for("the old leader to lead again", lambda: leads(old))
        world.end(after, interrupted)
        world.until_ended(after, interrupted)
        recorder.assert_one_each(ending, interrupted, launched, after)
