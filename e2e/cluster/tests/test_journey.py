"""A workshop's whole life on the cluster, through the API: launch, visit, extend, expiry in the frame page, end, and nothing
left; and what `kubectl` and the Event report."""

import json
import re

import pytest
from harness import wait_for
from world import ALICE, BOB, IMAGES, LABELS, WORKLOAD, WORKSHOP_DOMAIN, parse_time, seconds_from_now


@pytest.fixture(scope="module")
def running(world):
    return world.running()


def test_workshop_lifecycle_from_launch_to_end(world, running):
    name, instance, pod = running, world.instance(running), world.pod(running)
    assert instance["url"] == f"http://{name}.{WORKSHOP_DOMAIN}/"
    assert 0 < seconds_from_now(instance["expires_at"]) <= 7200
    containers = {one["name"]: one["image"] for one in pod["spec"]["containers"]}
    assert containers == {"app": f"{IMAGES}/http:test", "sidecar": f"{IMAGES}/sidecar:test"}
    workshop = world.workshop(name)
    assert (workshop["metadata"]["labels"], workshop["spec"]["owner"]) == (LABELS, ALICE), "no label has the owner"

    status, body = world.visit(name, ALICE, "/lab?x=1")
    assert (status, json.loads(body)["path"]) == (200, "/lab?x=1")
    assert "X-Auth-Request-Email" not in json.loads(body)["headers"]
    refused = world.visit(name, BOB)
    assert (refused[0], world.visit(name)[0]) == (403, 403)
    assert world.visit(name, ALICE, "/_launcher/frame")[0] == 200
    for path in ("/_launcher/frame", "/_launcher/status", "/_launcher/frame.js"):
        assert world.visit(name, BOB, path) == refused

    def shown():
        """Returns the expiry that the frame page shows, or None."""
        at = json.loads(world.visit(name, ALICE, "/_launcher/status")[1])["expires_at"]
        return at and parse_time(at)

    # The operator has not written it: the sidecar counts the lifetime from the time at which the app was ready.
    assert abs((shown() - parse_time(instance["expires_at"])).total_seconds()) < 60
    later = world.extend(name, ALICE)
    assert later > parse_time(instance["expires_at"])
    # The kubelet updates the file with the expiry with its sync period, of a minute.
    wait_for("the new expiry on the frame page", lambda: shown() == later)
    assert (world.uid(name), world.restarts(name)) == (pod["metadata"]["uid"], {"app": 0, "sidecar": 0})

    assert {one.split("/")[0] for one in world.workload(name)} == set(WORKLOAD)
    other = world.running(security_profile="baseline")
    assert world.visit(other, ALICE)[0] == 200
    world.end(other, email=ALICE)
    assert world.until_ended(other)["end_reason"] == "owner"
    world.assert_nothing_was_forbidden()


def test_kubectl_shows_and_selects_workshops(world, running):
    header, line = world.kubectl("get", "workshops", running).splitlines()
    assert header.split() == ["NAME", "OWNER", "PHASE", "URL", "EXPIRES", "AGE"]
    *columns, age = line.split()
    # The expiry is a time in the future, which kubectl cannot print as a date: it would print <invalid>.
    expiry = world.status(running)["expiresAt"]
    assert columns == [running, ALICE, "Running", f"http://{running}.{WORKSHOP_DOMAIN}/", expiry]
    assert re.fullmatch(r"(\d+[hms])+", age)
    assert f"workshop.workshoplauncher.dev/{running}" in world.kubectl("get", "workshop-launcher", "--output", "name").split()
    of_workshop = f"involvedObject.kind=Workshop,involvedObject.name={running}"
    event = ("get", "events", "--field-selector", of_workshop, "--output", "jsonpath={.items[*].message}")
    wait_for("the Event", lambda: world.kubectl(*event) == f"The app answers at http://{running}.{WORKSHOP_DOMAIN}/")
    for selector, is_selected in {
        f"spec.owner={ALICE},status.phase=Running": True,
        "spec.owner=carol@example.org": False,
        "status.phase=Expired": False,
    }.items():
        assert (running in world.kubectl("get", "workshops", "--field-selector", selector)) == is_selected, selector
    for what, text in {
        "workshops": "Workshop of one user. The operator runs it in a pod with the same name.",
        "workshop.spec.owner": "only user that the sidecar admits",
    }.items():
        assert text in " ".join(world.kubectl("explain", what).split())
