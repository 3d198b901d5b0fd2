"""Workshops that do not fit on the server wait in a queue, and the owner sees their position."""

import pathlib
import re

import pytest
from harness import wait_for
from world import QUICK, RESOURCES, World


@pytest.fixture
def world():
    with World() as made:
        yield made


def part_of_server(percent):
    """Returns the resources of a template that requests this part of the server's memory."""
    kibibytes = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1])
    memory = f"{kibibytes * percent // 100}Ki"
    return RESOURCES | {"memory_request": memory, "memory_limit": memory}


def waits_at(world, name, position):
    row = world.instance(name)
    return (row["state"], row["start_step"], row["start_progress"]) == ("starting", "waiting-for-room", position)


def until_waiting(world, *names):
    for position, name in enumerate(names, 1):
        wait_for(f"{name} to wait at position {position}", lambda: waits_at(world, name, position), 20)


def test_workshops_wait_in_order_of_their_launch(world):
    template = world.template(QUICK, resources=part_of_server(40))
    first, second = world.launch(template), world.launch(template)
    for name in (first, second):
        world.until(name, "running")
    third = world.launch(template)
    until_waiting(world, third)
    fourth = world.launch(template)
    until_waiting(world, third, fourth)
    # A workshop that would fit does not overtake those that wait longer.
    small = world.launch(world.template(name="small"))
    until_waiting(world, third, fourth, small)
    # A new launcher keeps the order.
    world.launcher.kill()
    world.launcher.start()
    until_waiting(world, third, fourth, small)
    world.end(third)
    until_waiting(world, fourth, small)
    world.end(first)
    for name in (fourth, small):
        world.until(name, "running")
    assert world.instance(second)["state"] == "running"
    assert world.instance(fourth)["start_progress"] is None


def test_workshop_larger_than_the_server_is_refused_with_the_sizes(world):
    name = world.launch(world.template(QUICK, resources=part_of_server(120)))
    reason = world.until(name, "failed")["reason"]
    assert (reason["code"], reason["retryable"]) == ("unschedulable", False)
    assert re.search(r"requests \d+ MiB of memory .* This server has \d+ MiB", reason["message"]), reason
    assert not world.containers(name)
