"""Pods that try to connect to workshops, and addresses to which a workshop tries to connect."""

import contextlib
import dataclasses
import ipaddress
import json
import random
import re
import socket
import subprocess

from harness import APPLY, DEADLINE, wait_for
from world import IMAGES

# Error message of the test app for a blocked connection. Any other error must not count as blocked.
DROPPED = re.compile(r"^no (answer|connection): ", re.MULTILINE)
# Output of the test app for a connection, and the status of an answer.
DONE = re.compile(r"^(connected|\d{3})$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Source:
    """A pod from which a test opens connections."""

    namespace: str
    pod: str

    def run(self, world, *words):
        """Runs the test app in this pod with these arguments. Returns stdout and stderr."""
        command = ("exec", self.pod, "--namespace", self.namespace, "--container", "app", "--", "/app", *words)
        return world.kubectl(*command, check=False)

    def result(self, world, *words):
        """Runs the test app as run() does, until it has connected or the connection is blocked. Returns its output. Tries
        again after other errors: a busy API server may close the connection of `kubectl exec`."""

        def look():
            said = self.run(world, *words)
            return said if DONE.search(said) or DROPPED.search(said) else None

        return wait_for(f"the result of {' '.join(words)} in {self.pod}", look)

    def reaches(self, world, target):
        """Returns True if the pod can connect, False if the connection is blocked."""
        return "connected" in self.result(world, "connect", target)


def client_pod(name, namespace, labels):
    """Returns a pod that the Pod Security profile `restricted` admits."""
    hardened = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    hardened |= {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    app = {"name": "app", "image": f"{IMAGES}/http:test", "args": ["serve", "8000"], "securityContext": hardened}
    spec = {
        "containers": [app | {"imagePullPolicy": "IfNotPresent", "readinessProbe": {"tcpSocket": {"port": 8000}}}],
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 0,
    }
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@contextlib.contextmanager
def client_pods(world, pods):
    """Runs these pods, {name: (namespace, labels)}, during the block. Yields {name: Source}."""
    for name, (namespace, labels) in pods.items():
        pod = json.dumps(client_pod(name, namespace, labels))
        world.kubectl("--namespace", namespace, *APPLY, "-", input=pod)
    try:
        for name, (namespace, _) in pods.items():
            world.kubectl("wait", "pod", name, "--namespace", namespace, "--for=condition=Ready", f"--timeout={DEADLINE}s")
        yield {name: Source(namespace, name) for name, (namespace, _) in pods.items()}
    finally:
        for name, (namespace, _) in pods.items():
            world.kubectl("delete", "pod", name, "--namespace", namespace, "--wait=false")


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


def api_addresses(world):
    """Returns HOST:PORT of the API server: of its Service, and of its node."""
    slices = ("endpointslices", "--namespace=default", "--selector=kubernetes.io/service-name=kubernetes")
    return {
        "api service": world.jsonpath("service", "--namespace=default", "kubernetes", "{.spec.clusterIP}") + ":443",
        "api node": world.jsonpath(*slices, "{.items[0].endpoints[0].addresses[0]}:{.items[0].ports[0].port}"),
    }
