"""deploy/network-policies.yaml, enforced: who reaches a workshop, and which destinations a workshop reaches.

Each forbidden connection succeeded before the policies were applied, from the same pod to the same address.
"""

import contextlib
import ipaddress
import os
import pathlib
import re
import socket
import subprocess

import pytest
from harness import ROOT, wait_for
from surroundings import DROPPED, NETWORKS, listening_at, set_up
from world import ALICE, BOB

POLICIES = ROOT / "deploy/network-policies.yaml"
# Addresses at which clouds serve a node's credentials or configuration, over IPv4.
METADATA = ("169.254.169.254", "100.100.100.200", "168.63.129.16")

# {source: targets} of forbidden connections. Each succeeds before the policies are applied.
FORBIDDEN = {
    "stranger": ("mine:8080", "mine:8081", "mine:8888", "theirs:8787"),
    "impostor": ("mine:8080",),
    "outsider": ("mine:8080", "mine:8081", "mine:8888", "theirs:8787"),
    "ingress": ("mine:8081", "mine:8888", "theirs:8787"),
    "mine": (
        "theirs:8080",
        "theirs:8787",
        "outsider:8000",
        "dns:8181",
        "api service",
        "api node",
        "machine link-local",
        "machine shared",
        "machine private",
    ),
}
# {source: targets} of allowed connections.
ALLOWED = {"ingress": ("mine:8080", "theirs:8080"), "mine": ("machine public", "dns service")}


def each(table):
    return [(source, target) for source, targets in table.items() for target in targets]


def policies(world, ingress):
    """Returns the file's text for these namespaces."""
    text = POLICIES.read_text().replace("namespace: workshops\n", f"namespace: {world.namespace}\n")
    return text.replace("metadata.name: ingress}", f"metadata.name: {ingress}}}")


@pytest.fixture(scope="module")
def scene(world):
    """Applies the policies, after recording which connections succeed without them."""
    ingress = f"{world.namespace}-ingress"
    with contextlib.ExitStack() as stack:
        listeners = {name: stack.enter_context(listening_at(network)) for name, network in NETWORKS.items()}
        world.kubectl("create", "namespace", ingress)
        stack.callback(world.kubectl, "delete", "namespace", ingress, "--wait=false")
        made = set_up(world, ingress, listeners)
        for source, target in each(FORBIDDEN) + each(ALLOWED):
            made.reached[source, target] = made.sources[source].reaches(world, made.target(target))
        world.kubectl("apply", "--filename", "-", input=policies(world, ingress))
        yield made


@pytest.mark.parametrize(("source", "target"), each(FORBIDDEN))
def test_policies_block_forbidden_connections(world, scene, source, target):
    assert scene.reached[source, target], "unreachable without policies: the test proves nothing"
    there = scene.target(target)
    wait_for(f"{source} not to reach {target} ({there})", lambda: not scene.sources[source].reaches(world, there), 60)


@pytest.mark.parametrize(("source", "target"), each(ALLOWED))
def test_policies_allow_required_connections(world, scene, source, target):
    wait_until_enforced(world, scene)
    assert scene.sources[source].reaches(world, scene.target(target))


def wait_until_enforced(world, scene):
    """Waits until the policies are enforced for the pods of the scene."""
    for source, target in (("stranger", "mine:8080"), ("stranger", "theirs:8787"), ("mine", "api service")):
        there = scene.target(target)
        wait_for(f"{source} not to reach {target}", lambda: not scene.sources[source].reaches(world, there), 60)


def test_valid_identity_header_is_accepted_only_through_ingress(world, scene):
    wait_until_enforced(world, scene)
    url = f"http://{scene.target('mine:8080')}/"
    header = ("X-Auth-Request-Email", ALICE)
    for source in ("stranger", "impostor", "outsider", "theirs"):
        said = scene.sources[source].run(world, "get", url, *header)
        assert DROPPED.search(said), (source, said)
    ingress = scene.sources["ingress"]
    assert ingress.run(world, "get", url, *header).startswith("200\n")
    assert ingress.run(world, "get", url, "X-Auth-Request-Email", BOB).startswith("403\n")
    assert ingress.run(world, "get", url).startswith("403\n")


def test_workshop_can_resolve_dns_names(world, scene):
    wait_until_enforced(world, scene)
    said = scene.sources["mine"].run(world, "connect", "kubernetes.default.svc.cluster.local:443")
    service = scene.target("api service")
    # The error has the Service's IP address: the name was resolved, and only the connection was blocked.
    assert re.search(rf"^no connection: dial tcp {re.escape(service)}: ", said, re.MULTILINE), said


