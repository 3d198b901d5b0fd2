"""The product's images: small, and sufficient for launcher and operator to work in pods, with their own accounts."""

import gzip
import json
import os
import pathlib

import pytest

from harness import ADMIN, PATIENCE, exchange
from world import ALICE, IMAGES, WORKSHOP_DOMAIN, World

MEGABYTE = 1_000_000
# The launcher of the tests is a debug build. packaging/release/size.sh has the limits of a release.
AIMS = {"sidecar": 6 * MEGABYTE, "launcher": 32 * MEGABYTE}
RESTRICTED = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


@pytest.mark.parametrize("name", AIMS)
def test_image_is_below_size_limit(name):
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    archives = list((cache / "workshop-launcher/cluster/images").glob(f"{name}-*.tar"))
    assert len(archives) == 1, archives
    # Compressed size, as a node downloads it from a registry.
    assert len(gzip.compress(archives[0].read_bytes())) < AIMS[name]


def pod(name, command, account, **settings):
    """A pod of the launcher's image under the strictest restrictions that a namespace can enforce."""
    container = {
        "name": name,
        "image": f"{IMAGES}/launcher:test",
        "imagePullPolicy": "IfNotPresent",
        "args": [command],
        "env": [{"name": key, "value": value} for key, value in settings.items()],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": 9090}, "periodSeconds": 1},
        "securityContext": RESTRICTED,
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    spec = {
        "serviceAccountName": account,
        "securityContext": {"runAsNonRoot": True, "fsGroup": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": [{"name": "data", "emptyDir": {}}],
        "terminationGracePeriodSeconds": 5,
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


class Inside:
    """A launcher in a pod, with the interface of a launcher on this machine."""

    def __init__(self, address):
        self.address = address

    def request(self, method, path, email=ADMIN, body=None):
        # The launcher refuses requests whose Host is not its public host, such as the address of its pod.
        headers = {"Host": "localhost", "X-Auth-Request-Email": email, "Content-Type": "application/json"}
        status, received, text = exchange(8000, method, f"/api/v1{path}", headers, body, host=self.address)
        return status, received, json.loads(text)


@pytest.fixture
def inside():
    with World("images", security="restricted", processes=False) as world:
        world.apply(
            pod(
                "launcher",
                "serve",
                "workshop-launcher",
                SERVICE_FLEET="kubernetes",
                SERVICE_DATA_DIR="/data",
                SERVICE_LISTEN_ADDR="0.0.0.0:8000",
                SERVICE_TELEMETRY_ADDR="0.0.0.0:9090",
                SERVICE_ADMIN_EMAILS=ADMIN,
            ),
            pod(
                "operator",
                "operator",
                "workshop-operator",
                SERVICE_WORKSHOP_DOMAIN=WORKSHOP_DOMAIN,
                SERVICE_SIDECAR_IMAGE=f"{IMAGES}/sidecar:test",
                SERVICE_TELEMETRY_ADDR="0.0.0.0:9090",
            ),
        )
        world.kubectl("wait", "pod", "launcher", "operator", "--for=condition=Ready", f"--timeout={90 * PATIENCE}s")
        world.launcher = Inside(world.named("pods", "launcher")["status"]["podIP"])
        yield world


def test_launcher_and_operator_work_in_pods(inside):
    name = inside.launch(inside.template(), ALICE)
    inside.until(name, "running")
    assert inside.visit(name, ALICE)[0] == 200
    inside.end(name, ALICE)
    inside.until(name, "terminated")
    inside.until_gone(name)
