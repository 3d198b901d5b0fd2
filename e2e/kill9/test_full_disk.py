"""Tests the launcher while the disk of its data directory is full.

While the disk is full, the launcher refuses launches with Retry-After. It still answers reads and serves workshops.
During this time, one app with kept files crashes, one terminating workshop ends, and the test requests the termination
of a third. After the test frees the disk, the crashed app answers again with its files, the instances have the states of
these events, and each refused Idempotency-Key launches exactly one instance. Then the test fills the disk again and sends
SIGTERM. The launcher stops, and its next start restores the running workshops. Finally, the test ends the workshop with
kept files, and the next one has them.

The disk is a small tmpfs, which requires root. It also stores the launcher's log.
"""

import os
import signal

import pytest

from harness import Launcher, wait_for
from kill9 import notes
from kill9.outage import Outage
from kill9.small_disk import BLOCK, Filler, small_disk

pytestmark = pytest.mark.kill9
KEYS = ["one", "two", "three"]
# An app that ignores SIGTERM. The fleet kills it after its grace period, when the disk is already full.
SLOW_TO_END = (
    "import http.server, signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()"
)


class FullDisk:
    """A launcher with four workshops. While the disk is full, two keep running, of which one crashes, and two end."""

    def __init__(self, launcher):
        self.launcher, self.outage = launcher, Outage(launcher, KEYS)
        slow = self.outage.new_template("slow", ["python3", "-c", SLOW_TO_END, "$(PORT)"])
        self.kept = self.outage.new_template("kept", notes.COMMAND, **notes.KEPT)
        self.working, self.asked = (self.outage.running(key) for key in ("stays", "asked"))
        self.crashing = self.outage.running("crashes", self.kept)
        notes.write(self.outage, self.crashing, "last byte")
        self.ending = self.outage.running("ends", slow)
        self.rows = set(self.launcher.instances())

    def end(self, name):
        return self.launcher.request("DELETE", f"/instances/{name}")

    def begin_slow_end(self):
        """Ends the slow workshop, and waits until the fleet has stored this: only then does the end need no disk."""
        assert self.end(self.ending)[0] == 202
        record = self.launcher.data / "fleet/workshops" / self.ending / "state.json"
        wait_for("the fleet to store the end", lambda: "deletionTimestamp" in record.read_text())

    def runs(self, name):
        return any(process["name"] == name for process in self.launcher.workshop_processes())

    def crash(self):
        """Kills the processes of the workshop `crashing`, and waits until they are gone."""
        processes = self.launcher.workshop_processes()
        killed = {process["pid"] for process in processes if process["name"] == self.crashing}
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        left = lambda: killed & {process["pid"] for process in self.launcher.workshop_processes()}
        wait_for("the killed processes to end", lambda: not left())

    def assert_note_is_refused(self):
        """Checks that the app cannot replace the kept file, because the disk is full."""
        status, answer = self.outage.send(self.crashing, "PUT", notes.NOTE, body="x" * len(BLOCK))
        assert status == 502, (status, answer)

    def while_full(self, filler):
        """Checks that the launcher refuses launches, and that events of workshops take effect while the disk is full.

        Returns True if the launcher accepted a termination. A termination writes less than a launch and may therefore
        fit into the free pages of the database.
        """
        self.outage.assert_reads_and_apps_work(self.rows, [self.working])
        filler.fill()
        self.assert_note_is_refused()
        self.crash()
        for key in KEYS * 2:
            filler.fill()
            self.outage.assert_unavailable(self.outage.launch(key))
        wait_for("the slow workshop to end", lambda: not self.runs(self.ending))
        filler.fill()
        answer = self.end(self.asked)
        if answer[0] != 202:
            self.outage.assert_unavailable(answer)
            assert self.outage.visit(self.asked) == 200, "a refused termination stopped the workshop"
        self.outage.assert_reads_and_apps_work(self.rows, [self.working])
        assert self.launcher.process.poll() is None, "the launcher exited while the disk was full"
        return answer[0] == 202

    def afterwards(self, taken):
        """Checks that refused launches now succeed, and that each instance has the state of its event."""
        names = self.outage.assert_all_launch_once()
        if not taken:
            assert self.end(self.asked)[0] == 202
        became = {self.ending: "terminated", self.asked: "terminated"}
        self.states = dict.fromkeys([self.working, self.crashing, *names], "running") | became
        wait_for("the crash to be recorded", lambda: self.outage.instance(self.crashing)["last_crash"])
        assert self.outage.instance(self.crashing)["last_crash"]["code"] == "crashed"
        wait_for("the crashed app to answer again", lambda: self.outage.visit(self.crashing) == 200)
        self.outage.assert_states(self.states)
        assert {self.outage.instance(name)["end_reason"] for name in (self.ending, self.asked)} == {"owner"}
        assert self.outage.visit(self.working) == 200
        assert notes.read(self.outage, self.crashing) == "last byte"

    def assert_kept(self):
        """Checks that the next workshop has the kept file of the crashed one."""
        self.outage.finish(self.crashing)
        successor = self.outage.running("after-the-crash", self.kept)
        assert notes.read(self.outage, successor) == "last byte"

    def stopped_while_full(self):
        """Checks that SIGTERM stops launcher and workshops on a full disk, and that the next start restores them."""
        with Filler(self.launcher.data):
            self.launcher.stop()
            assert not self.launcher.workshop_processes(), "workshop processes remain after SIGTERM"
        self.launcher.start()
        for name in (name for name, state in self.states.items() if state == "running"):
            wait_for(f"{name} to answer again", lambda: self.outage.visit(name) == 200)
        self.outage.assert_states(self.states)


@pytest.fixture
def launcher(launcher_program):
    """A launcher with a small data directory."""
    with Launcher(SERVICE_LOG="warn") as made, small_disk(made.data):
        try:
            made.start()
            yield made
            print(made.log_tail())
        finally:
            # The processes and files on the disk, before the disk is unmounted.
            made.clean_up()


def test_launcher_survives_a_full_disk(launcher):
    disk = FullDisk(launcher)
    disk.begin_slow_end()
    with Filler(launcher.data) as filler:
        taken = disk.while_full(filler)
    disk.afterwards(taken)
    disk.stopped_while_full()
    disk.assert_kept()
    disk.outage.end_all()
