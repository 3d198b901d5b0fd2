"""The API server fails calls of launcher and operator: each kind of write and delete with every fault of the proxy, all
watches, the Lease, all calls, or calls at random. The state converges, no object is duplicated, and no workshop ends by
mistake."""

import contextlib
import itertools
import json
from concurrent.futures import ThreadPoolExecutor

import faults
import pytest
from census import ObjectRecorder
from harness import ADMIN, seed_of, wait_for
from world import WORKLOAD, World

STORM_LAUNCHES = 8
STORM_CHANCE = 0.3
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
# {kind of child: faults of the operator's deletes, after which the delete is repeated}.
DELETES = {kind: (faults.CONFLICT, faults.BROKEN) for kind in WORKLOAD} | {"services": (faults.TOO_MANY, faults.RESET)}


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

    def injected(self):
        return self.to_launcher.injected + self.to_operator.injected


@pytest.fixture(scope="module")
def world():
    with FaultyWorld("faults", SERVICE_LEASE_SECONDS="10") as made:
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


def test_failed_writes_are_retried(world):
    """One workshop from launch to end. No row becomes `terminated` while its Workshop exists, for any answer of the API
    server to the delete."""
    injected = rules(world.to_launcher, LAUNCHER_WRITES, "unlucky") + rules(world.to_operator, OPERATOR_WRITES, "unlucky")
    with ObjectRecorder(world) as recorder:
        name = world.launch(world.template(name="unlucky"), ADMIN)
        world.until(name, "running")
        world.extend(name)
        world.end(name)
        assert world.until_ended(name)["end_reason"] == "owner"
        recorder.assert_one_each(name)
    until_injected(injected)


def test_failed_deletes_of_a_workload_are_retried(world):
    """A workshop fails and another one expires. The operator alone removes the workloads: here the launcher cannot delete
    the Workshop of the first, and the second has no launcher."""
    world.to_launcher.inject(faults.BROKEN, "DELETE workshops", 100_000, "failing")
    calls = {f"DELETE {kind}": found for kind, found in DELETES.items()}
    injected = rules(world.to_operator, calls, "failing") + rules(world.to_operator, calls, "expiring")
    # The first delete succeeds although its answer is an error. The operator need not repeat it.
    done = itertools.cycle((faults.DONE_BUT_504, faults.DONE_BUT_RESET))
    injected += [world.to_operator.inject(fault, call, 1, "done") for call, fault in zip(calls, done)]
    short = {"lifetimeSeconds": 5}
    with ObjectRecorder(world) as recorder, world.by_hand("expiring", **short), world.by_hand("done", **short):
        name = world.launch(world.template(name="failing", args=["exit", "3"]), ADMIN)
        assert world.until(name, "failed")["reason"]["code"] == "crashed"
        for one, phase in ((name, "Failed"), ("expiring", "Expired"), ("done", "Expired")):
            world.until_no_workload(one)
            assert world.phase(one) == phase, "expected that only the operator deletes the workload"
        assert world.instance(name)["state"] == "failed"
        until_injected(injected)
        recorder.assert_one_each(name, "expiring", "done")
    world.stop_faults()
    world.end(name)
    assert world.until_ended(name)["end_reason"] == "failed"


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


def lease(world):
    return json.loads(world.kubectl("get", "lease", "workshop-operator", "--output", "json"))["spec"]


def test_leader_keeps_its_lease_after_failed_renewals(world):
    """The leader repeats each failed renewal before the lease expires."""
    before = lease(world)
    for fault in (faults.CONFLICT, faults.BROKEN, faults.DONE_BUT_504):
        until_injected([world.to_operator.inject(fault, "PUT leases", 1, "workshop-operator")])
        then = lease(world)["renewTime"]
        wait_for("the lease to be renewed", lambda then=then: lease(world)["renewTime"] > then)
    assert lease(world)["leaseTransitions"] == before["leaseTransitions"], "the leader gave up the lease"


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


def test_state_converges_after_random_faults(world, template):
    """About a third of all calls fail, with random faults, during launches, extensions and ends."""
    seed = seed_of("FAULTS_SEED")
    before = world.injected()
    with ObjectRecorder(world) as recorder:
        world.to_launcher.inject_randomly(seed, STORM_CHANCE)
        world.to_operator.inject_randomly(seed + 1, STORM_CHANCE)
        names = [world.launch(template, ADMIN) for _ in range(STORM_LAUNCHES)]
        ended, kept = names[::2], names[1::2]
        with ThreadPoolExecutor(len(ended)) as people:
            lives = people.map(hurried_life, [world] * len(ended), ended, itertools.cycle([True, False]))
            # Watches would last a minute. Reset them, so that the programs open new watches while faults are injected.
            cut = world.to_launcher.drop_watches() + world.to_operator.drop_watches()
            list(lives)
        injected = world.injected() - before
        world.stop_faults()
        for name in kept:
            world.until(name, "running")
        assert {world.until_ended(name)["end_reason"] for name in ended} == {"owner"}
        for name in ended:
            assert all(len(uids) <= 1 for uids in recorder.of(name).values()), (name, recorder.of(name))
        world.end(*kept)
        world.until_ended(*kept)
        recorder.assert_one_each(*kept)
    print(f"injected: {sorted(injected.items())}")
    assert sum(injected.values()) - cut > STORM_LAUNCHES, injected


def hurried_life(world, name, runs_first):
    """Ends the workshop, either before it runs or after an extension."""
    if runs_first:
        world.until(name, "running")
        world.launcher.request("POST", f"/instances/{name}/extend", body={})
    world.end(name)
