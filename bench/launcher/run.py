#!/usr/bin/env python3
"""Costs of the launcher on one machine: start, memory, launches, their growth, kept files, open bars, and the board of a class.

    bench/launcher/run.py [--rounds 5] [--parts costs rows live volumes bars classes] [--rows 1000 10000 100000 1000000] [--live 10 100 500]

Everything runs on loopback with a separate database in a temporary directory, which is removed afterwards. Compared
figures come from one run, interleaved; absolute ones depend on the machine.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from common import tools  # noqa: E402
from common.machine import prepare  # noqa: E402
from common.table import cell, table  # noqa: E402
from launcher import bars, classes, growth, volumes  # noqa: E402
from launcher.program import ALICE, LAUNCHER, Launcher, template  # noqa: E402

RUNS = 5
LAUNCHES = 500
PARTS = ("costs", "rows", "live", "volumes", "bars", "classes")


def costs(_):
    seconds, rss, pss = [], [], []
    for _ in range(RUNS):
        with Launcher() as launcher:
            launcher.request("GET", "/api/v1/me", ALICE)
            seconds.append(launcher.start_seconds * 1000)
            for figures, figure in zip((rss, pss), launcher.memory()):
                figures.append(figure)
    # Limits so high that one user can launch as fast as possible.
    limits = {"SERVICE_MAX_INSTANCES_PER_USER": "10000", "SERVICE_LAUNCH_RATE": "60000", "SERVICE_LAUNCH_BURST": "60000"}
    with Launcher(**limits) as launcher:
        times = growth.timed_launches(launcher, template(launcher), LAUNCHES, ALICE)
    print(f"{RUNS} runs, median (lowest–highest)\n")
    table(("subject", "figure"), [
        ("size of the program, MB", cell([LAUNCHER.stat().st_size / 1e6])),
        ("start to ready, empty database, ms", cell(seconds)),
        ("idle RSS, MiB", cell(rss)),
        ("idle Pss, MiB", cell(pss)),
        ("launch accepted (201, on the disk), p50; p99, ms", growth.both([times])),
    ])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="of the part `rows`")
    parser.add_argument("--live", type=int, nargs="+", default=[10, 100, 500, 2_000], help="of the part `live`")
    parser.add_argument("--as-built", action="store_true", help="use the existing builds of the launcher's programs")
    return parser.parse_args()


def main():
    options = arguments()
    if not options.as_built:
        tools.build_ours("launcher")
        tools.build_load()
    prepare()
    measures = {"costs": costs, "rows": growth.rows, "live": growth.live, "volumes": volumes.volumes, "bars": bars.bars,
                "classes": classes.classes}
    for part in options.parts:
        measures[part](options)


if __name__ == "__main__":
    main()
