#!/usr/bin/env python3
"""Soak test: launches, extends and ends workshops at a steady rate for an hour, on one machine or on a cluster.

No launch may be lost or fail. Memory, file descriptors and live rows must not grow beyond the limits in SLACK.

    .local/cluster/bin/python e2e/soak/soak.py local --minutes 60
    source e2e/cluster/env.sh && .local/cluster/bin/python e2e/soak/soak.py kubernetes --minutes 60

Prerequisites: the release build of the launcher. For a cluster also `make cluster-up cluster-images`.
"""

import argparse
import collections
import pathlib
import random
import statistics
import sys
import threading
import time

E2E = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(E2E), str(E2E / "cluster/tests")]

from harness import DEADLINE, PROGRAM, wait_for
from places import FLEETS
from websockets.sync.client import connect

# {what the client does to its workshop: expected end reason}.
BEHAVIOURS = {"ended": "owner", "extended": "owner", "left alone": "expired"}
LIFETIME = 60
MESSAGE = "x" * 1024
SAMPLES = 60
# Allowed growth from the second to the last quarter of the test: (factor, summand). The first quarter is warm-up.
SLACK = {"rss_kib": (1.10, 2048), "fds": (1.10, 4), "live": (1.25, 4)}


class Client(threading.Thread):
    """A client thread: one user's workshop from launch to end."""

    def __init__(self, soak, number, kind):
        super().__init__(daemon=True)
        self.soak, self.kind = soak, kind
        self.person = f"person{number % 200}@example.org"
        self.failure = None

    def run(self):
        try:
            self.live()
        except Exception as error:
            self.failure = error
            self.soak.failures.append(f"{self.kind}: {type(error).__name__}: {error}")

    def live(self):
        fleet = self.soak.fleet
        name = fleet.launcher.ask("POST", f"/templates/{fleet.template}/launch", self.person, {}, 201)["k8s_name"]
        running = self.until(name, "running")
        host, port = fleet.endpoint(name, running)
        headers = {"X-Auth-Request-Email": self.person}
        with connect(f"ws://{host}/echo", sock=fleet.dial(host, port), additional_headers=headers) as socket:
            for _ in range(10):
                socket.send(MESSAGE)
                assert socket.recv(timeout=DEADLINE) == MESSAGE
                self.soak.counts["messages"] += 1
                self.soak.stop.wait(2)
        if self.kind == "extended":
            fleet.launcher.ask("POST", f"/instances/{name}/extend", self.person, {})
            self.soak.counts["extensions"] += 1
        if self.kind != "left alone":
            fleet.launcher.end(name, self.person)
        ended = self.until(name, "terminated")
        assert ended["end_reason"] == BEHAVIOURS[self.kind], ended["end_reason"]
        self.soak.counts[self.kind] += 1

    def until(self, name, state):
        seen = {}

        def look():
            seen.update(self.soak.fleet.launcher.ask("GET", f"/instances/{name}", self.person))
            assert state == "terminated" or seen["state"] != "failed", seen["reason"]
            # The poll interval is short enough to see each change, and long enough to add little load.
            self.soak.pause.wait(0.5)
            return seen["state"] == state

        wait_for(f"{name} to be {state}", look)
        return seen


class Soak:
    def __init__(self, fleet, minutes, every, seed):
        self.fleet, self.minutes, self.every = fleet, minutes, every
        self.rng = random.Random(seed)
        self.failures, self.counts = [], collections.Counter()
        self.samples = collections.defaultdict(list)
        self.stop, self.pause = threading.Event(), threading.Event()

    def run_clients(self):
        began = time.monotonic()
        apart = self.minutes * 60 / SAMPLES
        clients, next_sample = [], apart
        while (passed := time.monotonic() - began) < self.minutes * 60 and not self.failures:
            clients.append(Client(self, len(clients), self.rng.choice(list(BEHAVIOURS))))
            clients[-1].start()
            if passed >= next_sample:
                next_sample += apart
                self.sample(passed)
            self.pause.wait(self.every)
        for client in clients:
            client.join(2 * DEADLINE)
            assert not client.is_alive(), "a client thread did not end"
        assert not self.failures, "\n".join(self.failures[:10])
        return self.assert_no_growth(len(clients))

    def sample(self, passed):
        live = len(self.fleet.launcher.instances("live"))
        for name, pid in self.fleet.processes().items():
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            rss = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
            fds = len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir()))
            self.samples[name].append({"rss_kib": rss, "fds": fds})
            print(f"{passed / 60:5.1f} min  {name:9} {rss / 1024:6.1f} MiB  {fds:4} fds  {live:3} live", flush=True)
        self.samples["rows"].append({"live": live})

    def assert_no_growth(self, launched):
        print(f"\n{launched} launched, none lost: {dict(self.counts)}\n")
        print("| | second quarter | last quarter | highest |\n|---|---|---|---|")
        grown = []
        for name, samples in self.samples.items():
            quarter = len(samples) // 4
            for what in samples[0]:
                values = [sample[what] for sample in samples]
                before = statistics.median(values[quarter : 2 * quarter])
                after = statistics.median(values[-quarter:])
                print(f"| {name} {what} | {before:.0f} | {after:.0f} | {max(values)} |")
                times, more = SLACK[what]
                if after > before * times + more:
                    grown.append(f"{name}: {what} went from {before:.0f} to {after:.0f}")
        self.fleet.assert_nothing_left()
        assert not grown, "\n".join(grown)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("fleet", choices=FLEETS)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--every", type=float, help="seconds between two launches")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", default=str(PROGRAM.parents[1] / "release/launcher"))
    given = parser.parse_args()
    with FLEETS[given.fleet](given.program, LIFETIME) as fleet:
        Soak(fleet, given.minutes, given.every or fleet.every, given.seed).run_clients()


if __name__ == "__main__":
    main()
