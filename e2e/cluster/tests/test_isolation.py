"""Apps that attack from their first instruction: with the wait for isolation they reach no forbidden address."""

import contextlib
import http.client
import json
import os

import pytest
from harness import ADMIN, wait_for
from surroundings import api_addresses, listening_at
from test_policies import NETWORKS, POLICIES

ATTACK_SECONDS = 3
# Each app attacks this many addresses below and above its own. Workshops that start together have adjacent addresses.
NEIGHBOURS = 8
VICTIM_PORT = 8787
# Number of workshops that start together. 30, as in a class, take minutes.
COUNT = 30 if os.environ.get("ISOLATION_CLASS") else 6


@pytest.fixture(scope="module")
def places(world):
    """The forbidden destinations, {name: HOST:PORT}; the victim is a workshop that already runs."""
    world.replace_operator(SERVICE_WAIT_FOR_ISOLATION="false")
    victim = world.pod(world.running(ADMIN, name="victim", port=VICTIM_PORT))["status"]["podIP"]
    with listening_at(NETWORKS["machine link-local"]) as link_local:
        yield api_addresses(world) | {
            "kubelet": f"{world.node_address()}:10250",
            "link-local": link_local,
            "another's sidecar": f"{victim}:8080",
            "another's telemetry": f"{victim}:8081",
            "another's app": f"{victim}:{VICTIM_PORT}",
        }


def attack(places):
    """Returns the arguments of an app that attacks all these places and the workshops that start beside it."""
    beside = [f"neighbours={NEIGHBOURS}:{port}" for port in (8080, 8081, 8888)]
    return ["attack", str(ATTACK_SECONDS), *places.values(), *beside]


def outcome(world, name):
    """Waits until the app's attack is over; returns the number of targets, and those that it reached: {target: time}."""
    said = {}

    def is_over():
        with contextlib.suppress(OSError, http.client.HTTPException):
            status, body = world.visit(name, ADMIN)
            if status == 200:
                said.update(json.loads(body))
        return said.get("done")

    wait_for(f"the attack of {name} to end", is_over)
    return said


def test_attack_reaches_all_targets_without_policies_and_isolation_wait(world, places):
    """Control: the other tests would detect a reached address."""
    world.replace_operator(SERVICE_WAIT_FOR_ISOLATION="false")
    # The attack ends when it has reached all targets. The time only bounds a hang.
    name = world.running(ADMIN, args=["attack", "120", *places.values()])
    reached = outcome(world, name)["reached"]
    assert {what for what, target in places.items() if target not in reached} == set()
    world.end(name)
    world.until_ended(name)


def test_workshops_launched_together_reach_nothing_forbidden(world, places):
    # The wait has its default limit of 120 s: with many pods on few cores, addresses are reported up to 20 s late.
    world.replace_operator(SERVICE_WAIT_FOR_ISOLATION="true")
    template = world.template(name="attacker", args=attack(places))
    with world.applied_file(POLICIES):
        names = [world.launch(template, ADMIN) for _ in range(COUNT)]
        for name in names:
            world.until(name, "running")
        outcomes = {name: outcome(world, name) for name in names}
        world.end(*names)
        world.until_ended(*names)
    assert all(one["tried"] > 3 * NEIGHBOURS for one in outcomes.values())
    assert {name: one["reached"] for name, one in outcomes.items() if one["reached"]} == {}
