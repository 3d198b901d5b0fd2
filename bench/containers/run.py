#!/usr/bin/env python3
"""Costs of workshops in containers: `e2e/containers/server.py docker PYTHON bench/containers/run.py one many memory`."""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / each) for each in ("bench", "e2e", "e2e/containers")]

import harness  # noqa: E402
from bare import Bare  # noqa: E402
from common.machine import described, named, pss  # noqa: E402
from common.table import Aims, cell, ratios, table  # noqa: E402
from notebook import run_cell  # noqa: E402
from world import ALICE, ENGINE, JUPYTER, QUICK, World  # noqa: E402

MIB = 1 << 20
SECONDS = 180
# Interval of the requests to an app that starts, in seconds. Many clients with a short one would use a CPU themselves.
INTERVAL, INTERVAL_OF_MANY = 0.01, 0.1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="+", choices=("one", "many", "memory", "jupyter"))
    parser.add_argument("--rounds", type=int, default=10, help="rounds of `one`")
    parser.add_argument("--many-rounds", type=int, default=3, help="rounds of `many`")
    parser.add_argument("--count", type=int, default=30, help="workshops of `memory` and `jupyter`")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "target/release/launcher")
    return parser.parse_args()


def launch(world, template, interval=INTERVAL):
    """Launches a workshop and waits for the first answer of its app. Returns (name, seconds)."""
    began = time.perf_counter()
    name = world.launch(template)
    deadline = began + SECONDS
    while world.visit(name, ALICE)[0] != 200:
        if time.perf_counter() > deadline:
            raise RuntimeError(f"{name} does not answer: {world.instance(name)}")
        time.sleep(interval)
    return name, time.perf_counter() - began


def end(world, *names):
    for name in names:
        world.end(name)
    world.until_gone(*names, seconds=120)


def at_once(count, work, threads=None):
    """Calls work(number) so often, by default in as many threads. Returns (seconds until the last one ended, results)."""
    began = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(threads or count) as pool:
        results = list(pool.map(work, range(count)))
    return time.perf_counter() - began, results


def one(world, template, bare, rounds):
    """One launch beside both containers of the bare engine."""
    ours, theirs = [], []
    for number in range(rounds + 1):
        name, seconds = launch(world, template)
        end(world, name)
        plain = bare.pair(0, INTERVAL)
        bare.remove()
        # The first round is a warm-up.
        if number:
            ours.append(seconds)
            theirs.append(plain)
    print("## One launch, in seconds\n")
    more = [a - b for a, b in zip(ours, theirs)]
    table(("launch", "bare engine", "more"), [(cell(ours), cell(theirs), cell(more))])
    aims = Aims("difference")
    aims.judge("one launch, seconds above both containers of the bare engine", more, 0.3)
    aims.show()


def many(world, template, bare, rounds):
    """Many launches at once beside the bare engine."""
    print("## Launches at once, in seconds until the last one answers\n")
    rows, aims = [], Aims("ratio")
    for count in (10, 30):
        ours, theirs = [], []
        for _ in range(rounds):
            seconds, launched = at_once(count, lambda _: launch(world, template, INTERVAL_OF_MANY))
            end(world, *(name for name, _ in launched))
            plain, _ = at_once(count, lambda number: bare.pair(number, INTERVAL_OF_MANY))
            bare.remove()
            ours.append(seconds)
            theirs.append(plain)
        rows.append((str(count), cell(ours), cell(theirs), cell(ratios(ours, theirs))))
        aims.judge(f"{count} at once", ratios(ours, theirs), 1.2)
    table(("workshops", "launches", "bare engine", "ratio"), rows)
    aims.show()


ENGINE_PARTS = ("containerd", "conmon", "dockerd", "podman")


def memory(world, template, bare, count):
    """Memory that each workshop adds to its app. The bare engine runs the same number of apps alone."""

    def launcher():
        return pss([world.launcher.process.pid])

    def engine():
        return pss(named(*ENGINE_PARTS))

    launchers, engines = [launcher()], [engine()]
    names = [launch(world, template)[0] for _ in range(count)]
    launchers.append(launcher())
    engines.append(engine())
    # One sidecar more runs: that of the workshop which `bare` copies.
    sidecars = pss(named("launcher-sideca")) * count / (count + 1)
    resident = world.launcher_memory() / MIB
    end(world, *names)
    # Afterwards, because an engine keeps some memory of earlier containers: that counts against the launcher.
    alone = [engine()]
    for number in range(count):
        bare.app(number)
    alone.append(engine())
    bare.remove()

    growth = [(after - before) / count for before, after in (launchers, engines, alone)]
    print(f"## Memory (Pss) with {count} running workshops, in MiB\n")
    table(("", "before", f"with {count}", "for each"), [
        ("launcher", cell(launchers[:1]), cell(launchers[1:]), cell(growth[:1])),
        ("sidecars", "-", cell([sidecars]), cell([sidecars / count])),
        (f"processes of {ENGINE}", cell(engines[:1]), cell(engines[1:]), cell(growth[1:2])),
        (f"processes of {ENGINE}, apps alone", cell(alone[:1]), cell(alone[1:]), cell(growth[2:])),
    ])
    added = {"sidecar": sidecars / count, "launcher": growth[0], f"processes of {ENGINE}": growth[1] - growth[2]}
    parts = " + ".join(f"{name} {cell([each])}" for name, each in added.items())
    aims = Aims("MiB")
    aims.judge(f"added to each app: {parts}", [sum(added.values())], 4)
    aims.show()
    print(f"Resident memory of the launcher with {count}: {resident:.1f} MiB\n")


def available():
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")) / 1024


def computes(world, name):
    """Starts a kernel and runs a cell over its WebSocket. Returns True if the result is right."""
    notebook = world.notebook(name)
    with notebook.channels(notebook.start_kernel()) as channels:
        return run_cell(channels, "sum(number ** 2 for number in range(1000))") == "332833500"


def jupyter(world, count):
    """Real JupyterLabs at the same time. Each is usable when it has run a cell."""
    template = world.template(JUPYTER | {"resources": JUPYTER["resources"] | {"memory_request": "128Mi"}})
    before, began = available(), time.perf_counter()
    names = [world.launch(template) for _ in range(count)]
    for name in names:
        world.until(name, "running", 600)
    running = time.perf_counter() - began
    # A few at a time, because the requests that start a kernel have time limits.
    _, usable = at_once(count, lambda number: computes(world, names[number]), threads=2 * os.cpu_count())
    seconds = time.perf_counter() - began
    taken = before - available()
    print(f"## {count} JupyterLabs\n")
    heads = ("usable", "seconds until all ran", "seconds until all had run a cell", "memory taken, MiB", "MiB for each")
    table(heads, [(f"{usable.count(True)} of {count}", cell([running]), cell([seconds]), cell([taken]), cell([taken / count]))])
    end(world, *names)


def main():
    chosen = arguments()
    harness.Launcher.command = (chosen.program, "serve")
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    print(f"{ENGINE}, {described()}, {commit}\n", flush=True)
    with World(SERVICE_LOG="warn") as world:
        template = world.template(QUICK)
        if {"one", "many", "memory"} & set(chosen.parts):
            model = launch(world, template)[0]
            bare = Bare(world, model)
            if "one" in chosen.parts:
                one(world, template, bare, chosen.rounds)
            if "many" in chosen.parts:
                many(world, template, bare, chosen.many_rounds)
            if "memory" in chosen.parts:
                memory(world, template, bare, chosen.count)
            bare.remove()
            end(world, model)
        if "jupyter" in chosen.parts:
            jupyter(world, chosen.count)


if __name__ == "__main__":
    main()
