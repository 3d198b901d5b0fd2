"""Growth of the launcher's costs: with the rows of its database, and with the running workshops."""

import contextlib
import json
import sys
import time

from common import tools
from common.machine import cpu_seconds, load_average
from common.table import cell, percentile, table

from .program import ADMIN, ALICE, Launcher, filled, template

READS = 100
LAUNCHES = 60
PATIENCE = 600
ASKED = {
    "admin's list: 50 instances of all users": ("/api/v1/instances/?state=all&limit=50", ADMIN),
    "a user's list": ("/api/v1/instances/", ALICE),
    "one": ("/api/v1/instances/{one}", ALICE),
}
# This workshop is never ready, so later launches stay queued, and no workshop starts while launches are measured.
WAITS = {"command": ["sleep", "100000"]}


def both(rounds):
    """Returns p50 and p99 of each round, in milliseconds."""
    return f"{cell([percentile(r, 50) for r in rounds])}; {cell([percentile(r, 99) for r in rounds])}"


def timed_launches(launcher, chosen, count, person=ADMIN):
    times = []
    for _ in range(count):
        began = time.perf_counter()
        status, answer = launcher.request("POST", f"/api/v1/templates/{chosen}/launch", person)
        times.append((time.perf_counter() - began) * 1000)
        if status != 201:
            sys.exit(f"a launch answered {status}: {answer.decode()}")
    return times


def rows(options):
    """Prints the costs by number of rows, in turns: every round measures every size."""
    print(f"\n## The launcher as its database grows\n\n{load_average()}; p50; p99 in milliseconds, medians of "
          f"{options.rounds} rounds of {READS} each on one connection\n")
    took = {size: {name: [] for name in (*ASKED, "launch")} for size in options.rows}
    with contextlib.ExitStack() as ending:
        limits = {"SERVICE_MAX_CONCURRENT_STARTS": "1", "SERVICE_MAX_QUEUED": "100000"}
        launchers = {size: ending.enter_context(filled(size, **limits)) for size in options.rows}
        chosen = {size: template(launcher, **WAITS) for size, launcher in launchers.items()}
        for number in range(options.rounds + 1):
            for size, launcher in launchers.items():
                for name, (path, headers) in ASKED.items():
                    times = launcher.timed(path.format(one="bench-0000000000"), headers, READS)
                    took[size][name] += [times] if number else []
                times = timed_launches(launcher, chosen[size], LAUNCHES // options.rounds)
                took[size]["launch"] += [times] if number else []
        memory = {size: launcher.memory() for size, launcher in launchers.items()}
        files = {size: sum(each.stat().st_size for each in launcher.data.glob("launcher.db*")) / 1e6
                 for size, launcher in launchers.items()}
    table(("rows", *took[options.rows[0]], "file, MB", "RSS; Pss, MiB", "ready after, ms"), [
        (f"{size:,}", *(both(rounds) for rounds in took[size].values()), cell([files[size]]),
         f"{cell([memory[size][0]])}; {cell([memory[size][1]])}", cell([launchers[size].start_seconds * 1000]))
        for size in options.rows
    ])


def settle(launcher):
    """Waits until no workshop is queued or starting."""
    deadline = time.monotonic() + PATIENCE
    for state in ("queued", "starting"):
        while json.loads(launcher.request("GET", f"/api/v1/instances/?state={state}&limit=1", ADMIN)[1]):
            if time.monotonic() > deadline:
                sys.exit(f"after {PATIENCE} s workshops are still {state}")
            time.sleep(0.2)
    if json.loads(launcher.request("GET", "/api/v1/instances/?state=failed&limit=1", ADMIN)[1]):
        sys.exit("a workshop failed")


def live(options):
    """Prints the costs by number of running workshops. One launcher runs more and more of them.

    Each is a process of a minimal app.
    """
    print(f"\n## The launcher as more workshops run\n\n{load_average()}; p50; p99 in milliseconds, {options.rounds} "
          f"rounds of {READS} each on one connection\n")
    table_rows, there = [], 1
    with Launcher(SERVICE_MAX_QUEUED="100000") as launcher:
        chosen = template(launcher, command=[str(tools.LOAD), "stub", "$(PORT)"])
        one = json.loads(launcher.request("POST", f"/api/v1/templates/{chosen}/launch", ALICE)[1])["k8s_name"]
        for wanted in options.live:
            began = time.monotonic()
            timed_launches(launcher, chosen, wanted - there)
            settle(launcher)
            grew, more = time.monotonic() - began, wanted - there
            reads = [both([launcher.timed(path.format(one=one), headers, READS) for _ in range(options.rounds)])
                     for path, headers in ASKED.values()]
            before, began = cpu_seconds_of(launcher), time.monotonic()
            time.sleep(5)
            rest = 100 * (cpu_seconds_of(launcher) - before) / (time.monotonic() - began)
            rss, pss = launcher.memory()
            launch = both([timed_launches(launcher, chosen, 10)])
            there = wanted + 10
            table_rows.append((f"{wanted:,}", *reads, launch, f"{cell([rss])}; {cell([pss])}", cell([rest]),
                               f"{more / grew:.0f}"))
            print(f"  {wanted} run", file=sys.stderr)
            settle(launcher)
    table(("running", *ASKED, "launch", "RSS; Pss, MiB", "CPU at rest, % of a core", "started a second"), table_rows)


def cpu_seconds_of(launcher):
    """Returns the launcher's CPU seconds without its workshops'."""
    return cpu_seconds(launcher.process.pid, children=False)
