"""Parts of the pod that only a real kubelet shows: the fields of a pod template, and the proxy secret."""

import json

from surroundings import Source
from world import ALICE, APP

NAME, VALUE, OTHER = "workshop-proxy", "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
FILE = "/etc/workshop-launcher/proxy/secrets"
ALLOW = {"SERVICE_POD_TEMPLATE_ALLOW": "secret/course-token,toleration/example.org/*,resource/*"}
WORLD = {"launcher": ALLOW, "SERVICE_PROXY_SECRET_NAME": NAME, "SERVICE_ROOM_GRACE": "15", **ALLOW}
TOLERATION = {"key": "example.org/gpu", "operator": "Exists", "effect": "NoSchedule"}
TOKEN = {"secretKeyRef": {"name": "course-token", "key": "token"}}
APP_PART = {
    "name": "app",
    "env": [{"name": "TOKEN", "valueFrom": TOKEN}],
    "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
}
CHECK = {
    "name": "check",
    "image": APP["image"],
    "args": ["read", "/keys/token"],
    "volumeMounts": [{"name": "keys", "mountPath": "/keys"}],
}
POD_TEMPLATE = {
    "spec": {
        "volumes": [
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}},
            {"name": "keys", "secret": {"secretName": "course-token"}},
        ],
        "containers": [APP_PART],
        "initContainers": [CHECK],
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [TOLERATION],
        "securityContext": {"supplementalGroups": [4321]},
    }
}


def secret(name, **values):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": values}


def test_missing_proxy_secret_is_named_in_the_failure(world):
    world.kubectl("delete", "secret", NAME, "--ignore-not-found")
    name = world.launch(world.template())
    reason = world.until(name, "failed")["reason"]
    assert reason["code"] == "start-timeout"
    assert f"the Secret {NAME} with the key secrets" in reason["message"], reason
    assert "administrator" in reason["remedy"]
    world.until_no_workload(name)


def test_pod_template_reaches_the_app_and_the_proxy_secret_only_the_sidecar(world):
    world.apply(secret(NAME, secrets=VALUE), secret("course-token", token="swordfish"))
    name = world.running(ALICE, pod_template=POD_TEMPLATE)
    status, body = world.visit(name, ALICE, proof=VALUE)
    assert status == 200
    assert "proof" not in json.dumps(json.loads(body)["headers"]).lower()
    assert [world.visit(name, ALICE, proof=proof)[0] for proof in (None, OTHER)] == [403, 403]

    pod = world.pod(name)
    app = Source(world.namespace, pod["metadata"]["name"])
    assert "no such file" in app.run(world, "read", FILE)
    environment = app.run(world, "read", "/proc/self/environ")
    assert "PORT=8888" in environment and "TOKEN=swordfish" in environment
    assert "PROXY_SECRET" not in environment and VALUE not in environment
    [mounts] = [one["volumeMounts"] for one in pod["spec"]["containers"] if one["name"] == "app"]
    assert (mounts, pod["spec"].get("shareProcessNamespace")) == (APP_PART["volumeMounts"], None)

    [shm] = [line for line in app.run(world, "read", "/proc/self/mounts").splitlines() if " /dev/shm " in line]
    assert "size=16384k" in shm, shm
    assert "4321" in app.run(world, "read", "/proc/self/status").split("Groups:")[1].splitlines()[0]
    assert pod["spec"]["nodeSelector"] == {"kubernetes.io/os": "linux"} and TOLERATION in pod["spec"]["tolerations"]
    [checked] = [one for one in pod["status"]["initContainerStatuses"] if one["name"] == "check"]
    assert checked["state"]["terminated"]["exitCode"] == 0
    world.assert_nothing_was_forbidden()
