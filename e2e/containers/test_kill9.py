"""kill -9 of the launcher at random moments of launches and ends: no launch is lost or doubled, and nothing is left.

KILL9_LAUNCHES and KILL9_SEED in the environment set the number of launches and the random times.
"""

import os
import random

from harness import Promises, wait_for
from traces import traces, until_nothing_new
from world import BOTH, ENGINE, World

LAUNCHES_A_ROUND = 5
LAUNCHES = int(os.environ.get("KILL9_LAUNCHES") or (100 if ENGINE == "docker" else 25))
# Upper bounds of the seconds from the first request to the kill: during the requests, and during the steps of starts.
LATEST_KILL_SECONDS = (0.02, 0.2, 0.6, 1.2, 2)
SETTLED = {"running", "failed"}


def test_no_launch_is_lost_or_doubled():
    seed = int(os.environ.get("KILL9_SEED") or random.randrange(2**32))
    rounds = LAUNCHES // LAUNCHES_A_ROUND
    print(f"kill9: {rounds} rounds, KILL9_SEED={seed}")
    rng = random.Random(seed)
    with World(SERVICE_LOG="warn") as world:
        first = world.running()
        world.end(first)
        world.until_gone(first)
        before = traces(world.api)
        promises = Promises(world.template())
        for number in range(rounds):
            keys = [f"round-{number}-{index}" for index in range(LAUNCHES_A_ROUND)]
            live = list(promises.names.values()) and list(world.launcher.instances())
            # All but two end, so that the number of running workshops stays small.
            promises.kill_during_requests(world.launcher, keys, live[2:], rng, LATEST_KILL_SECONDS)
            world.launcher.start()
            for key in keys:
                promises.launch(world.launcher, key)
            check(world, promises, first)
        for name in world.launcher.instances():
            promises.end(world.launcher, name)
        check(world, promises, first)
        until_nothing_new(world.api, before)
        states = [row["state"] for row in world.launcher.instances("all").values()]
        print(f"kill9: {len(states)} launches: {', '.join(f'{states.count(each)} {each}' for each in sorted(set(states)))}")


def check(world, promises, first):
    """Waits until no instance is in transition, then compares requests, instances and containers."""

    def is_settled():
        return {row["state"] for row in world.launcher.instances("live").values()} <= SETTLED

    wait_for("every instance to be running, failed or terminated", is_settled, 60)
    rows = world.launcher.instances("all")
    rows.pop(first)
    promises.check(rows)
    assert set(rows) == set(promises.names.values()), "instances exist that no client launched"
    wanted = {name: BOTH for name, row in rows.items() if row["state"] == "running"}
    wait_for(f"two containers for each of {sorted(wanted)} and no other, not {world.parts()}", lambda: world.parts() == wanted, 30)
    for name in wanted:
        # The launcher opens the address of a workshop that it has adopted.
        wait_for(f"{name} to answer", lambda name=name: world.visit(name, "admin@example.org")[0] == 200, 30)
