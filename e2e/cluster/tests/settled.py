"""What tests of several files wait for: row and cluster agree."""

import contextlib
import time

from harness import wait_for


def phase(world, name):
    """What the status of this Workshop says."""
    return ((world.workshop(name) or {}).get("status") or {}).get("phase")


def until_ended(world, name):
    """Waits until the row says so; at that moment nothing is left. Returns the instance."""
    ended = world.until(name, "terminated")
    assert world.workshop(name) is None, f"{name} says terminated while there is a Workshop"
    assert world.workload(name) == [], f"{name} says terminated while something is left"
    return ended


def is_ending(world, name):
    """Whether the row says so, and the Workshop and its Deployment are being deleted."""
    left = [one["metadata"] for one in world.objects("workshops,deployments") if one["metadata"]["name"] == name]
    states = {"terminating", "terminated"}
    return world.instance(name)["state"] in states and all("deletionTimestamp" in one for one in left)


def until_right(world, running=(), ended=(), seconds=30):
    """Waits until our programs have done their part, for so long at most; then until nothing of the ended is left.

    How long a pod takes to end is not their business.
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
    """While the operator is killed; a new one, of another identity, comes after it."""
    world.operator.kill()
    try:
        yield
    finally:
        world.operator.start()
