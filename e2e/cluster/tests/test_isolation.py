"""Apps that attack from their first instruction: with the wait for isolation they reach no forbidden address."""

import contextlib
import http.client
import json
import os
import socket

import pytest

from harness import ADMIN, ROOT, wait_for
from surroundings import NETWORKS, listening_at
from world import World

# The wait has its default limit of 120 s: with many pods on few cores, addresses are reported up to 20 s late.
WORLD = {"SERVICE_WAIT_FOR_ISOLATION": "true"}
POLICIES = ROOT / "deploy/network-policies.yaml"
ATTACK_SECONDS = 3
# Each app attacks this many addresses below and above its own. Workshops that start together have adjacent addresses.
NEIGHBOURS = 8
VICTIM_PORT = 8787
# Numbers of workshops that start together. 30, as in a class, take minutes, and run only with ISOLATION_CLASS set.
COUNTS = [6, *([30] if os.environ.get("ISOLATION_CLASS") else [])]


def apply_policies(world):
    text = POLICIES.read_text().replace("namespace: workshops\n", f"namespace: {world.namespace}\n")
    world.kubectl("apply", "--filename", "-", input=text)


def jsonpath(world, *words):
    return world.kubectl("get", *words[:-1], "--output", f"jsonpath={words[-1]}")


def node_address(world):
    internal = '{.items[0].status.addresses[?(@.type=="InternalIP")].address}'
    return jsonpath(world, "nodes", "--selector=type!=fake", internal)


@contextlib.contextmanager
def forbidden(world):
    """Yields the forbidden destinations, {name: HOST:PORT}; the victim is a workshop that already runs."""
    victim = world.pod(world.running(ADMIN, name="victim", port=VICTIM_PORT))["status"]["podIP"]
    slices = ("endpointslices", "--namespace=default", "--selector=kubernetes.io/service-name=kubernetes")
    with listening_at(NETWORKS["machine link-local"]) as link_local:
        yield {
            "api service": jsonpath(world, "service", "--namespace=default", "kubernetes", "{.spec.clusterIP}") + ":443",
            "api node": jsonpath(world, *slices, "{.items[0].endpoints[0].addresses[0]}:{.items[0].ports[0].port}"),
            "kubelet": f"{node_address(world)}:10250",
            "link-local": link_local,
            "another's sidecar": f"{victim}:8080",
            "another's telemetry": f"{victim}:8081",
            "another's app": f"{victim}:{VICTIM_PORT}",
        }


@pytest.fixture(scope="module")
def places(world):
    apply_policies(world)
    with forbidden(world) as made:
        yield made


def attack(places):
    """Returns the arguments of an app that attacks all these places and the workshops that start beside it."""
    beside = [f"neighbours={NEIGHBOURS}:{port}" for port in (8080, 8081, 8888)]
    return ["attack", str(ATTACK_SECONDS), *places.values(), *beside]


def outcome(world, name):
    """Waits until the app's attack is over; returns the targets that it reached: {target: time}."""
    said = {}

    def is_over():
        with contextlib.suppress(OSError, http.client.HTTPException):
            status, body = world.visit(name, ADMIN)
            if status == 200:
                said.update(json.loads(body))
        return said.get("done")

    wait_for(f"the attack of {name} to end", is_over, 60)
    assert said["tried"] > 3 * NEIGHBOURS
    return said["reached"]


@contextlib.contextmanager
def launched(world, template, count):
    """Launches this many workshops together, yields their names when all run, and ends them afterwards."""
    names = [world.launch(template, ADMIN) for _ in range(count)]
    try:
        for name in names:
            world.until(name, "running", seconds=60 + 6 * count)
        yield names
    finally:
        for name in names:
            world.end(name)
        for name in names:
            world.until_gone(name, seconds=60 + 6 * count)


def test_attack_reaches_all_targets_without_policies_and_isolation_wait():
    """Control: the other tests would detect a reached address."""
    with World("open-network", SERVICE_WAIT_FOR_ISOLATION="false") as world, forbidden(world) as places:
        name = world.running(ADMIN, args=attack(places))
        reached = outcome(world, name)
    assert {what for what, target in places.items() if target not in reached} == set()


@pytest.mark.parametrize("count", COUNTS)
def test_workshops_launched_together_reach_nothing_forbidden(world, places, count):
    template = world.template(name=f"attacker-{count}", args=attack(places))
    with launched(world, template, count) as names:
        reached = {name: outcome(world, name) for name in names}
    assert {name: found for name, found in reached.items() if found} == {}


def test_pod_that_is_never_isolated_fails_and_its_app_never_starts():
    with World("no-policies", SERVICE_WAIT_FOR_ISOLATION="true", SERVICE_ISOLATION_TIMEOUT="5") as world:
        host = node_address(world)
        with socket.create_server((host, 0)) as listener:
            template = world.template(args=["attack", "60", f"{host}:{listener.getsockname()[1]}"])
            name = world.launch(template, ADMIN)
            failed = world.until(name, "failed", seconds=60)
            listener.settimeout(1)
            with pytest.raises(TimeoutError):
                listener.accept()
        wait_for("the workload to be deleted", lambda: not world.workload(name), 60)
    assert failed["reason"]["code"] == "network-not-isolated"
    assert "network" in failed["reason"]["message"] and "network policies" in failed["reason"]["remedy"]
