"""Many launches at once: none is lost or duplicated, reads keep answering, and queue positions are correct."""

import concurrent.futures
import contextlib
import http.client
import threading
import time

import pytest
from harness import ADMIN, PATIENCE, wait_for
from world import WORKLOAD

MANY = 40
AT_ONCE = 3
IN_LINE = 9
# Maximum seconds of one read. A read that nothing blocks takes milliseconds. One that waits for a call of the fleet takes
# 15 s.
READ_SECONDS = 4 * PATIENCE


def users(count):
    """Returns this many users; each may have at most three workshops."""
    return [f"student{number}@example.org" for number in range(count)]


def all_at_once(call, values):
    """Calls call(value) for all values at the same moment; returns the results."""
    together = threading.Barrier(len(values))

    def one(value):
        together.wait(20)
        return call(value)

    with concurrent.futures.ThreadPoolExecutor(len(values)) as threads:
        return list(threads.map(one, values))


def live(world):
    """Returns all live instances at one moment, as an admin sees them."""
    status, _, listed = world.launcher.request("GET", "/instances/?limit=500")
    assert status == 200, (status, listed)
    return listed


def in_line(listed):
    """Returns the names of the queued instances in queue order; fails unless their positions count from one."""
    queued = sorted((one["queue_position"], one["k8s_name"]) for one in listed if one["state"] == "queued")
    assert [position for position, _ in queued] == list(range(1, len(queued) + 1)), queued
    return [name for _, name in queued]


def until_all_run(world, names, seconds, look=lambda listed: None):
    """Waits until all of these run, and passes each list meanwhile to look()."""

    def all_run():
        listed = live(world)
        look(listed)
        failed = [one for one in listed if one["state"] == "failed"]
        assert not failed, failed
        return {one["k8s_name"] for one in listed if one["state"] == "running"} == set(names)

    wait_for(f"{len(names)} instances to run", all_run, seconds)


def end_all(world, owners):
    """Ends all of these at once, {name: owner}, and waits until nothing of them is left."""
    all_at_once(lambda name: world.end(name, owners[name]), list(owners))
    wait_for("all instances to end", lambda: not live(world), 180)
    left = [one["metadata"]["name"] for kind in ("workshops", *WORKLOAD) for one in world.objects(kind)]
    assert left == [], "every row is terminated while objects exist"
    _, _, listed = world.launcher.request("GET", "/instances/?state=ended&limit=500")
    ended = {one["k8s_name"]: (one["state"], one["end_reason"]) for one in listed if one["k8s_name"] in owners}
    assert ended == dict.fromkeys(owners, ("terminated", "owner"))


class Reader(threading.Thread):
    """Repeats a few reads and records each result: [(path, status, seconds)]."""

    def __init__(self, world, email, name):
        super().__init__(daemon=True)
        self.ask = lambda path, who: world.launcher.request("GET", path, who)[0]
        self.questions = [("/instances/", email), (f"/instances/{name}", email), ("/instances/?limit=500", ADMIN)]
        self.answers = []
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(0.05):
            for path, who in self.questions:
                began = time.monotonic()
                try:
                    status = self.ask(path, who)
                except (OSError, http.client.HTTPException) as error:
                    status = str(error)
                self.answers.append((path, status, time.monotonic() - began))


@contextlib.contextmanager
def reading(world, email, name):
    """Runs a Reader during the block; fails unless all its answers were good and fast."""
    reader = Reader(world, email, name)
    reader.start()
    try:
        yield reader
    finally:
        reader.over.set()
        reader.join(30)
    bad = [answer for answer in reader.answers if answer[1] != 200 or answer[2] >= READ_SECONDS]
    assert bad == []
    assert len(reader.answers) > 30, "too few reads during the test"


def test_parallel_launches_create_one_workshop_each(world):
    template = world.template()
    people = users(MANY)
    first = world.launch(template, people[0])
    with reading(world, people[0], first):
        names = [first, *all_at_once(lambda email: world.launch(template, email), people[1:])]
        owners = dict(zip(names, people, strict=True))
        assert len(owners) == MANY, "two launches have the same name"
        assert {one["k8s_name"]: one["owner_email"] for one in live(world)} == owners
        until_all_run(world, names, 180, look=in_line)
    for kind in ("workshops", "pods", "services", "ingresses"):
        assert sorted(one["metadata"]["name"] for one in world.objects(kind)) == sorted(names), kind
    belongs = [pod["metadata"]["labels"]["workshoplauncher.dev/workshop"] for pod in world.objects("pods")]
    assert sorted(belongs) == sorted(names), "expected one pod per workshop"
    end_all(world, owners)


@pytest.fixture
def few_at_once(world):
    """A world whose launcher lets only a few workshops start at once, and whose operator is stopped."""
    launcher, name = world.launcher, "SERVICE_MAX_CONCURRENT_STARTS"
    launcher.stop()
    launcher.environment[name] = str(AT_ONCE)
    launcher.start()
    world.operator.stop()
    yield world
    if world.operator.process.poll() is not None:
        world.operator.start()
    launcher.stop()
    del launcher.environment[name]
    launcher.start()


def test_queued_launches_start_in_launch_order(few_at_once):
    world = few_at_once
    template = world.template()
    people = users(AT_ONCE + IN_LINE)
    owners = {world.launch(template, email): email for email in people}
    order = list(owners)

    wait_for("the first workshops to start", lambda: len(world.objects("workshops")) == AT_ONCE, 20)
    assert in_line(live(world)) == order[AT_ONCE:]
    assert {one["metadata"]["name"] for one in world.objects("workshops")} == set(order[:AT_ONCE])
    assert [mine(world, owners, name)["queue_position"] for name in order[AT_ONCE:]] == list(range(1, IN_LINE + 1))

    left = order.pop(AT_ONCE + 1)
    world.end(left, owners.pop(left))
    wait_for("the others to advance in the queue", lambda: in_line(live(world)) == order[AT_ONCE:], 10)

    def honest(listed):
        starting = [one["k8s_name"] for one in listed if one["state"] == "starting"]
        assert len(starting) <= AT_ONCE, f"{starting} workshops start at once"
        queued = in_line(listed)
        assert queued == order[len(order) - len(queued):], "expected the order of the queue"

    world.operator.start()
    until_all_run(world, order, 180, look=honest)
    end_all(world, owners)


def mine(world, owners, name):
    """Returns the only instance of its owner, as the owner's list shows it."""
    _, _, listed = world.launcher.request("GET", "/instances/", owners[name])
    assert [one["k8s_name"] for one in listed] == [name]
    return listed[0]
