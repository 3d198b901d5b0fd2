#!/usr/bin/env python3
"""The disk with the data directory runs full: who launches is asked to come back, and everything else goes on.

Meanwhile the app of one workshop crashes, one that was asked to end a moment before ends, and one more is asked to end.
Once there is room again, rows say what became of them, and the same Idempotency-Keys launch, once each. At last the
launcher is told to stop while the disk is full: it does, and the next one brings back what ran.

The disk is a small tmpfs in a mount namespace of this test's own, which takes root. The launcher's log is on it, too.
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
# Told to end it takes as long as it is given: the disk is full before it has ended.
SLOW_TO_END = (
    "import http.server, signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()"
)


@contextlib.contextmanager
def small_disk(path):
    """While there is a small disk at this path. Whoever mounts it has to be in a namespace of their own."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "launcher-e2e", path], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)
        path.rmdir()


class Filler:
    """A file that takes all the room there is. `with Filler(directory) as filler`."""

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
        """Takes what room there is, also what somebody has given back since."""
        try:
            while self.file.write(BLOCK):
                pass
        except OSError as error:
            assert error.errno == errno.ENOSPC, error


class FullDisk:
    """Four workshops, and what happens to each while the disk is full."""

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
        """Ends its app from outside, and waits until nobody is led to it any more."""
        for process in self.launcher.workshop_processes():
            if process["name"] == self.crashing:
                os.kill(process["pid"], signal.SIGKILL)
        wait_for("nobody to be led to its port", lambda: self.outage.visit(self.crashing) != 200, 10)

    def while_full(self, filler):
        """What was asked of the launcher is refused, and what happens to workshops happens. Returns whether the end was
        taken down: it is less to write than a launch, and may find room in what the database has of the disk."""
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
        """Rows say what has become of each."""
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
        """A planned stop does not wait for room, and leaves no process; the next start brings back what ran."""
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
