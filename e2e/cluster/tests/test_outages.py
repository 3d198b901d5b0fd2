"""The API server drops watches, refuses the Lease, is unreachable, or fails in all ways at once: the state converges,
no object is duplicated, and no workshop ends by mistake."""

import os
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

import faults
from census import ObjectRecorder
from faulty import assert_still_runs, stop_faults_after_test, template, unrelated_workshop, world
from harness import ADMIN, wait_for
from settled import until_ended

STORM_LAUNCHES = 12
STORM_CHANCE = 0.3


def test_changes_made_during_broken_watches_are_applied(world, template, unrelated_workshop):
    """All watches are cut and their resource versions expire: the programs still detect later changes."""
    watched = ["workshops", "deployments", "services", "ingresses", "pods"]
    rules = [world.to_operator.inject(faults.EXPIRED, f"WATCH {kind}") for kind in watched]
    rules.append(world.to_launcher.inject(faults.EXPIRED, "WATCH workshops"))
    lost, ended = (world.launch(template, ADMIN) for _ in range(2))
    with ObjectRecorder(world) as recorder:
        world.to_operator.drop_watches(at_least=5)
        world.to_launcher.drop_watches(at_least=1)
        for name in (lost, ended):
            world.until(name, "running")
        world.to_launcher.drop_watches(at_least=1)
        world.kubectl("delete", "workshop", lost, "--wait=false")
        world.end(ended)
        assert world.until(lost, "terminated")["end_reason"] == "lost"
        assert until_ended(world, ended)["end_reason"] == "owner"
        world.until_gone(lost)
        recorder.assert_one_each(ended, lost)
    wait_for("every watch to expire once", lambda: all(rule.injected == 1 for rule in rules), 30)
    assert_still_runs(world, unrelated_workshop)


def test_deletion_during_watch_outage_is_seen(world, template, unrelated_workshop):
    """A Workshop is deleted while the launcher's watch is down: the next list shows it."""
    name = world.launch(template, ADMIN)
    world.until(name, "running")
    down = world.to_launcher.inject(faults.BROKEN, "WATCH workshops", 2)
    unlisted = world.to_launcher.inject(faults.BROKEN, "LIST workshops", 2)
    world.to_launcher.drop_watches(at_least=1)
    world.kubectl("delete", "workshop", name)
    assert world.until(name, "terminated")["end_reason"] == "lost"
    assert down.injected + unlisted.injected >= 2
    assert_still_runs(world, unrelated_workshop)


@pytest.mark.parametrize("fault", [faults.CONFLICT, faults.BROKEN, faults.DONE_BUT_504, faults.HANG])
def test_operator_leads_again_after_lease_failures(world, template, unrelated_workshop, fault):
    """The only operator stops leading when its lease is uncertain, and leads again after a renewal."""
    rules = [world.to_operator.inject(fault, f"{verb} leases", 2) for verb in ("PUT", "GET")]
    with ObjectRecorder(world) as recorder:
        name = world.launch(template, ADMIN)
        world.until(name, "running")
        wait_for("the lease renewals to fail", lambda: all(rule.left == 0 for rule in rules), 45)
        world.end(name)
        until_ended(world, name)
        recorder.assert_one_each(name)
    assert_still_runs(world, unrelated_workshop)


def test_changes_are_applied_after_api_server_outage(world, template, unrelated_workshop):
    """The API keeps answering; the requested changes happen once the API server is back."""
    ended = world.launch(template, ADMIN)
    world.until(ended, "running")
    world.to_launcher.begin_outage()
    world.to_operator.begin_outage()
    with ObjectRecorder(world) as recorder:
        launched = world.launch(template, ADMIN)
        world.end(ended)
        wait_for("the operator to stand by", lambda: world.operator.metrics()["operator_leading"] == 0, 20)
        rows = {row["k8s_name"]: row["state"] for row in world.launcher.request("GET", "/instances/")[2]}
        assert (rows[launched], rows[ended], rows[unrelated_workshop[0]]) == ("starting", "terminating", "running")
        assert world.workshop(launched) is None and world.workshop(ended) is not None
        world.to_launcher.end_outage()
        world.to_operator.end_outage()
        world.until(launched, "running", seconds=60)
        until_ended(world, ended)
        world.end(launched)
        until_ended(world, launched)
        recorder.assert_one_each(launched)
    assert_still_runs(world, unrelated_workshop)


def test_state_converges_after_random_faults(world, template, unrelated_workshop):
    """About a third of all calls fail, with random faults, during launches, extensions and ends."""
    seed = int(os.environ.get("FAULTS_SEED") or random.randrange(2**32))
    print(f"set FAULTS_SEED={seed} to repeat these faults")
    before = world.to_launcher.injected + world.to_operator.injected
    with ObjectRecorder(world) as recorder:
        world.to_launcher.inject_randomly(seed, STORM_CHANCE)
        world.to_operator.inject_randomly(seed + 1, STORM_CHANCE)
        names = [world.launch(template, ADMIN) for _ in range(STORM_LAUNCHES)]
        ended, kept = names[::2], names[1::2]
        with ThreadPoolExecutor(len(ended)) as people:
            lives = people.map(hurried_life, [world] * len(ended), ended, [True, False] * len(ended))
            # Watches would last a minute. Reset them, so that the programs open new watches while faults are injected.
            cut = world.to_launcher.drop_watches() + world.to_operator.drop_watches()
            list(lives)
        injected = world.to_launcher.injected + world.to_operator.injected - before
        world.stop_faults()
        for name in kept:
            world.until(name, "running")
        for name in ended:
            assert until_ended(world, name)["end_reason"] == "owner"
        for name in ended:
            assert all(len(uids) <= 1 for uids in recorder.of(name).values()), (name, recorder.of(name))
        for name in kept:
            world.end(name)
        for name in kept:
            until_ended(world, name)
        recorder.assert_one_each(*kept)
    print(f"injected: {sorted(injected.items())}")
    assert sum(injected.values()) - cut > 2 * STORM_LAUNCHES, injected
    assert_still_runs(world, unrelated_workshop)


def hurried_life(world, name, runs_first):
    """Ends the workshop, either before it runs or after an extension."""
    if runs_first:
        world.until(name, "running", seconds=120)
        world.launcher.request("POST", f"/instances/{name}/extend", body={})
    world.end(name)
