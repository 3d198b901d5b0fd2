#!/usr/bin/env python3
"""Tests the files of local workshops after their expiry and after kill -9 of their keeper.

A workshop with a volume: the next workshop of its owner has the last acknowledged note, and another user has nothing of
it. A workshop without a volume: the archive has the last note, and another user cannot download it.
"""

import contextlib
import datetime
import http.client
import json
import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import notes
from harness import Launcher, wait_for
from outage import Outage
from saved_files import saved_files

ALICE, BOB = "alice@example.org", "bob@example.org"
# The shortest lifetime that a template can have, in seconds.
SHORT = {"lifetime_seconds": 60, "max_lifetime_seconds": 60}


class Ends:
    """A launcher with two workshops of Alice that expire, with a volume and without one."""

    def __init__(self, launcher):
        self.launcher, self.outage = launcher, Outage(launcher, [])
        self.kept = self.outage.create_template("kept", notes.COMMAND, **notes.KEPT)
        self.unkept = self.outage.create_template("unkept", notes.COMMAND)
        self.expiring_kept = self.outage.create_template("expiring kept", notes.COMMAND, **notes.KEPT, **SHORT)
        expiring_unkept = self.outage.create_template("expiring unkept", notes.COMMAND, **SHORT)
        self.expiring = self.outage.running("expires-with-a-volume", self.expiring_kept, ALICE)
        self.saving = self.outage.running("expires-without-one", expiring_unkept, ALICE)

    def saved(self, name):
        """Returns the note in the archive of an ended workshop."""
        found = lambda: saved_files(self.launcher, name, ALICE, BOB)
        return json.loads(wait_for(f"the saved files of {name}", found, 10)[notes.NOTE[1:]])

    def assert_kept(self, template, note):
        """Fails unless the next workshop of Alice, and not the one of Bob, has the note. Ends both."""
        of_alice, of_bob = (self.outage.running(f"after-{template}-{email}", template, email) for email in (ALICE, BOB))
        assert notes.read(self.outage, of_alice, ALICE) == note
        assert notes.read(self.outage, of_bob, BOB) is None
        for name in (of_alice, of_bob):
            self.outage.end(name)

    def processes(self, name):
        """Returns the pids of the app and its keeper."""
        [app] = [process for process in self.launcher.workshop_processes() if process["name"] == name]
        keeper = app["parent"]
        assert pathlib.Path(f"/proc/{keeper}/comm").read_text() == "workshop-keeper\n"
        return app["pid"], keeper

    def killed_keeper(self):
        """Kills the keepers of two workshops, with and without a running launcher. Both apps go on."""
        kept = self.outage.running("kept-without-its-keeper", self.kept, ALICE)
        unkept = self.outage.running("without-its-keeper", self.unkept, ALICE)
        apps = {}
        for name, is_down in ((kept, False), (unkept, True)):
            notes.write(self.outage, name, "before", ALICE)
            apps[name], keeper = self.processes(name)
            if is_down:
                self.launcher.kill()
            os.kill(keeper, signal.SIGKILL)
            wait_for("the keeper to end", lambda: not pathlib.Path(f"/proc/{keeper}/exe").exists(), 10)
            if is_down:
                self.launcher.start()
                wait_for(f"{name} to answer", lambda: self.outage.visit(name, ALICE) == 200, 10)
            notes.write(self.outage, name, "after the keeper", ALICE)
        self.outage.end(unkept)
        assert self.saved(unkept) == "after the keeper"

        os.kill(apps[kept], signal.SIGKILL)
        wait_for("the crash to be recorded", lambda: self.outage.row(kept)["last_crash"], 30)
        wait_for(f"{kept} to answer", lambda: self.outage.visit(kept, ALICE) == 200, 30)
        assert notes.read(self.outage, kept, ALICE) == "after the keeper"
        self.outage.end(kept)
        self.assert_kept(self.kept, "after the keeper")

    def expired(self):
        """Stores notes until the workshops expire."""
        left = lambda: min(self.seconds_left(name) for name in (self.expiring, self.saving))
        wait_for("the last seconds before the first expiry", lambda: left() < 10, 60)
        notes.write(self.outage, self.saving, "last byte", ALICE)
        last = self.write_until_the_end()
        ended = self.outage.until(self.expiring, "terminated")
        assert ended["end_reason"] == "expired", ended
        # The app may have stored a note whose acknowledgement was lost.
        volume = self.launcher.data / "volumes" / ended["volume"] / notes.NOTE[1:]
        note = json.loads(volume.read_text())
        assert note in (last, last + 1), (note, last)
        self.assert_kept(self.expiring_kept, note)

        ended = self.outage.until(self.saving, "terminated")
        assert (ended["end_reason"], ended["snapshot"]["state"]) == ("expired", "saved"), ended
        assert self.saved(self.saving) == "last byte"

    def seconds_left(self, name):
        expires_at = self.outage.row(name)["expires_at"]
        return datetime.datetime.fromisoformat(expires_at.replace("Z", "+00:00")).timestamp() - time.time()

    def write_until_the_end(self):
        """Stores numbers as notes until the app refuses one. Returns the last acknowledged number."""
        number = 0
        with contextlib.suppress(OSError, AssertionError, TypeError, http.client.HTTPException):
            for number in range(10**6):
                notes.write(self.outage, self.expiring, number + 1, ALICE)
        assert number > 0, "no note was stored before the expiry"
        return number


def main():
    with Launcher(SERVICE_LOG="warn", SERVICE_MAX_INSTANCES_PER_USER="10") as launcher:
        launcher.environment["SERVICE_SNAPSHOT_STORE"] = str(launcher.data / "snapshots")
        launcher.start()
        ends = Ends(launcher)
        ends.expired()
        ends.killed_keeper()
        print("ends: the last bytes are there after the expiry and after kill -9 of a keeper")
        ends.outage.end_all()


if __name__ == "__main__":
    main()
