"""The API server fails the operator's deletes after a failure or an expiry, with every fault of the proxy: the operator
still deletes all children, and other workshops stay untouched."""

import faults
from census import ObjectRecorder
from faulty import assert_still_runs, stop_faults_after_test, template, unrelated_workshop, world
from harness import ADMIN, wait_for
from settled import until_ended

FAULTS = [faults.CONFLICT, faults.TOO_MANY, faults.BROKEN, faults.DONE_BUT_504, faults.DONE_BUT_RESET, faults.RESET]
# With these faults, the first delete succeeds although its answer is an error. The operator need not repeat it.
DONE_AT_ONCE = {faults.DONE_BUT_504, faults.DONE_BUT_RESET}
CHILDREN = ["ingresses", "services", "pods"]
SHORT = {"lifetime_seconds": 60, "extension_seconds": 60, "max_lifetime_seconds": 120}


def doomed(world, end, **changes):
    """Launches one workshop for each fault, to end in this way; the operator's first two deletes of each child meet the
    fault. Returns {name: (the fault, its rules)}."""
    launched = {}
    for number, fault in enumerate(FAULTS):
        rules = [world.to_operator.inject(fault, f"DELETE {kind}", 2, f"{end}-{number}") for kind in CHILDREN]
        launched[world.launch(world.template(name=f"{end} {number}", **changes), ADMIN)] = (fault, rules)
    return launched


def assert_hit(launched):
    """Fails unless each delete met its fault: twice, or at least once if the first call deleted the object."""
    for name, (fault, rules) in launched.items():
        hit = [rule.injected for rule in rules]
        enough = min(hit) >= 1 if fault in DONE_AT_ONCE else hit == [2, 2, 2]
        assert enough, f"{name}: number of faults {fault}: {dict(zip(CHILDREN, hit))}"


def test_deletes_after_failure_are_retried(world, unrelated_workshop):
    """The operator alone removes the workload: here the launcher cannot delete the Workshop."""
    world.to_launcher.inject(faults.BROKEN, "DELETE workshops", 100_000, "failing")
    with ObjectRecorder(world) as recorder:
        launched = doomed(world, "failing", args=["exit", "3"])
        for name in launched:
            assert world.until(name, "failed", 120)["reason"]["code"] == "crashed"
        for name in launched:
            wait_for(f"the workload of {name} to be deleted", lambda name=name: not world.workload(name), 60)
            assert world.workshop(name), "expected that only the operator deletes the workload"
            assert world.instance(name)["state"] == "failed"
        assert_hit(launched)
        recorder.assert_one_each(*launched)
    world.stop_faults()
    for name in launched:
        world.end(name)
    for name in launched:
        assert until_ended(world, name)["end_reason"] == "failed"
    assert_still_runs(world, unrelated_workshop)


def test_deletes_after_expiry_are_retried(world, unrelated_workshop):
    """The operator alone sets the phase Expired and removes the workload: here the launcher cannot delete the
    Workshop. No row becomes `terminated` while its Workshop exists."""
    world.to_launcher.inject(faults.BROKEN, "DELETE workshops", 100_000, "expiring")
    with ObjectRecorder(world) as recorder:
        launched = doomed(world, "expiring", **SHORT)
        for name in launched:
            wait_for(f"{name} to have run", lambda name=name: world.instance(name)["started_at"], 90)
        for name in launched:
            wait_for(f"the workload of {name} to be deleted", lambda name=name: not world.workload(name), 150)
            assert world.workshop(name)["status"]["phase"] == "Expired"
            assert world.instance(name)["state"] in ("running", "terminating")
        assert_hit(launched)
        recorder.assert_one_each(*launched)
    world.stop_faults()
    for name in launched:
        assert until_ended(world, name)["end_reason"] == "expired"
    assert_still_runs(world, unrelated_workshop)
