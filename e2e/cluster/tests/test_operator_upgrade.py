"""An operator with other settings takes over: running workshops keep their pods, new pods get the new settings."""

import json

import pytest

from harness import ADMIN, wait_for
from settled import phase
from world import expires_at, parse_time

OLD, NEW = "_oauth2_proxy", "_of_the_new_operator"
ANNOTATIONS = ("workshoplauncher.dev/spec-digest", "workshoplauncher.dev/applied-revision")


@pytest.fixture(scope="module")
def template(world):
    return world.template()


@pytest.fixture
def running(world, template):
    name = world.launch(template, ADMIN)
    world.until(name, "running")
    yield name
    world.end(name)


@pytest.fixture
def upgrade(world):
    """Replaces the operator by one with settings that change every pod; restores the first settings after the test."""
    old, started = world.operator, []

    def replace(meanwhile=lambda: None):
        old.stop()
        meanwhile()
        new = world.new_operator(SERVICE_SESSION_COOKIE_PREFIX=NEW)
        started.append(new)
        new.start()
        wait_for("the new operator to lead", lambda: new.metrics()["operator_leading"] == 1, 30)

    yield replace
    for new in started:
        new.stop()
        world.operator = world.new_operator()
        world.operator.start()


def cookie_prefix(pod):
    """Returns the sidecar's setting that differs between the two operators."""
    [sidecar] = [one for one in pod["spec"]["containers"] if one["name"] == "sidecar"]
    [prefix] = [one["value"] for one in sidecar["env"] if one["name"] == "SERVICE_SESSION_COOKIE_PREFIX"]
    return prefix


def annotations(world, name):
    return world.named("deployments", name)["metadata"]["annotations"]


def remove_annotations(world, name):
    """Makes the Deployment look like one of an operator that wrote no annotations."""
    world.kubectl("annotate", "deployment", name, *(f"{annotation}-" for annotation in ANNOTATIONS))


@pytest.mark.parametrize("has_annotations", [True, False], ids=["with annotations", "without annotations"])
def test_running_workshop_keeps_its_pod_after_operator_upgrade(world, template, running, upgrade, has_annotations):
    before = world.pod(running)
    upgrade(lambda: has_annotations or remove_annotations(world, running))
    new = world.launch(template, ADMIN)
    world.until(new, "running")
    assert cookie_prefix(world.pod(new)) == NEW
    # The annotations show that the new operator has reconciled the older workshop, too.
    wait_for("the annotations to be added", lambda: set(ANNOTATIONS) <= set(annotations(world, running)), 30)
    status, _, body = world.launcher.request("POST", f"/instances/{running}/extend", ADMIN, {})
    assert status == 200, body
    wait_for("the extension", lambda: expires_at(world.workshop(running)) == parse_time(body["expires_at"]), 30)
    after = world.pod(running)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert [one["restartCount"] for one in after["status"]["containerStatuses"]] == [0, 0]
    assert cookie_prefix(after) == OLD
    assert phase(world, running) == "Running"
    world.end(new)


def test_scaled_deployment_is_reverted_and_keeps_its_template(world, running, upgrade):
    upgrade(lambda: world.kubectl("scale", "deployment", running, "--replicas=0"))

    def is_right():
        pods = world.of_workshop("pods", running)
        return [cookie_prefix(pod) for pod in pods] == [OLD] and phase(world, running) == "Running"

    wait_for("the workshop to run in a pod with the same template", is_right, 90)


@pytest.mark.parametrize("is_down", [False, True], ids=["operator up", "operator down"])
def test_manual_pod_template_change_is_reverted(world, running, upgrade, is_down):
    """The running operator reverts the change, and so does a new operator with other settings."""

    def edit():
        containers = [{"name": "app", "args": ["serve", "8899"]}]
        patch = json.dumps({"spec": {"template": {"spec": {"containers": containers}}}})
        world.kubectl("patch", "deployment", running, "--patch", patch)

    if is_down:
        upgrade(edit)
    else:
        edit()

    def is_right():
        pods = world.of_workshop("pods", running)
        args = [one.get("args") for pod in pods for one in pod["spec"]["containers"] if one["name"] == "app"]
        return args == [["serve"]] and phase(world, running) == "Running"

    wait_for("the app's arguments to be restored", is_right, 90)
    # The phase Running may still be that of the old pod. Wait until the app in the new pod answers.
    world.until_app_answers(running, ADMIN)
