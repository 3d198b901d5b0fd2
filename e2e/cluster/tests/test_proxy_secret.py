"""The proxy secret in pods: the sidecar requires it, the app never sees it, and a missing Secret is reported."""

import json

from harness import wait_for
from surroundings import Source
from world import ALICE, World

NAME, VALUE, OTHER = "workshop-proxy", "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
FILE = "/etc/workshop-launcher/proxy/secrets"
WORLD = {"SERVICE_PROXY_SECRET_NAME": NAME, "SERVICE_WAIT_FOR_ISOLATION": "false"}


def write_secret(world, *values):
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": NAME}, "stringData": {"secrets": "\n".join(values)}}
    world.apply(secret)


def test_sidecar_demands_the_secret_and_the_app_never_sees_it(world):
    write_secret(world, VALUE)
    name = world.running(ALICE)
    status, body = world.visit(name, ALICE, proof=VALUE)
    assert status == 200
    assert "proof" not in json.dumps(json.loads(body)["headers"]).lower()
    assert world.visit(name, ALICE)[0] == 403
    assert world.visit(name, ALICE, proof=OTHER)[0] == 403
    pod = world.pod(name)
    app = Source(world.namespace, pod["metadata"]["name"])
    assert "no such file" in app.run(world, "read", FILE)
    environment = app.run(world, "read", "/proc/self/environ")
    assert "PORT=8888" in environment and "PROXY_SECRET" not in environment
    [mounts] = [one.get("volumeMounts", []) for one in pod["spec"]["containers"] if one["name"] == "app"]
    assert (mounts, pod["spec"].get("shareProcessNamespace")) == ([], None)


def test_failure_names_missing_proxy_secret():
    settings = {"SERVICE_PROXY_SECRET_NAME": "not-there", "SERVICE_ROOM_GRACE": "20"}
    with World("missing-secret", **settings) as world:
        name = world.launch(world.template())
        reason = world.until(name, "failed", seconds=90)["reason"]
        assert reason["code"] == "start-timeout"
        assert "the Secret not-there with the key secrets" in reason["message"], reason
        assert "administrator" in reason["remedy"]
        wait_for("the workload to be deleted", lambda: not world.workload(name), 60)
