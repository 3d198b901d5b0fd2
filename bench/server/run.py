#!/usr/bin/env python3
"""Costs of one server at rest: `e2e/server/live.sh measure docker`. Prints Markdown."""

import json
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / each) for each in ("bench", "e2e", "e2e/containers", "e2e/login/tests", "e2e/server/live")]
sys.dont_write_bytecode = True

from common.machine import named, pss  # noqa: E402
from common.table import cell, table  # noqa: E402
from machine import ALICE, Machine  # noqa: E402

# Names of the engine's processes, as the kernel abbreviates them.
ENGINE = ("containerd", "containerd-shim", "dockerd", "conmon", "podman")


def services(machine):
    """Returns the process ID of each program of the server: {service: process ID}."""
    inspected = json.loads(machine.command("inspect", *(identifier for identifier, _ in machine.containers().values())))
    return {each["Config"]["Labels"]["com.docker.compose.service"]: each["State"]["Pid"] for each in inspected}


def timed(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure(machine):
    before = pss(named(*ENGINE))
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
    memory["engine, more than before"] = pss(named(*ENGINE)) - before
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
