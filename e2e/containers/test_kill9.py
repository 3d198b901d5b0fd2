"""kill -9 of the launcher at random moments of launches and ends: no launch is lost or doubled, and nothing is left.

KILL9_LAUNCHES and KILL9_SEED in the environment set the number of launches and the random times.
"""

import os
import random

import pytest
from harness import ADMIN, Promises, seed_of, wait_for
from world import BOTH

pytestmark = pytest.mark.container_faults
SETTINGS = {"SERVICE_LOG": "warn"}
LAUNCHES_A_ROUND = 5
LAUNCHES = int(os.environ.get("KILL9_LAUNCHES") or 25)
# Upper bounds of the seconds from the first request to the kill: during the requests, and during the steps of starts.
LATEST_KILL_SECONDS = (0.02, 0.2, 0.6, 1.2, 2)
SETTLED = {"running", "failed"}


def test_no_launch_is_lost_or_doubled(world, leaves_nothing):
    rng, earlier = random.Random(seed_of("KILL9_SEED")), set(world.launcher.instances("all"))
    promises = Promises(world.template())
    for number in range(LAUNCHES // LAUNCHES_A_ROUND):
        keys = [f"round-{number}-{index}" for index in range(LAUNCHES_A_ROUND)]
        # All but two end, so that the number of running workshops stays small.
        ending = list(world.launcher.instances())[2:]
        promises.kill_during_requests(world.launcher, keys, ending, rng, LATEST_KILL_SECONDS)
        world.launcher.start()
        for key in keys:
            promises.launch(world.launcher, key)
        check(world, promises, earlier)
    for name in world.launcher.instances():
        promises.end(world.launcher, name)
    check(world, promises, earlier)


def check(world, promises, earlier):
    """Waits until no instance is in transition, then compares requests, instances and containers."""

    def is_settled():
        return {row["state"] for row in world.launcher.instances("live").values()} <= SETTLED

    wait_for("every instance to be running, failed or terminated", is_settled)
    rows = {name: row for name, row in world.launcher.instances("all").items() if name not in earlier}
    promises.check(rows)
    assert set(rows) == set(promises.names.values()), "instances exist that no client launched"
    wanted = {name: BOTH for name, row in rows.items() if row["state"] == "running"}
    wait_for(f"two containers for each of {sorted(wanted)} and no other", lambda: world.parts() == wanted)
    for name in wanted:
        # The launcher opens the address of a workshop that it has adopted.
        wait_for(f"{name} to answer", lambda: world.visit(name, ADMIN)[0] == 200)
