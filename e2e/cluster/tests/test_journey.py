"""A workshop's whole life on the cluster, through the API: launch, visit, extend, end, and nothing left."""

import json

from harness import ADMIN, wait_for
from world import ALICE, BOB, IMAGES, WORKSHOP_DOMAIN, expires_at, parse_time, seconds_from_now


def test_workshop_lifecycle_from_launch_to_end(world):
    template = world.template()
    name = world.launch(template)
    instance = world.until(name, "running")
    assert instance["url"] == f"http://{name}.{WORKSHOP_DOMAIN}/"
    assert 0 < seconds_from_now(instance["expires_at"]) <= 7200

    pod = world.pod(name)
    containers = {one["name"]: one["image"] for one in pod["spec"]["containers"]}
    assert containers == {"app": f"{IMAGES}/http:test", "sidecar": f"{IMAGES}/sidecar:test"}
    assert [one["name"] for one in pod["spec"]["containers"]][1] == "sidecar"

    status, body = world.visit(name, ALICE, "/lab?x=1")
    assert status == 200
    assert json.loads(body)["path"] == "/lab?x=1"
    assert "X-Auth-Request-Email" not in json.loads(body)["headers"]
    assert world.visit(name, BOB)[0] == 403
    assert world.visit(name)[0] == 403

    before = instance["expires_at"]
    status, _, extended = world.launcher.request("POST", f"/instances/{name}/extend", ALICE, {})
    assert status == 200
    assert extended["expires_at"] > before

    wait_for("the extension", lambda: expires_at(world.workshop(name)) == parse_time(extended["expires_at"]), 15)
    assert world.pod(name)["metadata"]["uid"] == pod["metadata"]["uid"], "the extension restarted the workshop"

    assert {one.split("/")[0] for one in world.workload(name)} == {"pods", "services", "ingresses"}
    world.end(name, ALICE)
    ended = world.until(name, "terminated")
    assert ended["end_reason"] == "owner"
    assert world.workshop(name) is None
    assert world.workload(name) == [], "the row is terminated while objects of it exist"


def test_workshop_labels_do_not_contain_owner(world):
    name = world.running()
    workshop = world.workshop(name)
    assert workshop["metadata"]["labels"] == {"app": "workshop", "managed-by": "workshop-launcher"}
    assert workshop["spec"]["owner"] == ALICE
    world.end(name, ADMIN)
    assert world.until(name, "terminated")["end_reason"] == "admin"


def test_workshop_expires(world):
    short = {"lifetime_seconds": 60, "extension_seconds": 60, "max_lifetime_seconds": 120}
    name = world.running(**short)
    assert 0 < seconds_from_now(world.instance(name)["expires_at"]) <= 60
    ended = world.until(name, "terminated", seconds=150)
    assert ended["end_reason"] == "expired"
    world.until_gone(name)
