"""Tests the end of workshops while the folder of saved files is full, and while it is read-only.

The launcher gives up after a minute, and each workshop ends. API and page then say that the files were not saved. The
archive of an earlier workshop stays unchanged, and the end of a later workshop saves its files again.

The folder is a small tmpfs, which requires root.
"""

import json
import subprocess

import pytest

from harness import ADMIN, Launcher, exchange, wait_for
from kill9 import notes
from kill9.outage import Outage
from kill9.small_disk import Filler, small_disk
from saved_files import saved_files

pytestmark = pytest.mark.kill9
NOT_SAVED = "Your files could not be saved. The service could not store them."


class FullStore:
    """A launcher whose folder of saved files is a small disk."""

    def __init__(self, launcher, folder):
        self.launcher, self.folder, self.outage = launcher, folder, Outage(launcher)
        self.template = self.outage.new_template("unkept", notes.COMMAND)

    def running(self, note):
        name = self.outage.running(note, self.template)
        notes.write(self.outage, name, note)
        return name

    def archives(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.suffix == ".gz"}

    def refusal(self, text):
        """Waits until the log has the cause of a failed attempt."""
        wait_for(f"an attempt that fails with {text!r}", lambda: text in self.launcher.log.read_text())

    def assert_not_saved(self, name):
        ended = self.outage.until(name, "terminated")
        assert ended["snapshot"] == {"state": "failed", "failure": "store-unavailable"}, ended
        headers = {"X-Auth-Request-Email": ADMIN, "Accept-Language": "en"}
        status, _, page = exchange(self.launcher.port, "GET", f"/instances/{name}", headers)
        assert status == 200 and NOT_SAVED in page.decode(), page.decode()

    def note_in_archive(self, name):
        return json.loads(saved_files(self.launcher, name, ADMIN, "bob@example.org")[notes.NOTE[1:]])

    def remount(self, options):
        subprocess.run(["mount", "-o", f"remount,{options}", self.folder], check=True)


@pytest.fixture
def store(launcher_program):
    """A launcher whose folder of saved files is a small disk."""
    with Launcher(SERVICE_LOG="warn,launcher_service=debug") as launcher:
        folder = launcher.data / "snapshots"
        folder.mkdir()
        launcher.environment["SERVICE_SNAPSHOT_STORE"] = str(folder)
        with small_disk(folder):
            launcher.start()
            yield FullStore(launcher, folder)
            print(launcher.log_tail())


def test_workshops_end_without_saved_files_while_their_folder_is_full_or_read_only(store):
    earlier = store.running("earlier")
    store.outage.finish(earlier)
    archives = store.archives()
    first, second = store.running("full"), store.running("read-only")
    with Filler(store.folder) as filler:
        store.outage.end(first)
        store.refusal("is almost full")
        # Read-only and larger at the same moment: otherwise the next attempt could save the files. A file that is open
        # for writing prevents this.
        filler.file.close()
        store.remount("ro,size=32m")
        store.outage.end(second)
        store.refusal("Read-only file system")
        for name in (first, second):
            store.assert_not_saved(name)
        assert store.archives() == archives
        assert store.note_in_archive(earlier) == "earlier"
        store.remount("rw")
    later = store.running("later")
    store.outage.finish(later)
    assert store.note_in_archive(later) == "later"
    assert len(store.archives()) == 2 == len(list(store.folder.iterdir())), "an unfinished archive is left"
    store.outage.end_all()
