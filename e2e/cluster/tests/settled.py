"""Functions that wait until row and cluster agree, shared by several test files."""

import contextlib
import time

from harness import wait_for


def phase(world, name):
    """Returns the phase in the status of this Workshop, or None."""
    return ((world.workshop(name) or {}).get("status") or {}).get("phase")


def until_ended(world, name):
    """Waits until the row is `terminated`, and fails if anything is left in the cluster at that moment. Returns the
    instance."""
    ended = world.until(name, "terminated")
    assert world.workshop(name) is None, f"{name} says terminated while there is a Workshop"
    assert world.workload(name) == [], f"{name} says terminated while something is left"
    return ended


def is_ending(world, name):
    """Returns True if the row is ending or ended, and the Workshop and its Deployment are being deleted or gone."""
    left = [one["metadata"] for one in world.objects("workshops,deployments") if one["metadata"]["name"] == name]
    states = {"terminating", "terminated"}
    return world.instance(name)["state"] in states and all("deletionTimestamp" in one for one in left)


def until_right(world, running=(), ended=(), seconds=30):
    """Waits at most `seconds` until our programs have done their part, then until the ended workshops are gone.

    The time a pod takes to terminate does not count: our programs do not control it.
    """
    deadline = time.monotonic() + seconds
    for name in running:
        world.until(name, "running", seconds=deadline - time.monotonic())
        wait_for(f"{name} to be ready", lambda name=name: phase(world, name) == "Running", deadline - time.monotonic())
    for name in ended:
        wait_for(f"{name} to be ending", lambda name=name: is_ending(world, name), deadline - time.monotonic())
    for name in ended:
        until_ended(world, name)


@contextlib.contextmanager
def killed(world):
    """Kills the operator for the duration of the block; afterwards starts one with another identity."""
    world.operator.kill()
    try:
        yield
    finally:
        world.operator.start()
