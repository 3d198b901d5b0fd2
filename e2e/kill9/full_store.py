#!/usr/bin/env python3
"""Tests the end of workshops while the folder of saved files is full, and while it is read-only.

Each end waits for at most a minute. API and page then say that the files were not saved. The archive of an earlier
workshop stays unchanged, and the end of a later workshop saves its files again.

The folder is a small tmpfs in a separate mount namespace, which requires root.
"""

import io
import json
import pathlib
import subprocess
import sys
import tarfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import notes
from full_disk import Filler, in_own_namespace, small_disk
from harness import ADMIN, Launcher, exchange, wait_for
from outage import Outage

# Maximum delay of an end, and time for the end itself.
DELAY_SECONDS = 60 + 15
NOT_SAVED = "Your files could not be saved. The service could not store them."


class FullStore:
    """A launcher whose folder of saved files is a small disk."""

    def __init__(self, launcher, folder):
        self.launcher, self.folder, self.outage = launcher, folder, Outage(launcher, [])
        self.template = self.outage.create_template("unkept", notes.COMMAND)

    def running(self, note):
        name = self.outage.running(note, self.template)
        notes.write(self.outage, name, note)
        return name

    def archives(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.suffix == ".gz"}

    def ask_to_end(self, name):
        status, _, body = self.launcher.request("DELETE", f"/instances/{name}")
        assert status == 202, (status, body)
        return time.monotonic()

    def refusal(self, text):
        """Waits until the log has the cause of a failed attempt."""
        wait_for(f"an attempt that fails with {text!r}", lambda: text in self.launcher.log.read_text(), 15)

    def assert_not_saved(self, name, began):
        ended = self.outage.until(name, "terminated", DELAY_SECONDS)
        assert time.monotonic() - began < DELAY_SECONDS
        assert ended["snapshot"] == {"state": "failed", "failure": "store-unavailable"}, ended
        headers = {"X-Auth-Request-Email": ADMIN, "Accept-Language": "en"}
        status, _, page = exchange(self.launcher.port, "GET", f"/instances/{name}", headers)
        assert status == 200 and NOT_SAVED in page.decode(), page.decode()

    def note_in_archive(self, name):
        status, _, listed = self.launcher.request("GET", "/snapshots/")
        assert status == 200, listed
        [found] = [one["snapshot_id"] for one in listed if one["workshop"] == name]
        status, _, archive = self.launcher.request("GET", f"/snapshots/{found}/download")
        assert status == 200, archive
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            return json.load(tar.extractfile(notes.NOTE[1:]))

    def remount(self, options):
        subprocess.run(["mount", "-o", f"remount,{options}", self.folder], check=True)

    def check(self):
        earlier = self.running("earlier")
        self.outage.end(earlier)
        archives = self.archives()
        first, second = self.running("full"), self.running("read-only")
        with Filler(self.folder) as filler:
            ends = {first: self.ask_to_end(first)}
            self.refusal("is almost full")
            # Read-only and larger at the same moment: otherwise the next attempt could save the files. A file that is open
            # for writing prevents this.
            filler.file.close()
            self.remount("ro,size=32m")
            ends[second] = self.ask_to_end(second)
            self.refusal("Read-only file system")
            for name, began in ends.items():
                self.assert_not_saved(name, began)
            assert self.archives() == archives
            assert self.note_in_archive(earlier) == "earlier"
            self.remount("rw")
        later = self.running("later")
        self.outage.end(later)
        assert self.note_in_archive(later) == "later"
        assert len(self.archives()) == 2 == len(list(self.folder.iterdir())), "an unfinished archive is left"


def main():
    with Launcher(SERVICE_LOG="warn,launcher_service=debug") as launcher:
        folder = launcher.data / "snapshots"
        folder.mkdir()
        launcher.environment["SERVICE_SNAPSHOT_STORE"] = str(folder)
        with small_disk(folder):
            launcher.start()
            test = FullStore(launcher, folder)
            test.check()
            print("full store: two ends saved nothing and said so; the archives before and after are complete")
            test.outage.end_all()


if __name__ == "__main__":
    in_own_namespace(main)
