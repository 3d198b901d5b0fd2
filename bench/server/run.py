#!/usr/bin/env python3
"""Costs of one server at rest: `e2e/server/live.sh measure docker`. Prints Markdown."""

import json
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / each) for each in ("bench", "e2e", "e2e/containers", "e2e/login/tests", "e2e/server/live")]
sys.dont_write_bytecode = True

from common.table import cell, table  # noqa: E402
from machine import ALICE, Machine  # noqa: E402

# Names of the engine's processes, as the kernel abbreviates them.
ENGINE = ("containerd", "containerd-shim", "dockerd", "conmon", "podman")


def pss(pids):
    """Returns the proportional set size of these processes, in MiB."""
    rollups = [pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in pids]
    lines = [line for rollup in rollups for line in rollup.splitlines() if line.startswith("Pss:")]
    return sum(int(line.split()[1]) for line in lines) / 1024


def engine_processes():
    """Returns the process IDs of the engine's programs."""
    found = []
    for comm in pathlib.Path("/proc").glob("[0-9]*/comm"):
        if comm.read_text().strip().startswith(ENGINE):
            found.append(comm.parent.name)
    return found


def services(machine):
    """Returns the process ID of each program of the server: {service: process ID}."""
    inspected = json.loads(machine.command("inspect", *(identifier for identifier, _ in machine.containers().values())))
    return {each["Config"]["Labels"]["com.docker.compose.service"]: each["State"]["Pid"] for each in inspected}


def timed(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure(machine):
    before = pss(engine_processes())
    seconds = timed(machine.set_up)
    accounts = timed(machine.create_accounts)
    login = timed(lambda: machine.signed_in(ALICE))
    print("## One server\n")
    table(("step", "seconds"), [
        ("setup, from the command to a working login; the images are on the server", cell([seconds])),
        ("accounts of two students, and their sheet", cell([accounts])),
        ("login of a student, from the first request to the start page", cell([login])),
    ])
    memory = {service: pss([pid]) for service, pid in services(machine).items()}
    memory["engine, more than before"] = pss(engine_processes()) - before
    memory["all"] = sum(memory.values())
    table(("program at rest", "memory (Pss), MiB"), [(name, cell([size])) for name, size in memory.items()])


def main():
    machine = Machine()
    try:
        machine.import_images()
        measure(machine)
    finally:
        machine.remove()


if __name__ == "__main__":
    main()
