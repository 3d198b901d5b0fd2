#!/usr/bin/env python3
"""kill -9 of the launcher at random moments of launches and ends: no workshop is lost, duplicated or left over.

After each kill a new launcher starts on the same data. Then every launch that was answered, or repeated with its
Idempotency-Key, runs in exactly one process tree, unless its end was requested. Every answered end has taken effect,
and no process runs without a row. Each app starts a process that leaves its process group and clears its environment;
that process, too, runs exactly as long as its workshop.

KILL9_ROUNDS and KILL9_SEED in the environment set the number of rounds and the random moments. 250 rounds are 1,000
launches.
"""

import contextlib
import os
import pathlib
import random
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import Launcher, Promises, trees, wait_for

LAUNCHES_A_ROUND = 4
# From the middle of the requests until after the start of the last process; each round takes one as its upper bound.
LATEST_KILL_SECONDS = (0.01, 0.03, 0.1, 0.4)
QUIET = {"running", "failed"}
# Sleep time of the escaped process, which distinguishes it from all other processes of the machine.
ESCAPED_SECONDS = str(10**9 + os.getpid())
ESCAPE = f"setsid env -i sh -c 'sleep {ESCAPED_SECONDS} &'"
TEMPLATE = {
    "name": "kill9",
    "app_type": "custom",
    "image": "docker.io/library/python:3.13-alpine",
    "port": 8000,
    "command": ["sh", "-c", f"{ESCAPE}; exec python3 -m http.server $(PORT) --bind 127.0.0.1"],
}


class Storm:
    """The launcher under test, and its promises."""

    def __init__(self, launcher, rng):
        self.launcher, self.rng = launcher, rng
        self.promises = None
        self.kills_before_answer = 0

    def create_template(self):
        status, _, body = self.launcher.request("POST", "/templates/", body=TEMPLATE)
        assert status == 201, (status, body)
        self.promises = Promises(body["template_id"])

    def round(self, number):
        """Launches some, ends some, and kills the launcher meanwhile."""
        live = list(self.launcher.instances())
        keys = [f"round-{number}-{index}" for index in range(LAUNCHES_A_ROUND)]
        ending = self.rng.sample(live, len(live) // 2)
        self.promises.kill_amid(self.launcher, keys, ending, self.rng, LATEST_KILL_SECONDS)
        unanswered = [key for key in keys if key not in self.promises.names]
        self.kills_before_answer += len(unanswered)
        self.launcher.start()
        for key in unanswered:
            self.promises.launch(self.launcher, key)
        self.check(number * LAUNCHES_A_ROUND)

    def check(self, launches):
        """Waits until no row is in transition, then compares promises, rows and processes."""
        assert len(self.promises.names) == launches, "a launch has no answer, though nobody was killed"
        wait_for("every workshop to be running, failed or ended", self.is_quiet, 30)
        rows = self.launcher.instances("all")
        self.promises.judge(rows)
        assert set(rows) == set(self.promises.names.values()), "there are workshops that nobody asked for"
        wanted = {name: 1 for name, row in rows.items() if row["state"] == "running"}
        running = trees(self.launcher.workshop_processes())
        assert running == wanted, f"running: {running}, wanted: {wanted}"
        wait_for("one escaped process a workshop", lambda: len(escaped_processes()) == len(wanted), 10)

    def is_quiet(self):
        return {row["state"] for row in self.launcher.instances("live").values()} <= QUIET


def escaped_processes():
    """Returns the pids of the processes that left their group and cleared their environment."""
    wanted = b"\0".join([b"sleep", ESCAPED_SECONDS.encode(), b""])
    found = []
    for directory in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (directory / "cmdline").read_bytes() == wanted:
                found.append(int(directory.name))
    return found


def main():
    try:
        run()
    finally:
        for pid in escaped_processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def run():
    seed = int(os.environ.get("KILL9_SEED") or random.randrange(2**32))
    rounds = int(os.environ.get("KILL9_ROUNDS") or 40)
    print(f"kill9: {rounds} rounds, KILL9_SEED={seed}", flush=True)
    with Launcher(SERVICE_LOG="warn") as launcher:
        storm = Storm(launcher, random.Random(seed))
        launcher.start()
        storm.create_template()
        for number in range(1, rounds + 1):
            storm.round(number)
        states = [row["state"] for row in launcher.instances("all").values()]
        counted = ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
        print(f"kill9: {len(states)} launches ({storm.kills_before_answer} answered only when repeated): {counted}")
        for name in launcher.instances():
            storm.promises.end(launcher, name)
        storm.check(rounds * LAUNCHES_A_ROUND)
        left = launcher.workshop_processes() + escaped_processes()
        assert not left, f"left behind: {left}"
        launcher.stop()


if __name__ == "__main__":
    main()
