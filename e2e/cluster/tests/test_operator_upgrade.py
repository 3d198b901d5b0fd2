"""An operator with other settings takes over: running workshops keep their pods, and new pods get the new settings."""

import pytest
from harness import ADMIN, wait_for
from test_doctor import doctor

OLD, NEW = "_oauth2_proxy", "_of_the_new_operator"


@pytest.fixture(scope="module")
def upgraded(world):
    """Replaces the operator by one with settings that change every pod. Returns workshops from before, {what: name}, and
    their pods, {what: pod}."""
    template = world.template()
    names = {what: world.launch(template, ADMIN) for what in ("kept", "restarted", "lost")}
    world.until_converged(names.values())
    pods = {what: world.pod(name) for what, name in names.items()}
    assert not any(is_outdated(world, name) for name in names.values())
    world.replace_operator(SERVICE_SESSION_COOKIE_PREFIX=NEW)
    for name in names.values():
        wait_for("the status to show the older pod", lambda name=name: is_outdated(world, name))
    return names, pods


def cookie_prefix(pod):
    """Returns the sidecar's setting that differs between the two operators."""
    [sidecar] = [one for one in pod["spec"]["containers"] if one["name"] == "sidecar"]
    [prefix] = [one["value"] for one in sidecar["env"] if one["name"] == "SERVICE_SESSION_COOKIE_PREFIX"]
    return prefix


def is_outdated(world, name):
    return world.status(name).get("podOutdated", False)


def until_current(world, name, pod):
    """Waits until the workshop runs in another pod, which has the current settings."""
    world.until_other_pod(name, pod["metadata"]["uid"])
    assert cookie_prefix(world.pod(name)) == NEW
    wait_for("the status to show the current pod", lambda: not is_outdated(world, name))
    world.until_app_answers(name, ADMIN)


def test_running_workshop_keeps_its_pod_after_operator_upgrade(world, upgraded):
    name, before = upgraded[0]["kept"], upgraded[1]["kept"]
    new = world.running(ADMIN)
    assert (cookie_prefix(world.pod(new)), is_outdated(world, new)) == (NEW, False)
    world.extend(name)
    after = world.pod(name)
    assert (after["metadata"]["uid"], cookie_prefix(after)) == (before["metadata"]["uid"], OLD)
    assert (world.restarts(name), world.phase(name)) == ({"app": 0, "sidecar": 0}, "Running")
    verdict, words = doctor(world.launcher)[1]["workshop pods"]
    assert verdict == "ok" and name in words and new not in words, words
    world.end(new)


def test_restarted_workshop_gets_one_pod_with_current_settings(world, upgraded):
    name, before = upgraded[0]["restarted"], upgraded[1]["restarted"]
    wait_for("the launcher to show the older pod", lambda: world.instance(name)["outdated"])
    expiry = world.instance(name)["expires_at"]
    assert not world.ask(202, "POST", f"/instances/{name}/restart", body={})["outdated"]
    until_current(world, name, before)
    assert world.instance(name)["expires_at"] == expiry
    after = world.uid(name)
    assert world.ask(409, "POST", f"/instances/{name}/restart", body={})["code"] == "not-outdated"
    assert world.uid(name) == after
    assert world.uid(upgraded[0]["kept"]) == upgraded[1]["kept"]["metadata"]["uid"]


def test_lost_pod_is_created_again_with_current_settings(world, upgraded):
    world.kubectl("delete", "pod", upgraded[0]["lost"], "--grace-period=1")
    until_current(world, upgraded[0]["lost"], upgraded[1]["lost"])
