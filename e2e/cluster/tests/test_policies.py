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
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness import DEADLINE, wait_for
from surroundings import DROPPED, Source, api_addresses, client_pods, listening_at
from world import ALICE, BOB

POLICIES = "deploy/network-policies.yaml"
INGRESS_LABELS = {"app.kubernetes.io/name": "traefik"}
# Address ranges from which a test temporarily adds addresses to this machine. The ranges exclude the cloud's metadata
# address, because the machine may need it. The last range is public, but no longer in use on the internet.
NETWORKS = {
    "machine link-local": "169.254.64.0/24",
    "machine shared": "100.100.64.0/24",
    "machine private": "172.31.255.0/24",
    "machine public": "192.88.99.0/24",
}
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


class Scene:
    """Two workshops, client pods, and HOST:PORT of all targets of connections: `NAME:PORT` of a pod, or a name such as
    `machine private`."""

    def __init__(self, world, sources, targets):
        self.world, self.sources, self.targets = world, sources, targets
        self.names = {"mine": world.running(ALICE), "theirs": world.running(BOB, port=8787)}
        address = lambda one: world.jsonpath("pod", one.pod, "--namespace", one.namespace, "{.status.podIP}")
        self.hosts = {name: address(one) for name, one in sources.items()}
        for name, workshop in self.names.items():
            pod = world.pod(workshop)
            self.hosts[name] = pod["status"]["podIP"]
            sources[name] = Source(world.namespace, pod["metadata"]["name"])
        dns = ("pod", "--namespace=kube-system", "--selector=k8s-app=kube-dns", "{.items[0].status.podIP}")
        self.hosts["dns"] = world.jsonpath(*dns)

    def target(self, name):
        host, _, port = name.rpartition(":")
        return self.targets.get(name) or f"{self.hosts[host]}:{port}"

    def run(self, source, *words):
        return self.sources[source].run(self.world, *words)

    def reached(self, table):
        """Returns the connections of this table that succeed: {(source, target)}."""
        pairs = [(source, target) for source, targets in table.items() for target in targets]
        with ThreadPoolExecutor(8) as threads:
            results = threads.map(lambda pair: self.sources[pair[0]].reaches(self.world, self.target(pair[1])), pairs)
        return {pair for pair, is_reached in zip(pairs, results) if is_reached}


def each(table):
    return {(source, target) for source, targets in table.items() for target in targets}


@pytest.fixture(scope="module")
def scene(world):
    """The policies are enforced. Each connection succeeded without them."""
    ingress = f"{world.namespace}-ingress"
    pods = {
        "stranger": (world.namespace, {}),
        "impostor": (world.namespace, INGRESS_LABELS),
        "outsider": (ingress, {}),
        "ingress": (ingress, INGRESS_LABELS),
    }
    with contextlib.ExitStack() as stack:
        targets = {name: stack.enter_context(listening_at(network)) for name, network in NETWORKS.items()}
        targets |= api_addresses(world)
        dns = ("service", "--namespace=kube-system", "kube-dns", "{.spec.clusterIP}")
        targets["dns service"] = world.jsonpath(*dns) + ":53"
        world.kubectl("create", "namespace", ingress)
        stack.callback(world.kubectl, "delete", "namespace", ingress, "--wait=false")
        made = Scene(world, stack.enter_context(client_pods(world, pods)), targets)
        for table in (FORBIDDEN, ALLOWED):
            # An attempt takes at most 3 s. On a busy node, this is too short for some.
            wait_for("the targets to be reachable without policies", lambda: made.reached(table) == each(table))
        stack.enter_context(world.applied_file(POLICIES, ("metadata.name: ingress}", f"metadata.name: {ingress}}}")))
        some = {"stranger": ("mine:8080", "theirs:8787"), "mine": ("api service",)}
        wait_for("the policies to be enforced", lambda: not made.reached(some))
        yield made


def test_policies_block_forbidden_connections_and_allow_required_ones(scene):
    wait_for("all forbidden connections to be blocked", lambda: not scene.reached(FORBIDDEN))
    wait_for("all required connections to succeed", lambda: scene.reached(ALLOWED) == each(ALLOWED))


