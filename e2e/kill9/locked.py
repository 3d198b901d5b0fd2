#!/usr/bin/env python3
"""Tests the launcher while another program locks the database for 30 seconds.

During the lock, the launcher refuses launches and terminations with Retry-After, and creates no instance and no
process. It still answers reads, and the running workshop stays usable. After the lock, each refused Idempotency-Key
launches exactly one instance.
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
    """Holds the write lock of the database during the block, from a separate connection."""
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")


def try_meanwhile(outage, working):
    """Repeats launches, terminations and reads until LOCKED_SECONDS have passed and every request is answered."""
    over = time.monotonic() + LOCKED_SECONDS
    end = lambda: outage.launcher.request("DELETE", f"/instances/{working}")

    def refused_on(ask):
        while time.monotonic() < over:
            outage.assert_unavailable(ask())

    with concurrent.futures.ThreadPoolExecutor(len(KEYS) + 1) as threads:
        asks = [end, *(lambda key=key: outage.launch(key) for key in KEYS)]
        asking = [threads.submit(refused_on, ask) for ask in asks]
        while concurrent.futures.wait(asking, timeout=0.2).not_done:
            outage.assert_reads_and_apps_work({working}, [working])
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
        outage.assert_states(dict.fromkeys([working, *names], "running"))
        assert outage.visit(working) == 200
        print(f"locked: {outage.refused} refused, {outage.looks} checks passed, {len(names)} launched afterwards")
        outage.end_all()


if __name__ == "__main__":
    main()
