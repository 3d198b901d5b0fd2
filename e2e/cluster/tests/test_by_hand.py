"""Manual changes to the cluster: rows and cluster converge, and no workshop ends by mistake."""

import contextlib

import pytest
from harness import ADMIN, wait_for
from world import APP, LABELS, WORKLOAD, by_hand

WORLD = {"SERVICE_LEASE_SECONDS": "6"}
VICTIMS = ("deleted", "recreated", "changed", "unlabelled", "without_pod", "without_service")


def uid_of(world, kind, name):
    return (world.named(kind, name) or {"metadata": {"uid": None}})["metadata"]["uid"]


def runs_only(world, name, args):
    """Returns True if there is exactly one pod, ready, whose app has these arguments."""
    apps = [one for pod in world.of_workshop("pods", name) for one in pod["spec"]["containers"] if one["name"] == "app"]
    return [app.get("args") for app in apps] == [args] and world.phase(name) == "Running"


@contextlib.contextmanager
def programs_down(world, are_down):
    """Kills launcher and operator for the duration of the block if `are_down`; they must detect manual changes in both
    cases."""
    if are_down:
        world.launcher.kill()
        world.operator.kill()
    try:
        yield
    finally:
        if are_down:
            world.launcher.start()
            world.operator.start()


@pytest.mark.parametrize("are_down", [False, True], ids=["programs up", "programs down"])
def test_cluster_and_rows_converge_after_manual_changes(world, are_down):
    template = world.template()
    names = {what: world.launch(template, ADMIN) for what in VICTIMS}
    world.until_converged(names.values())
    rows = {what: world.instance(name) for what, name in names.items()}
    pods = {what: world.uid(name) for what, name in names.items()}
    specs = {what: world.workshop(name)["spec"] for what, name in names.items()}
    children = {kind: uid_of(world, kind, names["without_service"]) for kind in WORKLOAD if kind != "pods"}
    theirs = f"somebodys-{'down' if are_down else 'up'}"
    with programs_down(world, are_down):
        world.kubectl("delete", "workshop", names["deleted"], "--wait=false")
        world.kubectl("delete", ",".join(children), names["without_service"])
        world.kubectl("delete", "pod", names["without_pod"], "--grace-period=1", "--wait=false")
        change = '{"spec": {"args": ["serve", "8899"]}}'
        world.kubectl("patch", "workshop", names["changed"], "--type=merge", "--patch", change)
        for kind in ("workshops", *WORKLOAD):
            world.kubectl("label", kind, names["unlabelled"], "managed-by-")
        # A Workshop with the labels of the launcher and without a row is an orphan; one without the labels is not ours.
        world.apply(by_hand("stray", LABELS), by_hand(theirs))
        # The recreated Workshop lacks the work of the old one: the row ends as lost, and the launcher deletes it.
        world.kubectl("delete", "workshop", names["recreated"], "--cascade=foreground")
        world.apply(by_hand(names["recreated"], LABELS, **specs["recreated"]))

    for what in ("deleted", "recreated"):
        ended = world.until(names.pop(what), "terminated")
        assert (ended["end_reason"], ended["url"]) == ("lost", None)
        world.until_gone(ended["k8s_name"])
    world.until_gone("stray")
    without = names["without_service"]
    for kind, uid in children.items():
        wait_for(f"the {kind} to be recreated", lambda kind=kind, uid=uid: uid_of(world, kind, without) not in (None, uid))
    world.until_other_pod(names["without_pod"], pods["without_pod"])
    changed = names["changed"]
    wait_for("the Workshop's spec to be restored", lambda: world.workshop(changed)["spec"] == specs["changed"])
    wait_for("the app to run with the original arguments", lambda: runs_only(world, changed, APP["args"]))
    for kind in ("workshops", *WORKLOAD):
        labels = lambda kind=kind: world.named(kind, names["unlabelled"])["metadata"]["labels"]
        wait_for(f"the labels of the {kind} to be restored", lambda: labels().items() >= LABELS.items())
    world.until_phase(theirs, "Running")
    for what, name in names.items():
        world.until_app_answers(name, ADMIN)
        instance = world.instance(name)
        assert (instance["state"], instance["expires_at"]) == ("running", rows[what]["expires_at"]), what
        if what not in ("without_pod", "changed"):
            assert world.uid(name) == pods[what], f"{what}: the workshop restarted"
    assert not world.launcher.instances("all").keys() & {"stray", theirs}
    world.kubectl("delete", "workshop", theirs)
    world.end(*names.values())
    world.until_ended(*names.values())
