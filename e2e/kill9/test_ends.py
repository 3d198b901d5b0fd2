"""Tests the files of local workshops after their expiry.

A workshop with a volume: the next workshop of its owner has the last acknowledged note, and another user has nothing of
it. A workshop without a volume: the archive has the last note, and another user cannot download it.
"""

import contextlib
import datetime
import http.client
import json
import time

import pytest

from harness import Launcher, wait_for
from kill9 import notes
from kill9.outage import Outage
from saved_files import saved_files

pytestmark = pytest.mark.kill9
ALICE, BOB = "alice@example.org", "bob@example.org"
# The shortest lifetime that a template can have, in seconds.
SHORT = {"lifetime_seconds": 60, "max_lifetime_seconds": 60}


class Ends:
    """A launcher that saves the files of ended workshops, and workshops of Alice."""

    def __init__(self, launcher):
        self.launcher, self.outage = launcher, Outage(launcher)

    def template(self, name, **fields):
        return self.outage.new_template(name, notes.COMMAND, **fields)

    def saved(self, name):
        """Returns the note in the archive of an ended workshop."""
        found = lambda: saved_files(self.launcher, name, ALICE, BOB)
        return json.loads(wait_for(f"the saved files of {name}", found)[notes.NOTE[1:]])

    def assert_kept(self, template, note):
        """Fails unless the next workshop of Alice, and not the one of Bob, has the note. Ends both."""
        of_alice, of_bob = (self.outage.running(f"after-{template}-{email}", template, email) for email in (ALICE, BOB))
        assert notes.read(self.outage, of_alice, ALICE) == note
        assert notes.read(self.outage, of_bob, BOB) is None
        for name in (of_alice, of_bob):
            self.outage.finish(name)

    def seconds_left(self, name):
        expires_at = self.outage.instance(name)["expires_at"]
        return datetime.datetime.fromisoformat(expires_at.replace("Z", "+00:00")).timestamp() - time.time()


class Numbers:
    """Stores growing numbers as notes in a workshop. `last` is the last acknowledged number."""

    def __init__(self, outage, name):
        self.outage, self.name, self.last = outage, name, 0

    def write(self):
        """Stores the next number. Returns False if the app did not acknowledge it."""
        with contextlib.suppress(OSError, AssertionError, TypeError, http.client.HTTPException):
            notes.write(self.outage, self.name, self.last + 1, ALICE)
            self.last += 1
            return True
        return False

    def assert_last(self, note):
        """Fails unless the note is the last number. The app may also have stored one whose acknowledgement was lost."""
        assert self.last > 0, "no note was stored before the expiry"
        assert note in (self.last, self.last + 1), (note, self.last)


@pytest.fixture
def ends(launcher_program):
    with Launcher(SERVICE_LOG="warn", SERVICE_MAX_INSTANCES_PER_USER="10") as launcher:
        launcher.environment["SERVICE_SNAPSHOT_STORE"] = str(launcher.data / "snapshots")
        launcher.start()
        made = Ends(launcher)
        yield made
        print(launcher.log_tail())


def test_notes_outlive_the_expiry(ends):
    outage = ends.outage
    template = ends.template("expiring kept", **notes.KEPT, **SHORT)
    kept = Numbers(outage, outage.running("expires-with-a-volume", template, ALICE))
    # At once: on a busy machine, this workshop may end before the other one runs.
    assert kept.write()
    saved = Numbers(outage, outage.running("expires-without-one", ends.template("expiring", **SHORT), ALICE))
    assert saved.write()
    wait_for("the last seconds before the first expiry", lambda: ends.seconds_left(kept.name) < 10)
    # The archive is read during the end, so the user of this workshop stops before.
    while saved.write() and ends.seconds_left(kept.name) > 7:
        pass
    while kept.write():
        pass
    ended = outage.until(kept.name, "terminated")
    assert ended["end_reason"] == "expired", ended
    note = json.loads((ends.launcher.data / "volumes" / ended["volume"] / notes.NOTE[1:]).read_text())
    kept.assert_last(note)
    ends.assert_kept(template, note)

    ended = outage.until(saved.name, "terminated")
    assert (ended["end_reason"], ended["snapshot"]["state"]) == ("expired", "saved"), ended
    saved.assert_last(ends.saved(saved.name))
    outage.end_all()
