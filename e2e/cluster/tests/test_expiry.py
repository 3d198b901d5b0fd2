"""Workshops that expire while the operator is killed or down: they still end, and no other workshop ends."""

import os
import random

from census import ObjectRecorder
from harness import ADMIN, wait_for
from settled import killed_operator, until_converged
from world import seconds_from_now

WORLD = {"SERVICE_LEASE_SECONDS": "6"}
SHORT = {"lifetime_seconds": 60, "extension_seconds": 60, "max_lifetime_seconds": 120}


def until_expiry(world, name, offset=0):
    """Waits until `offset` seconds after the workshop's expiry; a negative offset is before it."""
    expires_at = world.instance(name)["expires_at"]
    wait_for(f"the expiry of {name}", lambda: seconds_from_now(expires_at) <= -offset, 90)


def test_workshop_expires_despite_operator_kill(world):
    expiring = world.launch(world.template(**SHORT), ADMIN)
    seed = int(os.environ.get("EXPIRY_SEED") or random.randrange(2**32))
    moment = random.Random(seed).uniform(-0.5, 0.5)
    print(f"EXPIRY_SEED={seed} repeats this moment: {moment:+.3f} seconds after the expiry")
    with ObjectRecorder(world) as recorder:
        world.until(expiring, "running")
        until_expiry(world, expiring, moment)
        with killed_operator(world):
            pass
        until_converged(world, ended=[expiring])
        assert world.instance(expiring)["end_reason"] == "expired"
        recorder.assert_one_each(expiring)


def test_changes_made_during_operator_downtime_are_applied_after_restart(world):
    """Without an operator, one workshop expires, one is ended, one is launched, and one loses its Service."""
    template = world.template()
    ending, kept = (world.launch(template, ADMIN) for _ in range(2))
    with ObjectRecorder(world) as recorder:
        until_converged(world, [ending, kept])
        # It is launched last, so that it does not expire while the others start.
        expiring = world.launch(world.template(**SHORT), ADMIN)
        until_converged(world, [expiring])
        until_expiry(world, expiring, -10)
        with killed_operator(world):
            world.end(ending)
            launched = world.launch(template, ADMIN)
            world.kubectl("delete", "service", kept)
            until_expiry(world, expiring)
            assert world.of_workshop("pods", expiring), "expected that only the operator ends the workshop"
        until_converged(world, [launched, kept], [expiring, ending])
        assert world.instance(expiring)["end_reason"] == "expired"
        assert world.visit(kept, ADMIN)[0] == 200
        recorder.assert_one_each(expiring, ending, launched, kept)
    for name in (launched, kept):
        world.end(name)
    until_converged(world, ended=[launched, kept])
