#!/usr/bin/env python3
"""Compares the launcher's API with JupyterHub's, and with the minimal cost of an answer from a row.

    bench/api/run.py [--rounds 5] [--seconds 2] [--records 1000 10000]

Both keep the same number of records in SQLite, have one core each and nothing to spawn. Prints Markdown.
"""

import argparse
import contextlib
import pathlib
import sys
import tempfile
from collections import defaultdict

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from api.hub import HEADERS, Hub  # noqa: E402
from common import tools  # noqa: E402
from common.machine import (  # noqa: E402
    AROUND, MEASURED, Started, answers, cpu_seconds, described, free_port, load_average, memory, prepare,
)
from common.table import Aims, cell, ratios, table  # noqa: E402
from launcher.program import ADMIN, filled, template  # noqa: E402
from sidecar.load import ours  # noqa: E402

ONE = "bench-0000000000"
ASKED = ("list", "one", "launch")
WORDS = {"list": "an admin's list: 50 instances of all users", "one": "read one", "launch": "launch accepted"}


def lines(headers):
    return [f"{name}: {value}" for name, value in headers.items()]


class Bench:
    """Launcher and JupyterHub with this many records, the bare axum handler, and the figures of the rounds."""

    def __init__(self, started, ending, place, records, server):
        self.figures, self.next = defaultdict(list), 0
        # Only one workshop may start at a time, and it never becomes ready. The timed launches therefore stay queued.
        limits = {"SERVICE_MAX_CONCURRENT_STARTS": "1", "SERVICE_MAX_QUEUED": "1000000"}
        self.launcher = ending.enter_context(filled(records, MEASURED, **limits))
        self.template = template(self.launcher, command=["sleep", "100000"])
        self.hub = Hub(started, place / "hub", records, server)
        self.floor = free_port()
        self.floor_process, _ = started.start(
            [tools.FLOOR, self.floor, self.launcher.data / "launcher.db"], MEASURED,
            lambda: answers(self.floor, f"/instances/{ONE}") == 200)

    def ask(self, who, what, port, pid, seconds, *words, headers=()):
        before = cpu_seconds(pid)
        said = ours("ask", port, "-connections=8", f"-for={seconds}s", *words, lines=headers)
        if said is None:
            sys.exit(f"{who}: unexpected answer")
        self.figures[who, what, "rate"].append(said["requests"] / said["seconds"])
        self.figures[who, what, "p50"].append(said["p50"] / 1000)
        self.figures[who, what, "p99"].append(said["p99"] / 1000)
        self.figures[who, what, "cpu"].append((cpu_seconds(pid) - before) / said["requests"] * 1e6)
        return said["requests"]

    def launcher_asked(self, what, seconds):
        paths = {
            "list": ["-path=/api/v1/instances/?state=all&limit=50"],
            "one": [f"-path=/api/v1/instances/{ONE}"],
            "launch": [f"-path=/api/v1/templates/{self.template}/launch", "-method=POST", "-expect=201"],
        }
        self.ask("launcher", what, self.launcher.port, self.launcher.process.pid, seconds, *paths[what],
                 headers=lines(ADMIN))

    def hub_asked(self, what, seconds):
        paths = {
            "list": ["-path=/hub/api/users?limit=50&include_stopped_servers=1"],
            "one": ["-path=/hub/api/users/b0?include_stopped_servers=1"],
            # JupyterHub has one default server per user, so each launch needs another user.
            "launch": ["-path=/hub/api/users/b%d/server", "-method=POST", "-expect=202", f"-first={self.next}"],
        }
        count = self.ask("JupyterHub", what, self.hub.port, self.hub.pid, seconds, *paths[what], headers=HEADERS)
        self.next += count + 8 if what == "launch" else 0

    def rounds(self, what, count, seconds):
        for number in range(count + 1):
            # Round 0 is warm-up and is dropped.
            spell = seconds if number else 1
            turns = [lambda: self.launcher_asked(what, spell), lambda: self.hub_asked(what, spell)]
            if what == "one":
                turns.append(lambda: self.ask("bare axum", what, self.floor, self.floor_process.pid, spell,
                                              f"-path=/instances/{ONE}"))
            for turn in turns if number % 2 else reversed(turns):
                turn()
            if number == 0:
                for key in [key for key in self.figures if key[1] == what]:
                    del self.figures[key]

    def memory(self, when):
        for who, pid in (("launcher", self.launcher.process.pid), ("JupyterHub", self.hub.pid)):
            self.figures[who, when] = memory_of(pid)


def memory_of(pid):
    rss, pss = memory(pid, children=False)
    return f"{cell([rss])}; {cell([pss])}"


def report(bench, records, what):
    heads = ("rate", "p50", "p99", "cpu")
    table((f"{WORDS[what]}, {records:,} records", "a second", "p50, ms", "p99, ms", "CPU, µs"), [
        (who, *(cell(bench.figures[who, what, head]) for head in heads))
        for who in ("launcher", "JupyterHub", "bare axum") if (who, what, "rate") in bench.figures
    ])


def measure(options, records, most, aims):
    with tempfile.TemporaryDirectory(prefix="bench-api-") as directory, Started() as started, \
            contextlib.ExitStack() as ending:
        server = free_port()
        started.start([tools.LOAD, "app", f"-port={server}"], AROUND, lambda: answers(server) == 200)
        bench = Bench(started, ending, pathlib.Path(directory), records, server)
        bench.memory("rest")
        # Launches are measured last, and only with the most records: each launch at JupyterHub uses up one user.
        for what in ASKED if records == most else ASKED[:2]:
            print(f"\n{load_average()}\n")
            bench.rounds(what, options.rounds, options.seconds)
            report(bench, records, what)
            rate = [bench.figures[who, what, "rate"] for who in ("launcher", "JupyterHub", "bare axum")]
            aims.judge(f"{WORDS[what]}, {records:,} records / JupyterHub", ratios(*rate[:2]), 10, least=True)
            if rate[2]:
                aims.judge(f"{WORDS[what]}, {records:,} records / bare axum", ratios(rate[0], rate[2]), 0.5, least=True)
        bench.memory("after")
    return [(f"{who}, {records:,} records", bench.figures[who, "rest"], bench.figures[who, "after"])
            for who in ("launcher", "JupyterHub")], bench.hub.version()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2, help="of each measurement")
    parser.add_argument("--records", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--as-built", action="store_true", help="use the existing builds of the launcher's programs")
    options = parser.parse_args()
    prepare()
    if not options.as_built:
        tools.build_ours("launcher")
        tools.build_load()
    tools.build_floor()
    tools.build_hub()
    print(f"## The API beside JupyterHub\n\n{described()}. "
          f"Medians of {options.rounds} rounds of {options.seconds} s in turns, "
          "8 connections, one core for each program.")
    aims, kept = Aims("requests a second, ratio"), []
    for records in options.records:
        more, version = measure(options, records, max(options.records), aims)
        kept += more
    print(f"JupyterHub {version}.\n")
    table(("memory: RSS; Pss, MiB", "before the load", "after it"), kept)
    aims.show()


if __name__ == "__main__":
    main()
