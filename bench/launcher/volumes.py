"""Cost of kept files for pages and API: a database with volumes, compared in turns with one without."""

import contextlib
import sqlite3
import statistics
import uuid

from common.machine import load_average
from common.table import cell, percentile, table

from .growth import READS
from .program import ADMIN, ALICE, ALICE_MAIL, filled

ROWS = 10_000
VOLUMES = 300
COMPARED = {
    "a user's start page": ("/", ALICE),
    "a user's history": ("/history", ALICE),
    "the admin's table of all instances": ("/admin/instances", ADMIN),
    "API: a user's list": ("/api/v1/instances/", ALICE),
    "API: 50 instances of all users": ("/api/v1/instances/?state=all&limit=50", ADMIN),
}
OWN = {
    "the page Saved work": ("/work", ALICE),
    "Saved work of all users": ("/admin/work", ADMIN),
    "API: a user's volumes": ("/api/v1/volumes/", ALICE),
}


def with_instances(with_volumes):
    """Returns a launcher with 10,000 instances, nine of ten ended. With volumes, each instance has used one, and 300 of these
    volumes still exist. The others were deleted."""
    launcher = filled(ROWS)
    if with_volumes:
        with sqlite3.connect(launcher.data / "launcher.db") as database:
            database.execute("UPDATE workshop_instances SET volume = 'work-' || substr(k8s_name, -10)")
            used = "SELECT owner_email, template_id, max(volume) FROM workshop_instances"
            owners = database.execute(f"{used} GROUP BY owner_email, template_id ORDER BY owner_email LIMIT ?", (VOLUMES,))
            database.executemany(
                "INSERT INTO volumes (volume_id, name, owner_email, template_id, template_name, size, created_at, last_used_at)"
                " VALUES (?, ?, ?, ?, 'Bench', '1Gi', unixepoch() * 1000, unixepoch() * 1000)",
                [(str(uuid.uuid4()), name, owner, used_by) for owner, used_by, name in owners.fetchall()],
            )
            count, alices = database.execute(
                "SELECT count(*), sum(owner_email = ?) FROM volumes", (ALICE_MAIL,)
            ).fetchone()
            assert (count, alices) == (VOLUMES, 1), (count, alices)
    return launcher


def volumes(options):
    """Prints the latency with and without volumes. Every round measures both launchers in turns."""
    print(f"\n## {VOLUMES} volumes of {ROWS:,} past ones\n\n{load_average()}; milliseconds, medians of {options.rounds} "
          f"rounds of {READS} each on one connection\n")
    took = {name: ([], []) for name in (*COMPARED, *OWN)}
    with contextlib.ExitStack() as ending:
        plain, kept = (ending.enter_context(with_instances(with_volumes)) for with_volumes in (False, True))
        for number in range(options.rounds + 1):
            for name, (path, headers) in (COMPARED | OWN).items():
                for launcher, rounds in zip((plain, kept), took[name], strict=True):
                    times = launcher.timed(path, headers, READS)
                    rounds.extend([percentile(times, 50)] if number else [])
    rows = []
    for name, (without, with_volumes) in took.items():
        ratio = [with_one / without_one for with_one, without_one in zip(with_volumes, without, strict=True)]
        compared = f"{statistics.median(ratio):.2f} times" if name in COMPARED else "not compared"
        rows.append((name, cell(without), cell(with_volumes), compared))
    table(("request, p50", "no volumes", f"{VOLUMES} volumes", "with volumes"), rows)
