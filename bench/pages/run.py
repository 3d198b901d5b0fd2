#!/usr/bin/env python3
"""Costs of the pages for the launcher: the time to render them, and open pages that receive every change.

    cargo build --release --locked -p launcher && bench/pages/run.py serve-time streams

Uses Python's standard library only. Prints Markdown. Everything runs on loopback with separate data in a temporary
directory, which is removed afterwards. Compared figures come from one run, in turns; absolute ones depend on the
machine.
"""

import argparse
import pathlib
import sys

import serve_time
import stage
import streams

from common.machine import described

PARTS = {"serve-time": serve_time.run, "streams": streams.run}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--program", type=pathlib.Path, default=stage.programs.LAUNCHER, help="the launcher to measure")
    parser.add_argument("--workshops", type=int, default=500, help="live instances of `serve-time`")
    parser.add_argument("--requests", type=int, default=1000, help="of each page, one at a time and again 8 at once")
    parser.add_argument("--people", type=int, default=300, help="open pages of `streams`, each of another person")
    parser.add_argument("--changes", type=int, default=600, help="changes of `streams`, one at a time and again 8")
    return parser.parse_args()


def main():
    chosen = arguments()
    if not chosen.program.exists():
        sys.exit(f"{chosen.program} is missing: cargo build --release --locked -p launcher")
    print(f"{described()}, {chosen.program.stat().st_size / 1e6:.1f} MB of program\n", flush=True)
    for part in chosen.parts:
        PARTS[part](chosen)


if __name__ == "__main__":
    main()
