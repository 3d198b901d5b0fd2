#!/usr/bin/env python3
"""Somebody else locks the database for 30 seconds: who launches is asked to come back, and everything else goes on.

Until the lock is gone each launch is refused and leaves nothing, neither a row nor a process; reads are answered, and
the workshop that runs is worked in. Afterwards the same Idempotency-Keys launch, once each.
"""

import concurrent.futures
import contextlib
import pathlib
import sqlite3
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import Launcher
from outage import Outage

LOCKED_SECONDS = 30
KEYS = ["one", "two", "three"]


@contextlib.contextmanager
def locked(database):
    """While another program is in the middle of a write."""
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")


def try_meanwhile(outage, working):
    """Launches, ends and reads again and again, until so much time has passed and everybody has their answer."""
    over = time.monotonic() + LOCKED_SECONDS
    end = lambda: outage.launcher.request("DELETE", f"/instances/{working}")

    def refused_on(ask):
        while time.monotonic() < over:
            outage.assert_unavailable(ask())

    with concurrent.futures.ThreadPoolExecutor(len(KEYS) + 1) as threads:
        asks = [end, *(lambda key=key: outage.launch(key) for key in KEYS)]
        asking = [threads.submit(refused_on, ask) for ask in asks]
        while concurrent.futures.wait(asking, timeout=0.2).not_done:
            outage.assert_goes_on({working}, [working])
        for one in asking:
            one.result()


def main():
    with Launcher(SERVICE_LOG="warn") as launcher:
        launcher.start()
        outage = Outage(launcher, KEYS)
        working = outage.running("before")
        with locked(launcher.data / "launcher.db"):
            try_meanwhile(outage, working)
        names = outage.assert_all_launch_once()
        outage.assert_in_line(dict.fromkeys([working, *names], "running"))
        assert outage.visit(working) == 200
        print(f"locked: {outage.refused} refused, looked {outage.looks} times, {len(names)} launched afterwards")
        outage.end_all()


if __name__ == "__main__":
    main()