def test_valid_identity_header_is_accepted_only_through_ingress(scene):
    url = f"http://{scene.target('mine:8080')}/"
    for source in ("stranger", "impostor", "outsider", "theirs"):
        said = scene.sources[source].result(scene.world, "get", url, "X-Auth-Request-Email", ALICE)
        assert DROPPED.search(said), (source, said)
    for headers, status in {("X-Auth-Request-Email", ALICE): 200, ("X-Auth-Request-Email", BOB): 403, (): 403}.items():
        assert scene.run("ingress", "until", url, *headers).startswith(f"{status}\n"), headers


def test_workshop_can_resolve_dns_names(scene):

    def look():
        said = scene.sources["mine"].result(scene.world, "connect", "kubernetes.default.svc.cluster.local:443")
        # On a busy node, the name server may answer too late for the attempt.
        return None if "lookup " in said else said

    said = wait_for("an answer of the name server", look)
    # The error has the Service's IP address: the name was resolved, and only the connection was blocked.
    service = re.escape(scene.target("api service"))
    assert re.search(rf"^no connection: dial tcp {service}: ", said, re.MULTILINE), said


def test_cloud_metadata_is_unreachable(world, scene):
    """This machine has no listener at these addresses, so the test also checks that the policies exclude them."""
    rules = [rule for one in world.objects("networkpolicies") for rule in one["spec"].get("egress", [])]
    blocks = [peer.get("ipBlock", {}) for rule in rules for peer in rule["to"]]
    excepted = [ipaddress.ip_network(one) for block in blocks for one in block.get("except", [])]
    for address in METADATA:
        assert any(ipaddress.ip_address(address) in one for one in excepted), address
        assert not scene.sources["mine"].reaches(world, f"{address}:80")


def test_policies_protect_workshop_created_after_them_and_kubelet_probes_it(world, scene):
    name = world.running("carol@example.org")
    there = f"{world.pod(name)['status']['podIP']}:8080"
    wait_for("a foreign pod to be blocked", lambda: not scene.sources["stranger"].reaches(world, there))
    wait_for("the ingress to reach it", lambda: scene.sources["ingress"].reaches(world, there))
    # The kubelet probes port 8081: three failures would have made the pod of the scene unready.
    pod = world.pod(scene.names["mine"])
    ready = next(one for one in pod["status"]["conditions"] if one["type"] == "Ready")
    policy = world.objects("networkpolicies")[0]["metadata"]["creationTimestamp"]
    assert (ready["status"], ready["lastTransitionTime"] <= policy) == ("True", True)
    assert world.restarts(scene.names["mine"]) == {"app": 0, "sidecar": 0}
    world.end(name)


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
    with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=DEADLINE):
        return True
    return False


@contextlib.contextmanager
def asking_all_the_time(sources, url):
    """Lets each source repeat a request until it is answered; yields a function that returns True while none was
    answered."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = ["--container", "app", "--", "/app", "until", url]
    commands = [["kubectl", "exec", one.pod, "--namespace", one.namespace, *command] for one in sources]
    asking = [subprocess.Popen(words, **quiet) for words in commands]
    try:
        yield lambda: [one.poll() for one in asking] == [None] * len(asking)
    finally:
        for one in asking:
            one.kill()
            one.wait()


def test_killed_sidecar_restarts_and_app_stays_unreachable(world, scene):
    name, ingress, stranger = scene.names["theirs"], scene.sources["ingress"], scene.sources["stranger"]
    front, app = scene.target("theirs:8080"), scene.target("theirs:8787")
    uid = world.uid(name)
    with asking_all_the_time((ingress, stranger), f"http://{app}/") as unanswered:
        wait_for("the ingress to reach the sidecar", lambda: ingress.reaches(world, front))
        killed = sidecar_of(world, name)["containerID"]
        kill_task(killed)
        # The kubelet may restart it before this test looks.
        is_down = lambda: not machine_reaches(front) or sidecar_of(world, name)["containerID"] != killed
        wait_for("the sidecar to be down", is_down)
        assert machine_reaches(app), "the app is down too: the test proves nothing"
        wait_for("the sidecar to restart", lambda: ingress.reaches(world, front))
        assert unanswered(), "the app's port was reachable while its sidecar was down"
    wait_for("the restart to be counted", lambda: sidecar_of(world, name)["restartCount"] == 1)
    assert world.uid(name) == uid
    for email, status in ((BOB, 200), (ALICE, 403)):
        said = ingress.run(world, "until", f"http://{front}/", "X-Auth-Request-Email", email)
        assert said.startswith(f"{status}\n"), said
    world.until(name, "running")
