"""Functions that wait until the rows of the database and the objects of the cluster agree."""

import contextlib
import time

from harness import PATIENCE, wait_for


def phase(world, name):
    """Returns the phase in the Workshop's status, or None."""
    return ((world.workshop(name) or {}).get("status") or {}).get("phase")


def until_ended(world, name):
    """Waits until the instance is `terminated`. Fails if its Workshop or workload still exists at that moment. Returns
    the instance."""
    ended = world.until(name, "terminated")
    assert world.workshop(name) is None, f"{name} is terminated, but its Workshop still exists"
    assert world.workload(name) == [], f"{name} is terminated, but its workload still exists"
    return ended


def is_ending(world, name):
    """Returns True if the instance is terminating or terminated, and its Workshop and pod are being deleted."""
    left = [one["metadata"] for kind in ("workshops", "pods") if (one := world.named(kind, name))]
    states = {"terminating", "terminated"}
    return world.instance(name)["state"] in states and all("deletionTimestamp" in one for one in left)


def until_converged(world, running=(), ended=(), seconds=30):
    """Waits until the instances in `running` run, and the instances in `ended` are terminated with their workloads gone.

    The limit `seconds` excludes the termination of pods, because launcher and operator do not control its duration.
    """
    deadline = time.monotonic() + seconds * PATIENCE

    def left():
        """Returns the seconds until the deadline, divided by the factor with which wait_for() multiplies them."""
        return (deadline - time.monotonic()) / PATIENCE

    for name in running:
        world.until(name, "running", seconds=left())
        wait_for(f"{name} to be ready", lambda name=name: phase(world, name) == "Running", left())
    for name in ended:
        wait_for(f"{name} to be terminating", lambda name=name: is_ending(world, name), left())
    for name in ended:
        until_ended(world, name)


@contextlib.contextmanager
def killed_operator(world):
    """Kills the operator. After the block, starts an operator process with a new lease identity."""
    world.operator.kill()
    try:
        yield
    finally:
        world.operator.start()
