"""The lock of the configuration's folder, and signals, with several processes at the same time.

A command that reads a FIFO has the lock and the state, and waits for the test.
"""

import contextlib
import errno
import fcntl
import json
import os
import signal
import sqlite3
import subprocess

import pytest

from harness import wait_for
from installed import HELP, SERVER
from installer import backup, checks, lock


class Process(subprocess.Popen):
    """A running setup."""

    def __init__(self, home, *words):
        # A background process ignores SIGINT, and its children inherit this. Restore the default action.
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        default = lambda: [signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGHUP)]  # noqa: E731
        super().__init__([SERVER / "setup", *home.words(*words)], cwd=home.work, preexec_fn=default, **pipes)
        self.waiting = f"waiting for another setup command that uses {home.root}"

    def waits(self):
        """True if the next line of stderr says that the command waits for the lock."""
        return self.stderr.readline().startswith(self.waiting)

    def end(self):
        """Waits for the end. Returns (exit code, rest of stderr)."""
        told = self.communicate(timeout=300)[1]
        return self.returncode, told


@pytest.fixture
def busy(school):
    """A command that has the lock and waits: (process, FIFO of its CSV file, opened for writing)."""
    os.mkfifo(school.work / "class.csv")
    first = Process(school, "accounts", "class.csv", "--sheet", "first.html")

    def opened():
        try:
            return os.fdopen(os.open(school.work / "class.csv", os.O_WRONLY | os.O_NONBLOCK), "w")
        except OSError as error:
            assert error.errno == errno.ENXIO

    with wait_for("a reader of the FIFO", opened, 120) as file:
        yield first, file
    first.kill()
    first.wait()


def add_carla(home):
    home.write("carla.csv", "carla@example.org\n")
    process = Process(home, "accounts", "carla.csv", "--sheet", "second.html")
    assert process.waits()
    return process


def test_second_command_waits_and_no_account_is_lost(school, busy):
    first, file = busy
    killed, second, third = add_carla(school), add_carla(school), Process(school, "--help-url", HELP)
    assert third.waits()
    # The lock stays with the first one.
    killed.kill()
    killed.wait()
    file.write("bob@example.org\n")
    file.close()
    assert [each.end()[0] for each in (first, second, third)] == [0, 0, 0]
    assert set(json.loads(school.text("accounts.json"))) == {"ada@example.org", "bob@example.org", "carla@example.org"}
    assert school.variables()["HELP_URL"] == HELP


def test_killed_command_leaves_no_lock(school, busy):
    second = add_carla(school)
    busy[0].kill()
    code, told = second.end()
    assert code == 0, told
    assert "waiting" not in school.run()


@contextlib.contextmanager
def locked(folder):
    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    yield
    os.close(handle)


def test_commands_fail_after_bounded_wait_except_those_that_write_nothing(school, engine, monkeypatch):
    assert lock.PATIENCE == 300
    monkeypatch.setattr(lock, "PATIENCE", 0)
    monkeypatch.setattr(checks, "dns", lambda settings: [])
    before = school.state()
    with locked(school.root):
        for command in ("", "backup backup.tar.gz", "upgrade", "accounts -", "restore backup.tar.gz"):
            told = school.run(*command.split(), start=True, code=1)
            assert f"error: another setup command uses {school.root}" in told and "pgrep -af setup" in told
        assert school.state() == before
        engine.containers.write_text("1\n")
        assert engine.run(school, "accounts", "--list", code=0) == "ada@example.org\n"
        assert "checks: " in engine.run(school, "doctor")
        assert "stopped" in engine.run(school, "stop", code=0)


def test_lock_leaves_no_file(home):
    assert "Run setup first" in home.run("accounts", "-", code=1) and not home.root.exists()
    home.root.mkdir()
    home.root.chmod(0o755)
    before = home.state()
    home.run("accounts", "-", code=1)
    assert home.state() == before


def test_folder_that_a_failed_setup_removed_is_not_locked(home):
    with lock.held(home.root, print):
        # The next command has the folder open while the failed one removes it, and a third one creates it.
        handle, _ = lock._open(home.root)
    assert not home.root.exists() and not lock._lock(home.root, handle)
    home.root.mkdir()
    assert not lock._lock(home.root, handle)
    os.close(handle)


@pytest.fixture
def locked_database(school):
    """A database that another program locks."""
    with contextlib.closing(sqlite3.connect(school.data / "launcher.db", isolation_level=None)) as database:
        database.execute("CREATE TABLE rows (text TEXT)")
        database.execute("BEGIN EXCLUSIVE")
        yield


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_interrupted_backup_leaves_nothing(school, locked_database, number):
    process = Process(school, "backup", "backup.tar.gz")
    wait_for("a copy of the database", lambda: list(school.data.glob("workshop-launcher-*/launcher.db")), 120)
    process.send_signal(number)
    code, told = process.end()
    assert code == 1 and told.startswith("error: interrupted")
    assert not list(school.work.iterdir()) and [path.name for path in school.data.iterdir()] == ["launcher.db"]


def test_backup_of_locked_database_ends(school, locked_database, monkeypatch):
    monkeypatch.setattr(backup, "PATIENCE", 0)
    assert "another program locks" in school.run("backup", "backup.tar.gz", code=1)
    assert not list(school.work.iterdir())
