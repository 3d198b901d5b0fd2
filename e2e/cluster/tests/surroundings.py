"""Pods that try to reach workshops, and addresses that a workshop may try to reach."""

import contextlib
import dataclasses
import ipaddress
import json
import random
import re
import socket
import subprocess

from world import ALICE, BOB, IMAGES

INGRESS_LABELS = {"app.kubernetes.io/name": "traefik"}
# The app's own error message; no other output counts as a blocked connection.
DROPPED = re.compile(r"^no (answer|connection): ", re.MULTILINE)
# Ranges of the addresses that this machine gets temporarily. They exclude the metadata address: the machine may need
# it. The last range is public and no longer in use.
NETWORKS = {
    "machine link-local": "169.254.64.0/24",
    "machine shared": "100.100.64.0/24",
    "machine private": "172.31.255.0/24",
    "machine public": "192.88.99.0/24",
}


@dataclasses.dataclass(frozen=True)
class Source:
    """A pod that opens connections."""

    namespace: str
    pod: str

    def command(self, *words):
        """Returns the kubectl arguments that run the app in this pod with these words."""
        return ("exec", self.pod, "--namespace", self.namespace, "--container", "app", "--", "/app", *words)

    def run(self, world, *words):
        """Runs the app with these words; returns all its output."""
        return world.kubectl(*self.command(*words), check=False)

    def start(self, *words):
        """Runs the app with these words in the background."""
        command = ["kubectl", *self.command(*words)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def reaches(self, world, target):
        """Returns True if the pod can connect; fails unless the app reports a connection or its own error."""
        said = self.run(world, "connect", target)
        assert "connected" in said or DROPPED.search(said), said
        return "connected" in said


@dataclasses.dataclass
class Scene:
    """Two workshops, and the pods and addresses around them."""

    names: dict
    pods: dict
    sources: dict
    machine: dict
    reached: dict = dataclasses.field(default_factory=dict)

    def target(self, name):
        """Returns HOST:PORT for `workshop:PORT`, `pod:PORT` or a place such as `machine private`; other hosts stay
        unchanged."""
        host, port = name.rsplit(":", 1) if ":" in name else (name, "")
        return self.machine.get(name) or f"{self.pods.get(host, host)}:{port}"


def visitor(name, namespace, labels):
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
    """Adds an address of that range to this machine, with a listener; yields HOST:PORT, and removes the address
    afterwards."""
    host = str(random.choice(list(ipaddress.ip_network(network).hosts())))
    # The address expires after 900 s, in case this process is killed before it removes the address.
    for_a_while = ("valid_lft", "900", "preferred_lft", "900")
    subprocess.run(["ip", "address", "add", f"{host}/32", "dev", "lo", *for_a_while], check=True)
    try:
        with socket.create_server((host, 0), backlog=128) as listener:
            yield f"{host}:{listener.getsockname()[1]}"
    finally:
        subprocess.run(["ip", "address", "delete", f"{host}/32", "dev", "lo"], check=True)


def places(world, listeners):
    """Returns the destinations that are not pods: the API server, the DNS service, this machine's addresses."""
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
    """Creates the workshops and the visiting pods; returns their Scene."""
    names = {"mine": world.running(ALICE), "theirs": world.running(BOB, port=8787)}
    visitors = {
        "stranger": (world.namespace, {}),
        "impostor": (world.namespace, INGRESS_LABELS),
        "outsider": (ingress, {}),
        "ingress": (ingress, INGRESS_LABELS),
    }
    for name, (namespace, labels) in visitors.items():
        made = json.dumps(visitor(name, namespace, labels))
        world.kubectl("apply", "--namespace", namespace, "--filename", "-", input=made)
    sources = {name: Source(namespace, name) for name, (namespace, _) in visitors.items()}
    pods = {}
    for name, source in sources.items():
        world.kubectl("wait", "pod", name, "--namespace", source.namespace, "--for=condition=Ready", "--timeout=60s")
        words = ("--namespace", source.namespace, name, "--output", "jsonpath={.status.podIP}")
        pods[name] = world.kubectl("get", "pod", *words)
    for name, workshop in names.items():
        pod = world.pod(workshop)
        pods[name] = pod["status"]["podIP"]
        sources[name] = Source(world.namespace, pod["metadata"]["name"])
    dns = ("--namespace", "kube-system", "--selector", "k8s-app=kube-dns")
    pods["dns"] = world.kubectl("get", "pod", *dns, "--output", "jsonpath={.items[0].status.podIP}")
    return Scene(names, pods, sources, places(world, listeners))
