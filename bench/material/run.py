#!/usr/bin/env python3
"""Measures the placement of a repository beside `git clone --depth 1`, in turn, from the same server.

    bench/material/run.py [--rounds 7] [--megabytes 50] [--files 2000] [--as-built] [--program PATH]

The server is that of the tests, on the loopback. Half of each file is random, so that the repository has about the stated size
also when it is compressed. Prints Markdown.
"""

import argparse
import json
import os
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "e2e")]

from common import tools  # noqa: E402
from git_server import CLEAN, git_server  # noqa: E402


def contents(megabytes, files):
    """Returns the files of the repository: {name: text}."""
    draw, size = random.Random(1), megabytes * 1_000_000 // files
    text = lambda: draw.randbytes(size // 4).hex() + "the same words\n" * (size // 30)  # noqa: E731
    return {f"week{number % 20}/file{number}.txt": text() for number in range(files)}


def cpu():
    """CPU time of ended children. The server's part is in it, too, and is the same for both."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def timed(command, environment=None):
    """Runs a command. Returns its duration, the CPU time, and its output."""
    began, used = time.monotonic(), cpu()
    done = subprocess.run(command, env=os.environ | CLEAN | (environment or {}), capture_output=True, text=True)
    elapsed, used = time.monotonic() - began, cpu() - used
    if done.returncode:
        sys.exit(f"{command[0]} failed: {done.stderr}")
    return (elapsed, used), done.stdout


def place(program, url, directory):
    source = {"kind": "git", "url": url, "target": "course"}
    config = json.dumps({"directory": str(directory), "sources": [source], "deadline_seconds": 600})
    elapsed, output = timed([str(program)], {"WORKSHOP_MATERIAL": config})
    report = json.loads(output)["sources"][0]
    return elapsed, report["outcome"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--as-built", action="store_true", help="use the existing builds of the launcher's programs")
    parser.add_argument("--program", type=pathlib.Path, default=tools.TARGET / "release/launcher-material")
    options = parser.parse_args()
    tools.need("git")
    if not options.as_built:
        tools.build_ours("launcher-material")
    with tempfile.TemporaryDirectory() as root, git_server("127.0.0.1") as course:
        root, url, rows = pathlib.Path(root), course.url, []
        course.push(contents(options.megabytes, options.files))
        course.git("gc", "--quiet")
        for number in range(options.rounds + 1):
            clone, student = root / f"clone{number}", root / f"student{number}"
            student.mkdir()
            steps = {
                "git": lambda: timed(["git", "clone", "--quiet", "--depth", "1", url, str(clone)])[0],
                "placed": lambda: place(options.program, url, student)[0],
            }
            order = list(steps) if number % 2 else list(reversed(steps))
            row = {name: steps[name]() for name in order}
            row["unchanged"], outcome = place(options.program, url, student)
            assert outcome == "unchanged", outcome
            assert not subprocess.run(["diff", "-r", "--exclude=.git", clone, student / "course"]).returncode
            shutil.rmtree(clone)
            shutil.rmtree(student)
            # The first round is a warm-up.
            rows += [row] if number else []
        show(rows, options)


def show(rows, options):
    median = lambda values: statistics.median(values)  # noqa: E731
    ratios = [row["placed"][0] / row["git"][0] for row in rows]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"{options.megabytes} MB in {options.files} files, {len(rows)} rounds:\n")
    print("| what | median, ms | CPU with the server, ms |\n|---|---|---|")
    for name, title in (("git", "`git clone --depth 1`"), ("placed", "placed"), ("unchanged", "unchanged")):
        times = [1000 * median([row[name][part] for row in rows]) for part in (0, 1)]
        print(f"| {title} | {times[0]:.0f} | {times[1]:.0f} |")
    print(f"\nplaced / git: median {median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}; largest process: {peak / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
