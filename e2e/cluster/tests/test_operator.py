"""The operator is killed or paused: workshops converge to the same result, and each has one workload."""

import os
import random
import signal
import time

import pytest

from census import ObjectRecorder
from harness import ADMIN, wait_for
from settled import killed_operator, until_converged

LEASE_SECONDS = 6
WORLD = {"SERVICE_LEASE_SECONDS": str(LEASE_SECONDS)}
# Pause of several lease durations, so that a standby can take over and work.
PAUSE_SECONDS = 60
ROUNDS = 5
# Upper bounds of the delay before the kill. Each round draws one bound. With the shortest bound, the operator may not
# have seen the launch yet. With the longest bound, the workshop may run already.
LATEST_KILL_SECONDS = (0.1, 0.5, 1, 2.5)


@pytest.fixture(scope="module")
def template(world):
    return world.template()


@pytest.fixture(scope="module")
def rng():
    seed = int(os.environ.get("OPERATOR_SEED") or random.randrange(2**32))
    print(f"OPERATOR_SEED={seed} repeats these moments")
    return random.Random(seed)


def test_workshops_converge_after_operator_is_killed_and_restarted(world, template, rng):
    """In each round one workshop starts and another ends while the operator is killed."""
    running = world.launch(template, ADMIN)
    unrelated_workshop = world.launch(template, ADMIN)
    with ObjectRecorder(world) as recorder:
        until_converged(world, [running, unrelated_workshop])
        for _ in range(ROUNDS):
            starting, ending = world.launch(template, ADMIN), running
            world.end(ending)
            time.sleep(rng.uniform(0, rng.choice(LATEST_KILL_SECONDS)))
            with killed_operator(world):
                pass
            until_converged(world, [starting, unrelated_workshop], [ending])
            recorder.assert_one_each(starting, ending, unrelated_workshop)
            running = starting
        for name in (running, unrelated_workshop):
            world.end(name)
        until_converged(world, ended=[running, unrelated_workshop])


def leads(operator):
    return operator.metrics()["operator_leading"] == 1


def test_paused_leader_becomes_standby(world, template, rng):
    """A standby takes over and works. The old leader resumes in the middle of its work and becomes a standby."""
    old, standby = world.operator, world.new_operator()
    standby.start()
    wait_for("the old operator to lead", lambda: leads(old), 30)
    assert not leads(standby)
    with ObjectRecorder(world) as recorder:
        ending = world.launch(template, ADMIN)
        until_converged(world, [ending])
        interrupted = world.launch(template, ADMIN)
        world.end(ending)
        time.sleep(rng.uniform(0, 0.3))
        old.process.send_signal(signal.SIGSTOP)
        try:
            wakes = time.monotonic() + PAUSE_SECONDS
            wait_for("the standby to lead", lambda: leads(standby), 4 * LEASE_SECONDS)
            launched = world.launch(template, ADMIN)
            until_converged(world, [interrupted, launched], [ending])
            world.end(launched)
            until_converged(world, ended=[launched])
            wait_for("the pause to end", lambda: time.monotonic() > wakes, PAUSE_SECONDS)
        finally:
            old.process.send_signal(signal.SIGCONT)
        wait_for("the old leader to stand by", lambda: not leads(old), 5)
        after = world.launch(template, ADMIN)
        until_converged(world, [interrupted, after])
        assert not (leads(old) and leads(standby))
        standby.kill()
        wait_for("the old leader to lead again", lambda: leads(old), 4 * LEASE_SECONDS)
        world.end(after)
        world.end(interrupted)
        until_converged(world, ended=[after, interrupted])
        recorder.assert_one_each(ending, interrupted, launched, after)
