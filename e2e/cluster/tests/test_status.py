"""The operator's reports about a workshop: conditions, Events, metrics, and the columns of kubectl."""

import json
import re

import pytest

from harness import wait_for
from world import ALICE, IMAGES, WORKSHOP_DOMAIN

MISSING = f"{IMAGES}/missing:test"


@pytest.fixture(scope="module")
def running(world):
    return world.running()


@pytest.fixture(scope="module")
def failed(world):
    name = world.launch(world.template(image=MISSING))
    world.until(name, "failed")
    return name


def conditions(world, name):
    found = world.workshop(name)["status"]["conditions"]
    return {one["type"]: (one["status"], one["reason"]) for one in found}


def events(world, name):
    """Returns the Events of a Workshop, oldest first: (type, reason, text)."""
    listed = json.loads(world.kubectl("get", "events.v1.events.k8s.io", "--output", "json"))["items"]
    mine = [one for one in listed if (one["regarding"]["kind"], one["regarding"]["name"]) == ("Workshop", name)]
    mine.sort(key=lambda one: one["eventTime"])
    return [(one["type"], one["reason"], one.get("note", "")) for one in mine]


def test_running_workshop_is_ready_and_exposed(world, running):
    assert conditions(world, running) == {"Ready": ("True", "Answers"), "Exposed": ("True", "IngressApplied")}
    workshop = world.workshop(running)
    assert workshop["status"]["observedGeneration"] == workshop["metadata"]["generation"]


def test_result_of_a_start_writes_a_kubernetes_event(world, running, failed):
    url = f"http://{running}.{WORKSHOP_DOMAIN}/"
    told = wait_for("the Event", lambda: events(world, running), 20)
    assert told == [("Normal", "Running", f"The app answers at {url}")]
    [last] = wait_for("the Event", lambda: events(world, failed), 20)
    assert last[:2] == ("Warning", "Failed")
    assert last[2].startswith("image-pull-failed: ") and MISSING in last[2]


def test_kubectl_shows_owner_phase_url_expiry_and_age(world, running):
    """The expiry is a time in the future, which kubectl cannot print as a date: it would print <invalid>."""
    header, line = world.kubectl("get", "workshops", running).splitlines()
    assert header.split() == ["NAME", "OWNER", "PHASE", "URL", "EXPIRES", "AGE"]
    *columns, age = line.split()
    expiry = world.workshop(running)["status"]["expiresAt"]
    assert columns == [running, ALICE, "Running", f"http://{running}.{WORKSHOP_DOMAIN}/", expiry]
    assert re.fullmatch(r"(\d+[hms])+", age)


def test_metrics_count_reconciles_and_transitions(world, running, failed):
    metrics = world.operator.metrics()
    assert metrics["operator_leading"] == 1
    assert metrics['operator_reconciles_total{outcome="ok"}'] >= 4
    assert metrics['operator_transitions_total{phase="Running"}'] == 1
    assert metrics['operator_failures_total{reason="image-pull-failed"}'] == 1
    one = 'operator_workshops{phase="Running"}'
    wait_for("the Workshops to be counted", lambda: world.operator.metrics().get(one) == 1, 30)


def test_launcher_metrics_count_state_transitions(world, running, failed):
    metrics = world.launcher.metrics()
    counted = {state: metrics[f'launcher_transitions_total{{state="{state}"}}'] for state in ("starting", "running")}
    assert counted == {"starting": 2, "running": 1}