@pytest.mark.parametrize("address", METADATA)
def test_cloud_metadata_is_unreachable(world, scene, address):
    """This machine has no listener at these addresses, so the test also checks that the policies exclude them."""
    assert any(ipaddress.ip_address(address) in one for one in excepted(world))
    assert not scene.sources["mine"].reaches(world, f"{address}:80")


def excepted(world):
    """Returns the networks that the policies exclude from the internet."""
    rules = [rule for one in world.objects("networkpolicies") for rule in one["spec"].get("egress", [])]
    peers = [peer for rule in rules for peer in rule["to"]]
    return [ipaddress.ip_network(one) for peer in peers for one in peer.get("ipBlock", {}).get("except", [])]


def test_policies_protect_workshop_created_after_them(world, scene):
    name = world.running("carol@example.org")
    there = f"{world.pod(name)['status']['podIP']}:8080"
    wait_for("a foreign pod to be blocked", lambda: not scene.sources["stranger"].reaches(world, there), 60)
    assert scene.sources["ingress"].reaches(world, there)


def sidecar_of(world, name):
    """Returns the status of the sidecar's container."""
    return next(one for one in world.pod(name)["status"]["containerStatuses"] if one["name"] == "sidecar")


def kill_task(container):
    """Sends SIGKILL to the container's first process from outside: a scratch image contains no program for it."""
    runtime = pathlib.Path(os.environ["KUBECONFIG"]).parent / "containerd.sock"
    assert runtime.exists(), f"{runtime} is missing: e2e/cluster/README.md lists the requirements of another cluster"
    words = ["ctr", "--address", runtime, "--namespace", "k8s.io", "tasks", "kill", "--signal", "SIGKILL"]
    subprocess.run([*words, container.removeprefix("containerd://")], check=True, capture_output=True)


def machine_reaches(target):
    """Returns True if this machine reaches the target; the policies do not apply to it."""
    host, port = target.split(":")
    with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=3):
        return True
    return False


@contextlib.contextmanager
def asking_all_the_time(sources, url):
    """Lets each source repeat a request until it is answered; yields a function that returns True while none was
    answered."""
    asking = [source.start("until", url) for source in sources]
    try:
        yield lambda: [one.poll() for one in asking] == [None] * len(asking)
    finally:
        for one in asking:
            one.kill()
            one.wait()


def test_killed_sidecar_restarts_and_app_stays_unreachable(world, scene):
    wait_until_enforced(world, scene)
    name, ingress, stranger = scene.names["theirs"], scene.sources["ingress"], scene.sources["stranger"]
    front, app = scene.target("theirs:8080"), scene.target("theirs:8787")
    uid = world.pod(name)["metadata"]["uid"]
    with asking_all_the_time((ingress, stranger), f"http://{app}/") as unanswered:
        assert ingress.reaches(world, front)
        killed = sidecar_of(world, name)["containerID"]
        kill_task(killed)
        # The kubelet may restart it before this test looks.
        is_down = lambda: not machine_reaches(front) or sidecar_of(world, name)["containerID"] != killed
        wait_for("the sidecar to be down", is_down, 15)
        assert machine_reaches(app), "the app is down too: the test proves nothing"
        wait_for("the sidecar to restart", lambda: ingress.reaches(world, front), 60)
        assert unanswered(), "the app's port was reachable while its sidecar was down"
    wait_for("the restart to be counted", lambda: sidecar_of(world, name)["restartCount"] == 1, 60)
    assert world.pod(name)["metadata"]["uid"] == uid
    for email, status in ((BOB, 200), (ALICE, 403)):
        said = ingress.run(world, "until", f"http://{front}/", "X-Auth-Request-Email", email)
        assert said.startswith(f"{status}\n"), said
    world.until(name, "running")


def test_kubelet_probes_pass_the_policies(world, scene):
    """The kubelet probes port 8081: readiness every second, and three failures make the pod unready."""
    pod = world.pod(scene.names["mine"])
    ready = next(one for one in pod["status"]["conditions"] if one["type"] == "Ready")
    policy = world.objects("networkpolicies")[0]["metadata"]["creationTimestamp"]
    assert (ready["status"], ready["lastTransitionTime"] <= policy) == ("True", True)
    assert [one["restartCount"] for one in pod["status"]["containerStatuses"]] == [0, 0]
