"""Pods that try to connect to workshops, and addresses to which a workshop tries to connect."""

import contextlib
import dataclasses
import ipaddress
import json
import random
import re
import socket
import subprocess

from harness import PATIENCE, wait_for
from world import ALICE, BOB, IMAGES

INGRESS_LABELS = {"app.kubernetes.io/name": "traefik"}
# Error message of the test app for a blocked connection. Any other error must not count as blocked.
DROPPED = re.compile(r"^no (answer|connection): ", re.MULTILINE)
# Address ranges from which a test temporarily adds addresses to this machine. The ranges exclude the cloud's metadata
# address, because the machine may need it. The last range is public, but no longer in use on the internet.
NETWORKS = {
    "machine link-local": "169.254.64.0/24",
    "machine shared": "100.100.64.0/24",
    "machine private": "172.31.255.0/24",
    "machine public": "192.88.99.0/24",
}


@dataclasses.dataclass(frozen=True)
class Source:
    """A pod from which a test opens connections."""

    namespace: str
    pod: str

    def command(self, *words):
        """Returns the kubectl arguments that run the test app in this pod with these arguments."""
        return ("exec", self.pod, "--namespace", self.namespace, "--container", "app", "--", "/app", *words)

    def run(self, world, *words):
        """Runs the test app in this pod with these arguments. Returns stdout and stderr."""
        return world.kubectl(*self.command(*words), check=False)

    def start(self, *words):
        """Starts the test app in this pod with these arguments, in the background."""
        command = ["kubectl", *self.command(*words)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def reaches(self, world, target):
        """Returns True if the pod can connect, False if the connection is blocked. Fails on other errors, after several
        attempts: a busy API server may close the connection of `kubectl exec`."""

        def look():
            said = self.run(world, "connect", target)
            return said if "connected" in said or DROPPED.search(said) else None

        return "connected" in wait_for(f"the result of a connection from {self.pod} to {target}", look, 20)


@dataclasses.dataclass
class Topology:
    """Two workshops, and the pods and addresses for tests of connections from and to them."""

    names: dict
    pods: dict
    sources: dict
    machine: dict
    reached: dict = dataclasses.field(default_factory=dict)

    def target(self, name):
        """Returns HOST:PORT of a target: `NAME:PORT` of a workshop or pod, or a name such as `machine private`. Other
        hosts stay unchanged."""
        host, port = name.rsplit(":", 1) if ":" in name else (name, "")
        return self.machine.get(name) or f"{self.pods.get(host, host)}:{port}"


def client_pod(name, namespace, labels):
    hardened = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    app = {"name": "app", "image": f"{IMAGES}/http:test", "args": ["serve", "8000"], "securityContext": hardened}
    spec = {
        "containers": [app | {"imagePullPolicy": "IfNotPresent", "readinessProbe": {"tcpSocket": {"port": 8000}}}],
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 0,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": spec,
    }


@contextlib.contextmanager
def listening_at(network):
    """Adds an address of this range to the machine and listens on it. Yields HOST:PORT. Removes the address
    afterwards."""
    hosts = [str(host) for host in ipaddress.ip_network(network).hosts()]
    # A killed test cannot remove the address. The address therefore expires after 900 s.
    for_a_while = ("valid_lft", "900", "preferred_lft", "900")
    while True:
        host = random.choice(hosts)
        # Fails if another test uses this address.
        if subprocess.run(["ip", "address", "add", f"{host}/32", "dev", "lo", *for_a_while]).returncode == 0:
            break
        hosts.remove(host)
    try:
        with socket.create_server((host, 0), backlog=128) as listener:
            yield f"{host}:{listener.getsockname()[1]}"
    finally:
        subprocess.run(["ip", "address", "delete", f"{host}/32", "dev", "lo"], check=True)


def non_pod_targets(world, listeners):
    """Returns the connection targets that are not pods: API server, DNS service, addresses of this machine."""
    api = ("service", "--namespace", "default", "kubernetes", "--output", "jsonpath={.spec.clusterIP}")
    dns = ("service", "--namespace", "kube-system", "kube-dns", "--output", "jsonpath={.spec.clusterIP}")
    slices = ("endpointslices", "--namespace", "default", "--selector", "kubernetes.io/service-name=kubernetes")
    behind = "jsonpath={.items[0].endpoints[0].addresses[0]}:{.items[0].ports[0].port}"
    return listeners | {
        "api service": world.kubectl("get", *api) + ":443",
        "api node": world.kubectl("get", *slices, "--output", behind),
        "dns service": world.kubectl("get", *dns) + ":53",
    }


def set_up(world, ingress, listeners):
    """Creates the two workshops and the client pods. Returns them as a Topology."""
    names = {"mine": world.running(ALICE), "theirs": world.running(BOB, port=8787)}
    client_pods = {
        "stranger": (world.namespace, {}),
        "impostor": (world.namespace, INGRESS_LABELS),
        "outsider": (ingress, {}),
        "ingress": (ingress, INGRESS_LABELS),
    }
    for name, (namespace, labels) in client_pods.items():
        made = json.dumps(client_pod(name, namespace, labels))
        world.kubectl("apply", "--namespace", namespace, "--filename", "-", input=made)
    sources = {name: Source(namespace, name) for name, (namespace, _) in client_pods.items()}
    pods = {}
    for name, source in sources.items():
        world.kubectl("wait", "pod", name, "--namespace", source.namespace, "--for=condition=Ready", f"--timeout={60 * PATIENCE}s")
        words = ("--namespace", source.namespace, name, "--output", "jsonpath={.status.podIP}")
        pods[name] = world.kubectl("get", "pod", *words)
    for name, workshop in names.items():
        pod = world.pod(workshop)
        pods[name] = pod["status"]["podIP"]
        sources[name] = Source(world.namespace, pod["metadata"]["name"])
    dns = ("--namespace", "kube-system", "--selector", "k8s-app=kube-dns")
    pods["dns"] = world.kubectl("get", "pod", *dns, "--output", "jsonpath={.items[0].status.podIP}")
    return Topology(names, pods, sources, non_pod_targets(world, listeners))
