"""The API server fails calls of launcher and operator: each kind of write with every fault of the proxy, all watches, or all
calls. The state converges, no object is duplicated, and no workshop ends by mistake."""

import contextlib
import json

import faults
import pytest
from census import ObjectRecorder
from harness import ADMIN, wait_for
from world import WORKLOAD, World

# {kind of write of the launcher or the operator: its faults}. Each fault occurs at some write, and each write fails. The
# first creation of a pod may have created it despite its fault, so there may be no second one.
LAUNCHER_WRITES = {
    "PATCH workshops": (faults.DONE_BUT_504, faults.CONFLICT, faults.HANG),
    "DELETE workshops": (faults.CONFLICT, faults.CONFLICT, faults.BROKEN, faults.DONE_BUT_RESET),
}
OPERATOR_WRITES = {
    "POST pods": (faults.HANG,),
    "PATCH services": (faults.TOO_MANY, faults.DONE_BUT_RESET),
    "PATCH ingresses": (faults.RESET, faults.DONE_BUT_504),
    "PATCH workshops/status": (faults.BROKEN, faults.CONFLICT),
}
RENEWALS = (faults.CONFLICT, faults.BROKEN, faults.DONE_BUT_504)


class FaultyWorld(World):
    """A World whose launcher and operator each reach the API server through a separate fault-injecting proxy."""

    def __init__(self, name, **settings):
        super().__init__(name, **settings)
        self.to_launcher, self.to_operator = faults.Proxy(), faults.Proxy()
        self.proxies = contextlib.ExitStack()

    def __enter__(self):
        self.proxies.enter_context(self.to_launcher)
        self.proxies.enter_context(self.to_operator)
        return super().__enter__()

    def __exit__(self, *_):
        try:
            super().__exit__()
        finally:
            self.proxies.close()

    def new_launcher(self, server=None, **settings):
        return super().new_launcher(server or self.to_launcher.url, **settings)

    def new_operator(self, server=None, **settings):
        return super().new_operator(server or self.to_operator.url, **settings)

    def stop_faults(self):
        self.to_launcher.stop_faults()
        self.to_operator.stop_faults()


@pytest.fixture(scope="module")
def world():
    with FaultyWorld("faults", SERVICE_LEASE_SECONDS="12") as made:
        yield made


@pytest.fixture(autouse=True)
def stop_faults_after_test(world):
    yield
    world.stop_faults()


@pytest.fixture(scope="module")
def template(world):
    return world.template()


@pytest.fixture(autouse=True)
def unrelated(world, template):
    """A workshop that no test changes: it runs in the same pod afterwards."""
    running = [name for name, row in world.launcher.instances().items() if row["state"] == "running"]
    name = running[0] if running else world.launch(template, ADMIN)
    world.until(name, "running")
    uid = world.uid(name)
    yield name
    assert (world.instance(name)["state"], world.uid(name)) == ("running", uid), "the unrelated workshop was changed"


def rules(proxy, faults_of, name):
    return [proxy.inject(fault, call, 1, name) for call, found in faults_of.items() for fault in found]


def until_injected(injected):
    wait_for("each fault to occur", lambda: not [rule for rule in injected if rule.left])


def transitions(world):
    return json.loads(world.kubectl("get", "lease", "workshop-operator", "--output", "json"))["spec"]["leaseTransitions"]


def test_failed_writes_are_retried(world):
    """One workshop from launch to end. No row becomes `terminated` while its Workshop exists, for any answer of the API
    server to the delete. The leader repeats each failed renewal before its lease expires."""
    before = transitions(world)
    injected = rules(world.to_launcher, LAUNCHER_WRITES, "unlucky") + rules(world.to_operator, OPERATOR_WRITES, "unlucky")
    injected += rules(world.to_operator, {"PUT leases": RENEWALS}, "workshop-operator")
    with ObjectRecorder(world) as recorder:
        name = world.launch(world.template(name="unlucky"), ADMIN)
        world.until(name, "running")
        world.extend(name)
        world.end(name)
        assert world.until_ended(name)["end_reason"] == "owner"
        recorder.assert_one_each(name)
    until_injected(injected)
    assert transitions(world) == before, "the leader gave up the lease"


def test_changes_made_during_broken_watches_are_applied(world, template):
    """All watches are cut and their resource versions expire: the programs still detect later changes. The launcher cannot
    list or watch at first: its next list shows the deletion."""
    watched = ["workshops", *WORKLOAD]
    injected = [world.to_operator.inject(faults.EXPIRED, f"WATCH {kind}") for kind in watched]
    injected.append(world.to_launcher.inject(faults.EXPIRED, "WATCH workshops"))
    lost, ended = (world.launch(template, ADMIN) for _ in range(2))
    with ObjectRecorder(world) as recorder:
        world.to_operator.drop_watches(at_least=len(watched))
        world.to_launcher.drop_watches(at_least=1)
        for name in (lost, ended):
            world.until(name, "running")
        injected.append(world.to_launcher.inject(faults.BROKEN, "WATCH workshops"))
        world.to_launcher.drop_watches(at_least=1)
        world.kubectl("delete", "workshop", lost)
        world.end(ended)
        assert world.until(lost, "terminated")["end_reason"] == "lost"
        assert world.until_ended(ended)["end_reason"] == "owner"
        world.until_gone(lost)
        recorder.assert_one_each(ended, lost)
    until_injected(injected)


def test_changes_are_applied_after_api_server_outage(world, template, unrelated):
    """The API keeps answering, and the operator stops leading. The requested changes happen once the API server is back."""
    ended = world.launch(template, ADMIN)
    world.until(ended, "running")
    world.to_launcher.begin_outage()
    world.to_operator.begin_outage()
    with ObjectRecorder(world) as recorder:
        launched = world.launch(template, ADMIN)
        world.end(ended)
        wait_for("the operator to stand by", lambda: world.operator.metrics()["operator_leading"] == 0)
        wait_for("the launch to begin", lambda: world.instance(launched)["state"] != "queued")
        rows = {name: row["state"] for name, row in world.launcher.instances().items()}
        assert (rows[launched], rows[ended], rows[unrelated]) == ("starting", "terminating", "running")
        assert world.workshop(launched) is None and world.workshop(ended) is not None
        world.to_launcher.end_outage()
        world.to_operator.end_outage()
        world.until(launched, "running")
        world.until_ended(ended)
        world.end(launched)
        world.until_ended(launched)
        recorder.assert_one_each(launched)
