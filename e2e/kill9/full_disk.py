#!/usr/bin/env python3
"""The disk of the data directory is full: launches are refused with Retry-After, and everything else still works.

Meanwhile one workshop's app crashes, one workshop that is already ending ends, and the end of a third is requested.
Once the disk has room again, the rows show these outcomes, and the same Idempotency-Keys launch, once each. Finally the
launcher gets SIGTERM while the disk is full: it stops, and the next start brings back the running workshops.

The disk is a small tmpfs in a separate mount namespace, which requires root. It also holds the launcher's log.
"""

import contextlib
import errno
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import Launcher, wait_for
from outage import Outage

SIZE = "16m"
BLOCK = b"\0" * 4096
KEYS = ["one", "two", "three"]
# Ignores SIGTERM, so it ends only after its grace period, when the disk is already full.
SLOW_TO_END = (
    "import http.server, signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()"
)


@contextlib.contextmanager
def small_disk(path):
    """Mounts a small disk at this path during the block. The caller has to be in a separate mount namespace."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "launcher-e2e", path], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)
        path.rmdir()


class Filler:
    """A file that fills the disk. `with Filler(directory) as filler`."""

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
        """Fills the disk again, including space that was freed meanwhile."""
        try:
            while self.file.write(BLOCK):
                pass
        except OSError as error:
            assert error.errno == errno.ENOSPC, error


class FullDisk:
    """Four workshops, and an event for each while the disk is full."""

    def __init__(self, launcher):
        self.launcher, self.outage = launcher, Outage(launcher, KEYS)
        slow = self.outage.create_template("slow", ["python3", "-c", SLOW_TO_END, "$(PORT)"])
        self.working, self.crashing, self.asked = (self.outage.running(key) for key in ("stays", "crashes", "asked"))
        self.ending = self.outage.running("ends", slow)
        self.rows = set(self.launcher.instances())

    def end(self, name):
        return self.launcher.request("DELETE", f"/instances/{name}")

    def runs(self, name):
        return any(process["name"] == name for process in self.launcher.workshop_processes())

    def crash(self):
        """Kills the workshop's app, and waits until its port is no longer routed."""
        for process in self.launcher.workshop_processes():
            if process["name"] == self.crashing:
                os.kill(process["pid"], signal.SIGKILL)
        wait_for("nobody to be led to its port", lambda: self.outage.visit(self.crashing) != 200, 10)

    def while_full(self, filler):
        """Checks that requests are refused, and that events of workshops still take effect. Returns True if the end was
        recorded: it writes less than a launch, and may fit into the database's free space."""
        assert self.runs(self.ending), "it has ended before the disk was full"
        self.outage.assert_goes_on(self.rows, [self.working])
        self.crash()
        for key in KEYS * 2:
            filler.fill()
            self.outage.assert_unavailable(self.outage.launch(key))
        wait_for("the slow one to have ended", lambda: not self.runs(self.ending), 30)
        filler.fill()
        answer = self.end(self.asked)
        if answer[0] != 202:
            self.outage.assert_unavailable(answer)
            assert self.outage.visit(self.asked) == 200, "it was ended, though that was refused"
        self.outage.assert_goes_on(self.rows, [self.working])
        assert self.launcher.process.poll() is None, "the launcher has ended"
        return answer[0] == 202

    def afterwards(self, taken):
        """Checks that the rows show the outcome of each event."""
        names = self.outage.assert_all_launch_once()
        if not taken:
            assert self.end(self.asked)[0] == 202
        became = {self.crashing: "failed", self.ending: "terminated", self.asked: "terminated"}
        self.states = dict.fromkeys([self.working, *names], "running") | became
        self.outage.assert_in_line(self.states)
        assert self.outage.row(self.crashing)["reason"]["code"] == "crashed"
        assert {self.outage.row(name)["end_reason"] for name in (self.ending, self.asked)} == {"owner"}
        assert self.outage.visit(self.working) == 200

    def stopped_while_full(self):
        """A graceful stop does not wait for disk space, and leaves no process; the next start brings back the running
        workshops."""
        with Filler(self.launcher.data):
            self.launcher.stop()
            assert not self.launcher.workshop_processes(), "a planned stop has left processes"
        self.launcher.start()
        for name in (name for name, state in self.states.items() if state == "running"):
            wait_for(f"{name} to be back", lambda: self.outage.visit(name) == 200, 30)
        self.outage.assert_in_line(self.states)


def main():
    launcher = Launcher(SERVICE_LOG="warn")
    with small_disk(launcher.data), launcher:
        launcher.start()
        disk = FullDisk(launcher)
        assert disk.end(disk.ending)[0] == 202
        with Filler(launcher.data) as filler:
            taken = disk.while_full(filler)
        disk.afterwards(taken)
        disk.stopped_while_full()
        end = "taken" if taken else "refused"
        print(f"full disk: {disk.outage.refused} refused, {len(KEYS)} launched afterwards; an end was {end}")
        disk.outage.end_all()


if __name__ == "__main__":
    if os.environ.get("FULL_DISK_NAMESPACE"):
        main()
    else:
        own = ["unshare", "--mount", "--propagation", "private", sys.executable, __file__]
        sys.exit(subprocess.run(own, env=os.environ | {"FULL_DISK_NAMESPACE": "1"}).returncode)
