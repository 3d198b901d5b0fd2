"""An operator with other settings takes over: running workshops keep their pods, new pods get the new settings, and a
workshop with a Deployment of an earlier version keeps it."""

import pytest

from harness import ADMIN, wait_for
from settled import phase
from test_admission import deployment_of
from test_doctor import doctor
from world import expires_at, parse_time

OLD, NEW = "_oauth2_proxy", "_of_the_new_operator"


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


def is_outdated(world, name):
    return world.workshop(name)["status"].get("podOutdated", False)


def test_running_workshop_keeps_its_pod_after_operator_upgrade(world, template, running, upgrade):
    before = world.pod(running)
    assert not is_outdated(world, running)
    upgrade()
    new = world.launch(template, ADMIN)
    world.until(new, "running")
    assert cookie_prefix(world.pod(new)) == NEW
    # The new operator has reconciled the older workshop, too.
    wait_for("the status to show the older pod", lambda: is_outdated(world, running), 30)
    status, _, body = world.launcher.request("POST", f"/instances/{running}/extend", ADMIN, {})
    assert status == 200, body
    wait_for("the extension", lambda: expires_at(world.workshop(running)) == parse_time(body["expires_at"]), 30)
    after = world.pod(running)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert [one["restartCount"] for one in after["status"]["containerStatuses"]] == [0, 0]
    assert cookie_prefix(after) == OLD
    assert phase(world, running) == "Running"
    assert not is_outdated(world, new)
    _, said = doctor(world.launcher)
    verdict, words = said["workshop pods"]
    assert verdict == "ok" and running in words and new not in words, words
    world.end(new)


def test_restarted_workshop_gets_one_pod_with_current_settings(world, running, upgrade):
    other = world.launch(world.template(), ADMIN)
    world.until(other, "running")
    before, kept = world.pod(running), world.pod(other)
    upgrade()
    wait_for("the launcher to show the older pod", lambda: world.instance(running)["outdated"], 30)
    expiry = world.instance(running)["expires_at"]
    status, _, body = world.launcher.request("POST", f"/instances/{running}/restart", ADMIN, {})
    assert (status, body["outdated"]) == (202, False), body

    def is_restarted():
        pods = world.of_workshop("pods", running)
        return [cookie_prefix(pod) for pod in pods] == [NEW] and phase(world, running) == "Running"

    wait_for("the workshop to run in a pod with the current settings", is_restarted, 90)
    after = world.pod(running)
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert world.instance(running)["expires_at"] == expiry
    wait_for("the status to show the current pod", lambda: not is_outdated(world, running), 30)
    status, _, body = world.launcher.request("POST", f"/instances/{running}/restart", ADMIN, {})
    assert (status, body["code"]) == (409, "not-outdated"), body
    assert world.pod(running)["metadata"]["uid"] == after["metadata"]["uid"]
    assert world.pod(other)["metadata"]["uid"] == kept["metadata"]["uid"]
    world.end(other)


def test_lost_pod_is_created_again_with_current_settings(world, running, upgrade):
    upgrade()
    world.kubectl("delete", "pod", running, "--grace-period=1")

    def is_right():
        pods = world.of_workshop("pods", running)
        return [cookie_prefix(pod) for pod in pods] == [NEW] and phase(world, running) == "Running"

    wait_for("the workshop to run in a pod with the current settings", is_right, 60)
    wait_for("the status to show the current pod", lambda: not is_outdated(world, running), 30)


def test_deployment_of_earlier_version_runs_until_it_is_deleted(world, running, upgrade):
    def downgrade():
        """Makes the workload look like one of an operator that created a Deployment."""
        made, spec = deployment_of(world.workshop(running)), world.pod(running)["spec"]
        del spec["nodeName"]
        made["spec"] |= {"replicas": 1}
        made["spec"]["template"]["spec"] = spec
        world.kubectl("delete", "pod", running, "--grace-period=1")
        world.apply(made)

    upgrade(downgrade)

    def owners():
        pods = world.of_workshop("pods", running)
        return [reference["kind"] for pod in pods for reference in pod["metadata"]["ownerReferences"]]

    def runs_in_pod_of(kind):
        wait_for(f"the pod of a {kind} to be the only pod", lambda: owners() == [kind], 60)
        wait_for("the workshop to run", lambda: phase(world, running) == "Running", 60)
        world.until_app_answers(running, ADMIN)
        assert owners() == [kind]

    runs_in_pod_of("ReplicaSet")
    wait_for("the status to show the older pod", lambda: is_outdated(world, running), 30)
    world.kubectl("delete", "deployment", running)
    runs_in_pod_of("Workshop")
