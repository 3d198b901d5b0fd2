"""An installation, a backup of its earlier state, and restores that are repeated from the same state."""

import os
import pathlib
import shutil
import sqlite3
import stat
import subprocess
import tempfile

import pytest

import interruption
from conftest import LOCAL, Home

# Without local accounts and a private authority, setup starts no program.
FLAGS = [
    *LOCAL[:6], "--login", "google", "--client-id", "id", "--client-secret-file", "secret", "--email-domain", "example.org",
    "--tls", "acme", "--acme-provider", "cloudflare", "--acme-env", "dns.env",
]
HELP = "https://help.example.org"
CP = shutil.which("cp")


def write_database(home, text, size=0):
    """Writes a database with a row, whose latest content is in the write-ahead log."""
    database = sqlite3.connect(home.data / "new.db", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE rows (text TEXT, filler BLOB)")
    database.execute("INSERT INTO rows VALUES (?, randomblob(?))", (text, size))
    for end in ("", "-wal", "-shm"):
        shutil.copyfile(home.data / f"new.db{end}", home.data / f"launcher.db{end}")
    database.close()
    (home.data / "new.db").unlink()


def rows(home):
    """Returns the rows of a copy of the database."""
    copy = home.work / "copy"
    copy.mkdir()
    for path in home.data.glob("launcher.db*"):
        shutil.copyfile(path, copy / path.name)
    database = sqlite3.connect(copy / "launcher.db")
    found = [text for (text,) in database.execute("SELECT text FROM rows")]
    database.close()
    shutil.rmtree(copy)
    return found


def contents(*folders):
    """Returns mode and content of all files and folders: {path: (mode, content)}."""
    found = {}
    for folder in folders:
        for path in (folder, *folder.rglob("*")) if folder.exists() else ():
            found[str(path)] = (stat.S_IMODE(path.stat().st_mode), path.read_bytes() if path.is_file() else None)
    return found


@pytest.fixture
def home(tmp_path):
    """An installation in memory if possible: the tests sync thousands of files."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tmp_path
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Home(pathlib.Path(folder), pathlib.Path(folder, "data"))


@pytest.fixture
def school(home, monkeypatch):
    """An installation, and a backup of its earlier state, which has other settings, files and rows."""
    monkeypatch.chdir(home.work)
    (home.work / "secret").write_text("secret")
    (home.work / "dns.env").write_text("TOKEN=1\n")
    home.run(*FLAGS, "--data-dir", home.data, "--help-url", HELP)
    (home.root / "acme/old.key").write_text("old")
    (home.root / "acme/old.key").chmod(0o600)
    (home.data / "fleet").mkdir(mode=0o700)
    (home.data / "fleet/id").write_text("0199")
    write_database(home, "backup")
    home.run("backup", "backup.tar.gz")
    home.run("--help-url", "", "--engine", "podman")
    (home.root / "acme/old.key").unlink()
    (home.root / "acme/new.key").write_text("new")
    write_database(home, "installed")
    for path in home.root.parent.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return home


def copy(folders, target):
    """Copies folders with their owners."""
    if present := [folder for folder in folders if folder.exists()]:
        subprocess.run([CP, "--archive", *present, target], check=True)


class Trial:
    """Repeats an interrupted restore from the same state, with another step each time."""

    def __init__(self, home):
        self.home, self.log = home, home.work / "log"
        self.start = home.work / "start"
        self.folders = (home.root, home.data)
        self.before = contents(*self.folders)
        self.start.mkdir()
        copy(self.folders, self.start)

    def reset(self):
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)
        copy(self.start.iterdir(), self.home.root.parent)

    def run(self, *words, **interrupted):
        return interruption.run([*words, "--directory", self.home.root, "--no-start"], self.log, **interrupted)

    def restore(self, **interrupted):
        return self.run("restore", self.home.work / "backup.tar.gz", "--replace", "--data-dir", self.home.data, **interrupted)

    def is_clean(self):
        return not any((folder / ".restore").exists() for folder in self.folders)


def check_new(home):
    """The files are those of the backup, except for the settings of the server."""
    assert rows(home) == ["backup"]
    assert (home.root / "acme/old.key").read_text() == "old" and not (home.root / "acme/new.key").exists()
    assert home.variables()["HELP_URL"] == HELP and home.variables()["ENGINE_TARGET"] == "/run/engine"
    assert home.variables()["DATA_DIR"] == str(home.data)
    assert not list(home.data.glob("launcher.db-*"))
