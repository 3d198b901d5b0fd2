"""Tests the launcher while another program locks the database.

During the lock, the launcher refuses launches and terminations with Retry-After, and creates no instance and no
process. It still answers reads, and the running workshop stays usable. After the lock, each refused Idempotency-Key
launches exactly one instance.
"""

import concurrent.futures
import contextlib
import sqlite3

import pytest

from kill9.outage import Outage

pytestmark = pytest.mark.kill9
KEYS = ["one", "two", "three"]
# Refusals of each request before the lock ends. The second one shows that a refused request leaves no lock behind.
REFUSALS = 2


@contextlib.contextmanager
def locked(database):
    """Holds the write lock of the database during the block, from a separate connection."""
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")


def try_meanwhile(outage, working):
    """Repeats launches and terminations until each was refused several times, and reads until then."""
    end = lambda: outage.launcher.request("DELETE", f"/instances/{working}")

    def refused_on(ask):
        for _ in range(REFUSALS):
            outage.assert_unavailable(ask())

    with concurrent.futures.ThreadPoolExecutor(len(KEYS) + 1) as threads:
        asks = [end, *(lambda key=key: outage.launch(key) for key in KEYS)]
        asking = [threads.submit(refused_on, ask) for ask in asks]
        between = 0
        while concurrent.futures.wait(asking, timeout=0.2).not_done:
            refused = outage.refused
            outage.assert_reads_and_apps_work({working}, [working])
            between += outage.refused == refused
        for one in asking:
            one.result()
    # Reads that wait for blocked writers would never end between two refusals.
    assert between, "no read was answered while the writers waited"


def test_requests_during_database_lock_are_refused_and_succeed_afterwards(launcher):
    outage = Outage(launcher, KEYS)
    working = outage.running("before")
    with locked(launcher.data / "launcher.db"):
        try_meanwhile(outage, working)
    names = outage.assert_all_launch_once()
    outage.assert_states(dict.fromkeys([working, *names], "running"))
    assert outage.visit(working) == 200
    outage.end_all()
