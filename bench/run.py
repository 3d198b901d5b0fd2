#!/usr/bin/env python3
"""Runs all comparisons and growth measurements, one part after the other: `make bench`.

    bench/run.py [--parts sidecar api launcher] [--rounds 5] [--seconds 2]

Builds the required programs first, and names missing ones. Prints Markdown; progress goes to standard error.
"""

import argparse
import pathlib
import subprocess
import sys
import time

from common import tools
from common.machine import prepare

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ("sidecar", "api", "launcher")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2, help="of each measurement with load")
    parser.add_argument("--as-built", action="store_true", help="use the existing builds of the launcher's programs")
    options = parser.parse_args()
    prepare()
    tools.need("cargo", "go", "taskset")
    if not options.as_built:
        tools.build_ours("launcher-sidecar")
        tools.build_ours("launcher")
        tools.build_load()
    if "sidecar" in options.parts:
        tools.build_proxies()
    if "api" in options.parts:
        tools.build_floor()
        tools.build_hub()
    for part in options.parts:
        began = time.monotonic()
        words = [f"--rounds={options.rounds}", "--as-built"]
        words += [] if part == "launcher" else [f"--seconds={options.seconds}"]
        with subprocess.Popen([sys.executable, HERE / part / "run.py", *words]) as process:
            try:
                status = process.wait()
            except BaseException:
                process.terminate()
                raise
        if status:
            sys.exit(f"bench/{part}/run.py ended with status {status}")
        print(f"{part}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
