"""The API server drops watches, refuses the Lease, is unreachable, or fails in all ways at once: the state converges,
no object is duplicated, and no workshop ends by mistake."""

import os
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

import faults
from census import Census
from faulty import assert_untouched, bystander, calm_afterwards, template, world
from harness import ADMIN, wait_for
from settled import until_ended

STORM_LAUNCHES = 12
STORM_CHANCE = 0.3


def test_changes_are_seen_after_broken_watches(world, template, bystander):
    """All watches are cut and their positions expire: the programs still see the changes made meanwhile."""
    watched = ["workshops", "deployments", "services", "ingresses", "pods"]
    rules = [world.to_operator.inject(faults.EXPIRED, f"WATCH {kind}") for kind in watched]
    rules.append(world.to_launcher.inject(faults.EXPIRED, "WATCH workshops"))
    lost, ended = (world.launch(template, ADMIN) for _ in range(2))
    with Census(world) as census:
        assert world.to_operator.drop_watches() >= 5
        assert world.to_launcher.drop_watches() >= 1
        for name in (lost, ended):
            world.until(name, "running")
            # The launcher writes the expiry when a workshop is first ready.
            wait_for("its end to be written", lambda name=name: "expiresAt" in world.workshop(name)["spec"], 45)
        assert world.to_launcher.drop_watches() >= 1
        world.kubectl("delete", "workshop", lost, "--wait=false")
        world.end(ended)
        assert world.until(lost, "terminated")["end_reason"] == "lost"
        assert until_ended(world, ended)["end_reason"] == "owner"
        world.until_gone(lost)
        census.assert_one_each(ended, lost)
    wait_for("every watch to have expired once", lambda: all(rule.injected == 1 for rule in rules), 30)
    assert_untouched(world, bystander)


def test_deletion_during_watch_outage_is_seen(world, template, bystander):
    """A Workshop is deleted while the launcher's watch is down: the next list shows it."""
    name = world.launch(template, ADMIN)
    world.until(name, "running")
    down = world.to_launcher.inject(faults.BROKEN, "WATCH workshops", 2)
    unlisted = world.to_launcher.inject(faults.BROKEN, "LIST workshops", 2)
    assert world.to_launcher.drop_watches() >= 1
    world.kubectl("delete", "workshop", name)
    assert world.until(name, "terminated")["end_reason"] == "lost"
    assert down.injected + unlisted.injected >= 2
    assert_untouched(world, bystander)


@pytest.mark.parametrize("fault", [faults.CONFLICT, faults.BROKEN, faults.DONE_BUT_504, faults.HANG])
def test_operator_leads_again_after_lease_failures(world, template, bystander, fault):
    """The only operator stops leading when its lease is uncertain, and leads again after a renewal."""
    rules = [world.to_operator.inject(fault, f"{verb} leases", 2) for verb in ("PUT", "GET")]
    with Census(world) as census:
        name = world.launch(template, ADMIN)
        world.until(name, "running")
        wait_for("the lease to have failed", lambda: all(rule.left == 0 for rule in rules), 45)
        world.end(name)
        until_ended(world, name)
        census.assert_one_each(name)
    assert_untouched(world, bystander)


def test_changes_are_applied_after_api_server_outage(world, template, bystander):
    """The API keeps answering; the requested changes happen once the API server is back."""
    ended = world.launch(template, ADMIN)
    world.until(ended, "running")
    world.to_launcher.go_away()
    world.to_operator.go_away()
    with Census(world) as census:
        launched = world.launch(template, ADMIN)
        world.end(ended)
        wait_for("the operator to stand by", lambda: world.operator.metrics()["operator_leading"] == 0, 20)
        rows = {row["k8s_name"]: row["state"] for row in world.launcher.request("GET", "/instances/")[2]}
        assert (rows[launched], rows[ended], rows[bystander[0]]) == ("starting", "terminating", "running")
        assert world.workshop(launched) is None and world.workshop(ended) is not None
        world.to_launcher.come_back()
        world.to_operator.come_back()
        world.until(launched, "running", seconds=60)
        until_ended(world, ended)
        world.end(launched)
        until_ended(world, launched)
        census.assert_one_each(launched)
    assert_untouched(world, bystander)


def test_state_converges_after_random_faults(world, template, bystander):
    """About a third of all calls fail, with random faults, during launches, extensions and ends."""
    seed = int(os.environ.get("FAULTS_SEED") or random.randrange(2**32))
    print(f"FAULTS_SEED={seed} repeats this storm")
    before = world.to_launcher.injected + world.to_operator.injected
    with Census(world) as census:
        world.to_launcher.storm(seed, STORM_CHANCE)
        world.to_operator.storm(seed + 1, STORM_CHANCE)
        names = [world.launch(template, ADMIN) for _ in range(STORM_LAUNCHES)]
        ended, kept = names[::2], names[1::2]
        with ThreadPoolExecutor(len(ended)) as people:
            lives = people.map(hurried_life, [world] * len(ended), ended, [True, False] * len(ended))
            # Watches last a minute: cutting them here makes them resume during the storm.
            cut = world.to_launcher.drop_watches() + world.to_operator.drop_watches()
            list(lives)
        injected = world.to_launcher.injected + world.to_operator.injected - before
        world.calm()
        for name in kept:
            world.until(name, "running")
        for name in ended:
            assert until_ended(world, name)["end_reason"] == "owner"
        for name in ended:
            assert all(len(uids) <= 1 for uids in census.of(name).values()), (name, census.of(name))
        for name in kept:
            world.end(name)
        for name in kept:
            until_ended(world, name)
        census.assert_one_each(*kept)
    print(f"injected: {sorted(injected.items())}")
    assert sum(injected.values()) - cut > 2 * STORM_LAUNCHES, injected
    assert_untouched(world, bystander)


def hurried_life(world, name, runs_first):
    """Ends the workshop, either before it runs or after an extension."""
    if runs_first:
        world.until(name, "running", seconds=120)
        world.launcher.request("POST", f"/instances/{name}/extend", body={})
    world.end(name)
