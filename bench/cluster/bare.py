"""Workloads without a launcher, as an administrator would apply them by hand."""

import concurrent.futures
import copy
import json
import subprocess

PARALLEL = 16
KINDS = {"deployment": ("apps/v1", "Deployment"), "pod": ("v1", "Pod"), "service": ("v1", "Service")}


class Model:
    """A workload that the operator has made, to be copied: bare pods run the same containers."""

    def __init__(self, kube, namespace, name):
        self.pod = kube.request("GET", f"/api/v1/namespaces/{namespace}/pods/{name}")["spec"]
        # The scheduler wrote the node.
        del self.pod["nodeName"]

    def pod_spec(self, containers):
        """Returns the spec with the first containers: 1 is the app alone, 2 are the app and the sidecar."""
        spec = copy.deepcopy(self.pod)
        spec["containers"] = spec["containers"][:containers]
        return spec

    def bare_pod(self, name, containers):
        """Returns a pod without a controller."""
        return made("pod", name, self.pod_spec(containers))

    def deployment(self, name, containers):
        """Returns a Deployment with one pod."""
        template = {"metadata": {"labels": {"run": name}}, "spec": self.pod_spec(containers)}
        spec = {"replicas": 1, "selector": {"matchLabels": {"run": name}}, "strategy": {"type": "Recreate"}}
        return made("deployment", name, spec | {"template": template})

    def service(self, name, containers):
        port = {"port": 80, "targetPort": 8080 if containers == 2 else 8888}
        return made("service", name, {"selector": {"run": name}, "ports": [port]})


def made(kind, name, spec):
    version, kind = KINDS[kind]
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "labels": {"run": name}}, "spec": spec}


def names(count):
    return [f"bare-{number:04}" for number in range(count)]


def apply(namespace, objects):
    """Runs one `kubectl apply` of all objects."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    command = ["kubectl", "--namespace", namespace, "apply", "--filename", "-"]
    subprocess.run(command, input=text, check=True, text=True, stdout=subprocess.DEVNULL)


def create(kube, namespace, objects):
    """Creates all objects, several requests at a time, as fast as the API server accepts them."""
    with concurrent.futures.ThreadPoolExecutor(PARALLEL) as threads:
        list(threads.map(lambda one: kube.create(one["kind"].lower(), namespace, one), objects))


def delete_all(namespace):
    command = ["kubectl", "--namespace", namespace, "delete", "deployments,pods,services", "--all", "--wait=false"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
