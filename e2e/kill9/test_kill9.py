"""Kills the launcher with SIGKILL at random times during launches and terminations.

After each kill, the test starts a launcher on the same data and repeats each unanswered launch with its
Idempotency-Key. Each launched workshop then runs in exactly one process tree, unless the test requested its
termination. Each confirmed termination is completed, and no process runs without an instance. Each app also starts a
process that escapes its process group and clears its environment. This process must end together with its workshop.

KILL9_ROUNDS and KILL9_SEED in the environment set the number of rounds of all launchers and the random times. 250 rounds
make 1,000 launches.
"""

import contextlib
import os
import pathlib
import random
import signal

import pytest

from harness import Promises, seed_of, trees, wait_for
from kill9.outage import TEMPLATE

pytestmark = pytest.mark.kill9
ROUNDS = int(os.environ.get("KILL9_ROUNDS") or 40)
# Launchers that share the rounds, so that they can run at the same time.
LAUNCHERS = 4
LAUNCHES_A_ROUND = 4
# Upper bounds of the time from the first request to the kill. Each round draws one bound. With the shortest bound, the
# kill happens during the requests. With the longest bound, it may happen after the start of the last process.
LATEST_KILL_SECONDS = (0.01, 0.03, 0.1, 0.4)
SETTLED = {"running", "failed"}
# Sleep time of the escaped processes. The test finds these processes by this unique number.
ESCAPED_SECONDS = str(10**9 + os.getpid())
ESCAPE = f"setsid env -i sh -c 'sleep {ESCAPED_SECONDS} &'"
COMMAND = ["sh", "-c", f"{ESCAPE}; exec python3 -m http.server $(PORT) --bind 127.0.0.1"]


class KillTest:
    """The launcher under test, and the requests that it confirmed."""

    def __init__(self, launcher, rng):
        self.launcher, self.rng = launcher, rng
        self.promises = None
        self.kills_before_answer = 0

    def create_template(self):
        self.promises = Promises(self.launcher.create_template(TEMPLATE, command=COMMAND))

    def round(self, number):
        """Launches workshops, ends half of the live ones, and kills the launcher during these requests."""
        live = list(self.launcher.instances())
        keys = [f"round-{number}-{index}" for index in range(LAUNCHES_A_ROUND)]
        ending = self.rng.sample(live, len(live) // 2)
        self.promises.kill_during_requests(self.launcher, keys, ending, self.rng, LATEST_KILL_SECONDS)
        unanswered = [key for key in keys if key not in self.promises.names]
        self.kills_before_answer += len(unanswered)
        self.launcher.start()
        for key in unanswered:
            self.promises.launch(self.launcher, key)
        self.check(number * LAUNCHES_A_ROUND)

    def check(self, launches):
        """Waits until no instance is in transition. Then compares confirmed requests, instances and processes."""
        assert len(self.promises.names) == launches, "a launch got no answer from a running launcher"
        wait_for("every instance to be running, failed or terminated", self.is_settled)
        rows = self.launcher.instances("all")
        self.promises.check(rows)
        assert set(rows) == set(self.promises.names.values()), "instances exist that no client launched"
        wanted = {name: 1 for name, row in rows.items() if row["state"] == "running"}
        running = trees(self.launcher.workshop_processes())
        assert running == wanted, f"process trees per workshop: {running}, expected: {wanted}"
        wait_for("one escaped process per running workshop", lambda: len(escaped_processes()) == len(wanted))

    def is_settled(self):
        return {row["state"] for row in self.launcher.instances("live").values()} <= SETTLED


def escaped_processes():
    """Returns the pids of the processes that escaped their process group and cleared their environment."""
    wanted = b"\0".join([b"sleep", ESCAPED_SECONDS.encode(), b""])
    found = []
    for directory in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (directory / "cmdline").read_bytes() == wanted:
                found.append(int(directory.name))
    return found


@pytest.fixture
def no_escaped_process():
    """Kills the escaped processes of a failed test."""
    yield
    for pid in escaped_processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("part", range(LAUNCHERS))
def test_killed_launcher_loses_and_doubles_no_launch(launcher, no_escaped_process, part):
    test = KillTest(launcher, random.Random(seed_of("KILL9_SEED") + part))
    test.create_template()
    rounds = len(range(part, ROUNDS, LAUNCHERS))
    for number in range(1, rounds + 1):
        test.round(number)
    states = [row["state"] for row in launcher.instances("all").values()]
    counted = ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
    print(f"{len(states)} launches ({test.kills_before_answer} answered only when repeated): {counted}")
    for name in launcher.instances():
        test.promises.end(launcher, name)
    test.check(rounds * LAUNCHES_A_ROUND)
    left = launcher.workshop_processes() + escaped_processes()
    assert not left, f"processes remain after all workshops ended: {left}"
    launcher.stop()
