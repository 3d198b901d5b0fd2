#!/usr/bin/env python3
"""Costs of the launcher on one machine: start, memory, reads, launches, their growth, and kept files.

    bench/launcher/run.py [--rounds 5] [--parts costs rows live volumes] [--rows 1000 10000 100000 1000000] [--live 10 100 500]

Everything runs on loopback with a separate database in a temporary directory, which is removed afterwards. Compared
figures come from one run, interleaved; absolute ones depend on the machine.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from common import tools  # noqa: E402
from common.machine import prepare  # noqa: E402
from launcher import growth, volumes  # noqa: E402
from launcher.program import ADMIN, ALICE, LAUNCHER, Launcher, fill, template  # noqa: E402

RUNS = 5
READS = 1000
LAUNCHES = 500
SIZES = (1_000, 100_000)
PARTS = ("costs", "rows", "live", "volumes")


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, int(len(values) * percent / 100))]


def spread(values, unit=""):
    return f"{statistics.median(values):.2f}{unit} ({min(values):.2f}–{max(values):.2f})"


def starts(directory):
    seconds, rss, pss = [], [], []
    for run in range(RUNS):
        with Launcher(directory / f"start{run}") as launcher:
            launcher.request("GET", "/api/v1/me", ALICE)
            seconds.append(launcher.start_seconds * 1000)
            memory = launcher.memory()
            rss.append(memory[0])
            pss.append(memory[1])
    print(f"start to ready, empty database     {spread(seconds, ' ms')}")
    print(f"idle RSS                           {spread(rss, ' MiB')}")
    print(f"idle Pss                           {spread(pss, ' MiB')}")


def reads(directory):
    launchers = {}
    for size in SIZES:
        data = directory / f"rows{size}"
        with Launcher(data) as launcher:
            launcher.request("POST", f"/api/v1/templates/{template(launcher)}/launch", ALICE)
        fill(data, size)
        launchers[size] = Launcher(data)
    paths = {
        "one instance": ("/api/v1/instances/bench-0000000000", ALICE),
        "alice's live instances": ("/api/v1/instances/", ALICE),
        "admin, first page of 50, all": ("/api/v1/instances/?state=all&limit=50", ADMIN),
        "admin, first page of 50, live": ("/api/v1/instances/?limit=50", ADMIN),
        "admin, first page of 50, ended": ("/api/v1/instances/?state=ended&limit=50", ADMIN),
    }
    small, large = SIZES
    with launchers[small] as few, launchers[large] as many:
        for launcher in (few, many):
            launcher.timed("/api/v1/me", ALICE, 200)
        for name, (path, headers) in paths.items():
            ratios, medians, tails = [], [], []
            for _ in range(RUNS):
                pair = [launcher.timed(path, headers, READS // RUNS) for launcher in (few, many)]
                ratios.append(statistics.median(pair[1]) / statistics.median(pair[0]))
                medians.append(statistics.median(pair[1]))
                tails.append(percentile(pair[1], 99))
            print(
                f"GET {name:30} {spread(medians, ' ms')} p99 {spread(tails, ' ms')}; "
                f"{large:,} rows cost {spread(ratios)} times {small:,}"
            )


def launches(directory):
    # Limits so high that one user can launch as fast as possible.
    limits = {"MAX_INSTANCES_PER_USER": "10000", "LAUNCH_RATE": "60000", "LAUNCH_BURST": "60000"}
    with Launcher(directory / "launches", **{f"SERVICE_{name}": value for name, value in limits.items()}) as launcher:
        path = f"/api/v1/templates/{template(launcher)}/launch"
        times = []
        for _ in range(LAUNCHES):
            started = time.perf_counter()
            status, answer = launcher.request("POST", path, ALICE)
            times.append((time.perf_counter() - started) * 1000)
            if status != 201:
                sys.exit(f"a launch answered {status}: {answer.decode()}")
        p50, p99 = (percentile(times, percent) for percent in (50, 99))
        print(f"launch accepted (201, on the disk)  p50 {p50:.2f} ms, p99 {p99:.2f} ms")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="of the part `rows`")
    parser.add_argument("--live", type=int, nargs="+", default=[10, 100, 500, 2_000], help="of the part `live`")
    parser.add_argument("--as-built", action="store_true", help="use the existing builds of the launcher's programs")
    return parser.parse_args()


def costs(directory, _):
    print(f"{LAUNCHER.stat().st_size / 1e6:.1f} MB of program; {RUNS} runs, median (lowest–highest)")
    starts(directory)
    reads(directory)
    launches(directory)


def main():
    options = arguments()
    if not options.as_built:
        tools.build_ours("launcher")
        tools.build_load()
    prepare()
    measures = {"costs": costs, "rows": growth.rows, "live": growth.live, "volumes": volumes.volumes}
    for part in options.parts:
        with tempfile.TemporaryDirectory(prefix="launcher-bench-") as directory:
            measures[part](pathlib.Path(directory), options)


if __name__ == "__main__":
    main()
