#!/usr/bin/env python3
"""Tests the launcher while the disk of its data directory is full.

While the disk is full, the launcher refuses launches with Retry-After. It still answers reads and serves workshops.
During this time, one app with kept files crashes, one terminating workshop ends, and the test requests the termination
of a third. After the test frees the disk, the crashed app answers again with its files, the instances have the states of
these events, and each refused Idempotency-Key launches exactly one instance. Then the test fills the disk again and sends
SIGTERM. The launcher stops, and its next start restores the running workshops. Finally, the test ends the workshop with
kept files, and the next one has them.

The disk is a small tmpfs in a separate mount namespace, which requires root. It also stores the launcher's log.
"""

import contextlib
import errno
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import notes
from harness import Launcher, wait_for
from outage import Outage

SIZE = "16m"
BLOCK = b"\0" * 4096
KEYS = ["one", "two", "three"]
# An app that ignores SIGTERM. The fleet kills it after its grace period, when the disk is already full.
SLOW_TO_END = (
    "import http.server, signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()"
)


@contextlib.contextmanager
def small_disk(path):
    """Mounts a small tmpfs at this path during the block. The caller must run in a separate mount namespace."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "launcher-e2e", path], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)
        path.rmdir()


def in_own_namespace(main):
    """Runs the script of this main function again in a mount namespace of its own, and main there. Requires root."""
    if os.environ.get("FULL_DISK_NAMESPACE"):
        main()
        return
    own = ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv]
    sys.exit(subprocess.run(own, env=os.environ | {"FULL_DISK_NAMESPACE": "1"}).returncode)


class Filler:
    """A file that fills the disk of a directory during `with Filler(directory) as filler`."""

    def __init__(self, directory):
        self.path = directory / "filler"

    def __enter__(self):
        self.file = self.path.open("ab", buffering=0)
        self.fill()
        return self

    def __exit__(self, *_):
        self.file.close()
        self.path.unlink()

    def fill(self):
        """Extends the file until the disk is full. A later call fills the space that was freed since then."""
        try:
            while self.file.write(BLOCK):
                pass
        except OSError as error:
            assert error.errno == errno.ENOSPC, error


class FullDisk:
    """A launcher with four workshops. While the disk is full, two keep running, of which one crashes, and two end."""

    def __init__(self, launcher):
        self.launcher, self.outage = launcher, Outage(launcher, KEYS)
        slow = self.outage.create_template("slow", ["python3", "-c", SLOW_TO_END, "$(PORT)"])
        self.kept = self.outage.create_template("kept", notes.COMMAND, **notes.KEPT)
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
        wait_for("the fleet to store the end", lambda: "deletionTimestamp" in record.read_text(), 10)

    def runs(self, name):
        return any(process["name"] == name for process in self.launcher.workshop_processes())

    def crash(self):
        """Kills the processes of the workshop `crashing`, and waits until they are gone."""
        processes = self.launcher.workshop_processes()
        killed = {process["pid"] for process in processes if process["name"] == self.crashing}
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        left = lambda: killed & {process["pid"] for process in self.launcher.workshop_processes()}
        wait_for("the killed processes to end", lambda: not left(), 10)

    def assert_note_is_refused(self):
        """Checks that the app cannot replace the kept file, because the disk is full."""
        status, answer = self.outage.send(self.crashing, "PUT", notes.NOTE, body="x" * len(BLOCK))
        assert status == 502, (status, answer)

    def while_full(self, filler):
        """Checks that the launcher refuses launches, and that events of workshops take effect while the disk is full.

        Returns True if the launcher accepted a termination. A termination writes less than a launch and may therefore
        fit into the free pages of the database.
        """
        assert self.runs(self.ending), "the slow workshop ended before the disk was full"
        self.outage.assert_reads_and_apps_work(self.rows, [self.working])
        filler.fill()
        self.assert_note_is_refused()
        self.crash()
        for key in KEYS * 2:
            filler.fill()
            self.outage.assert_unavailable(self.outage.launch(key))
        wait_for("the slow workshop to end", lambda: not self.runs(self.ending), 30)
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
        wait_for("the crash to be recorded", lambda: self.outage.row(self.crashing)["last_crash"], 30)
        assert self.outage.row(self.crashing)["last_crash"]["code"] == "crashed"
        wait_for("the crashed app to answer again", lambda: self.outage.visit(self.crashing) == 200, 30)
        self.outage.assert_states(self.states)
        assert {self.outage.row(name)["end_reason"] for name in (self.ending, self.asked)} == {"owner"}
        assert self.outage.visit(self.working) == 200
        assert notes.read(self.outage, self.crashing) == "last byte"

    def assert_kept(self):
        """Checks that the next workshop has the kept file of the crashed one."""
        self.outage.end(self.crashing)
        successor = self.outage.running("after-the-crash", self.kept)
        assert notes.read(self.outage, successor) == "last byte"

    def stopped_while_full(self):
        """Checks that SIGTERM stops launcher and workshops on a full disk, and that the next start restores them."""
        with Filler(self.launcher.data):
            self.launcher.stop()
            assert not self.launcher.workshop_processes(), "workshop processes remain after SIGTERM"
        self.launcher.start()
        for name in (name for name, state in self.states.items() if state == "running"):
            wait_for(f"{name} to answer again", lambda: self.outage.visit(name) == 200, 30)
        self.outage.assert_states(self.states)


def main():
    launcher = Launcher(SERVICE_LOG="warn")
    with small_disk(launcher.data), launcher:
        launcher.start()
        disk = FullDisk(launcher)
        disk.begin_slow_end()
        with Filler(launcher.data) as filler:
            taken = disk.while_full(filler)
        disk.afterwards(taken)
        disk.stopped_while_full()
        disk.assert_kept()
        end = "accepted" if taken else "refused"
        print(f"full disk: {disk.outage.refused} refused, {len(KEYS)} launched afterwards; the termination was {end}")
        disk.outage.end_all()


if __name__ == "__main__":
    in_own_namespace(main)
