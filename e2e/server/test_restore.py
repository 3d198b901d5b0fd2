"""Restores that fail, or are killed, at each change of the file system: the old or the new installation is complete, its
launcher runs as long as possible, and the next command works."""

import contextlib
import errno
import fcntl
import io
import itertools
import os
import shutil
import signal
import sys
import tarfile
import threading

import pytest

from fake_engine import SKIP, STARTED
from installed import HELP, contents, put, rows, state, write_database

RESTORE = ("restore", "backup.tar.gz", "--replace")
# Audit events of Python before a change of the file system; each has paths as its first arguments.
CHANGES = {"os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
observers = []


def observe(event, arguments):
    if not observers or threading.current_thread() is not threading.main_thread():
        return
    # Of a file that is open already, `open` has the number instead of the path.
    if event in CHANGES or (event == "open" and not isinstance(arguments[0], int) and (arguments[2] or 0) & WRITES):
        # The observer's own changes do not count.
        observer = observers.pop()
        try:
            observer(arguments[0])
        finally:
            observers.append(observer)


# Python cannot remove the hook.
sys.addaudithook(observe)


@contextlib.contextmanager
def observed(observer):
    """Calls `observer(path)` before each change of the file system in the block."""
    observers.append(observer)
    try:
        yield
    finally:
        observers.clear()


def failure(path):
    return OSError(errno.ENOSPC, "No space left on device", str(path))


def is_clean(home):
    return not any((folder / ".restore").exists() for folder in home.folders)


def is_swapping(home):
    return (home.root / ".restore/swap.json").exists()


def crashes(home, *words):
    """Returns the state before each change by this command, as a kill would leave it."""
    found = []
    with observed(lambda path: found.append(state(*home.folders))):
        home.run(*words)
    return found


def recover(home, before):
    """Runs the next command after an interruption. Returns True if the files are those of the backup, and the output.

    Else they are as before the restore. The settings of the server stay.
    """
    told = home.run()
    assert is_clean(home)
    if rows(home) == ["installed"]:
        assert contents(*home.folders) == before and "of that restore's backup" not in told
        return False, told
    assert rows(home) == ["backup"] and not list(home.data.glob("launcher.db-*")) and "from before that restore" not in told
    assert (home.root / "acme/old.key").read_text() == "old" and not (home.root / "acme/new.key").exists()
    settings = {"HELP_URL": HELP, "ENGINE_TARGET": "/run/engine", "DATA_DIR": str(home.data)}
    assert settings.items() <= home.variables().items()
    return True, told


def test_killed_restore_leaves_old_or_new_installation(restorable):
    before, outcomes = contents(*restorable.folders), []
    for crash in crashes(restorable, *RESTORE):
        put(crash, *restorable.folders)
        outcomes.append(recover(restorable, before)[0])
    assert outcomes == sorted(outcomes) and outcomes.count(False) > 20 and outcomes.count(True) > 20
    # After an old one, the files are those from before the restore.
    restorable.run(*RESTORE)
    assert recover(restorable, before)[0]


@pytest.mark.parametrize("lasting", [False, True], ids=["one change", "all later changes"])
def test_failed_restore_leaves_old_or_new_installation(restorable, lasting):
    start, before, outcomes = state(*restorable.folders), contents(*restorable.folders), []
    for step in itertools.count():
        put(start, *restorable.folders)
        changes = []

        def fail(path):
            changes.append(path)
            if len(changes) - 1 == step or (lasting and len(changes) > step):
                raise failure(path)

        with observed(fail):
            code, told = restorable.call(*RESTORE)
        if len(changes) <= step:
            break
        if code == 1 and is_clean(restorable) and "Nothing was restored" in told:
            assert contents(*restorable.folders) == before
        new, _ = recover(restorable, before)
        assert ("Nothing was restored" in told) != new and (code == 1 or new)
        outcomes.append(new)
    assert outcomes.count(False) > 20 and outcomes.count(True) > 20


def test_restore_that_fails_in_the_middle_of_a_file_changes_nothing(restorable):
    before = contents(*restorable.folders)
    # Only the database is larger.
    assert "File too large. Nothing was restored" in restorable.run(*RESTORE, code=1, file_size=6000)
    assert contents(*restorable.folders) == before and is_clean(restorable)


def test_killed_restore_of_empty_server_can_be_repeated(restorable):
    for folder in restorable.folders:
        shutil.rmtree(folder)
    words, installed = ("restore", "backup.tar.gz", "--data-dir", restorable.data), 0
    found = crashes(restorable, *words)
    for crash in found:
        put(crash, *restorable.folders)
        code, told = restorable.call(*words)
        if code == 1:
            # The files were complete already.
            assert "To replace it by the backup: --replace" in told
            installed += 1
            told = restorable.run()
        assert rows(restorable) == ["backup"], told
    assert len(found) > 60 and installed > 5


@pytest.fixture
def half(restorable):
    """A server whose restore was killed during the swap. Returns its files before the restore."""
    start, before = state(*restorable.folders), contents(*restorable.folders)
    expected = next(crash for crash in crashes(restorable, *RESTORE) if restorable.root / ".restore/swap.json" in crash)
    put(start, *restorable.folders)
    if not (child := os.fork()):
        try:
            with observed(lambda path: is_swapping(restorable) and os.kill(os.getpid(), signal.SIGKILL)):
                restorable.call(*RESTORE)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    # The kill leaves what crashes() sees.
    assert contents(*restorable.folders) == {path: entry[2:] for path, entry in expected.items()}
    return before


@pytest.mark.parametrize("command, code", [("backup other.tar.gz", 0), ("accounts class.csv", 2), ("restore backup.tar.gz", 1)])
def test_every_writing_command_ends_half_restore(restorable, half, command, code):
    told = restorable.run(*command.split(), code=code)
    assert "warning: an earlier restore was interrupted: the installed files are those from before that restore" in told
    assert is_clean(restorable) and rows(restorable) == ["installed"]
    assert contents(restorable.root).items() <= half.items()


def test_half_restore_is_not_undone_while_launcher_runs(restorable, half):
    lock = restorable.data / "fleet/lock"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        told = restorable.run(code=1)
        assert "the launcher runs" in told and "setup stop" in told and not is_clean(restorable)
    lock.unlink()
    assert "the installed files are those from before that restore" in restorable.run()
    assert is_clean(restorable) and contents(*restorable.folders) == half


def test_old_database_gets_no_foreign_log(restorable):
    for end in ("-wal", "-shm"):
        (restorable.data / f"launcher.db{end}").unlink()
    before, undone = contents(*restorable.folders), 0
    for crash in crashes(restorable, *RESTORE):
        if restorable.root / ".restore/swap.json" in crash:
            put(crash, *restorable.folders)
            # As of a launcher that ran meanwhile.
            for end in ("-wal", "-shm", "-journal"):
                (restorable.data / f"launcher.db{end}").write_text("of another database")
            if "from before that restore" in restorable.run():
                assert contents(*restorable.folders) == before
                undone += 1
            assert is_clean(restorable)
    assert undone > 5


@pytest.fixture
def started(restorable, engine):
    """The server uses the fake engine, which has a container. Returns a function that runs the restore with it."""
    restorable.run("--engine", "docker", "--engine-socket", engine.socket)
    engine.containers.write_text("1\n")
    return lambda: engine.run(restorable, *RESTORE, *SKIP)


def test_damaged_file_in_backup_changes_nothing_and_launcher_runs_on(restorable, engine, started):
    with tarfile.open(restorable.work / "backup.tar.gz") as tar:
        members = {member.name: tar.extractfile(member).read() for member in tar}
    before, database = contents(*restorable.folders), b"SQLite format 3\0" + bytes(8192)
    for damaged in ({"data/launcher.db": database}, {"configuration/secrets.json": b"{"}, {"configuration/accounts.json": b"{"}):
        with tarfile.open(restorable.work / "backup.tar.gz", "w:gz") as tar:
            for name, text in (members | damaged).items():
                member = tarfile.TarInfo(name)
                member.size = len(text)
                tar.addfile(member, io.BytesIO(text))
        told = started()
        assert "backup.tar.gz is damaged" in told and "Nothing was restored" in told
        assert contents(*restorable.folders) == before and not engine.calls_of("docker", " down")


def test_folder_in_place_of_file_changes_nothing_and_launcher_runs_on(restorable, engine, started):
    (restorable.root / "acme/old.key").mkdir(mode=0o700)
    before = contents(*restorable.folders)
    assert f"{restorable.root}/acme/old.key is a folder. Move it away" in started()
    assert contents(*restorable.folders) == before and not engine.calls_of("docker", " down")


def test_launcher_runs_until_backup_is_staged_and_has_no_container_during_swap(restorable, engine, started):
    """After a reboot, the engine starts all containers that exist, also stopped ones."""
    staging, swapping = [], []

    def look(path):
        if (restorable.root / ".restore").exists():
            (swapping if is_swapping(restorable) else staging).append(engine.containers.read_text())

    with observed(look):
        told = started()
    assert STARTED in told and "The files of the backup are restored" in told
    assert len(engine.calls_of("docker", " down")) == 1 and rows(restorable) == ["backup"]
    assert len(swapping) > 10 and not any(swapping) and staging.count("1\n") > 10


def test_failed_swap_says_that_launcher_is_stopped(restorable, engine, started):
    before, failed = contents(*restorable.folders), []

    def fail(path):
        if is_swapping(restorable) and not failed:
            failed.append(path)
            raise failure(path)

    with observed(fail):
        told = started()
    assert "Nothing was restored" in told and "The launcher is stopped. To start it with the present files: setup" in told
    assert contents(*restorable.folders) == before and len(engine.calls_of("docker", " down")) == 1


def test_container_that_remains_changes_nothing(restorable, engine, started):
    engine.stubborn.write_text("yes")
    before = contents(*restorable.folders)
    told = started()
    assert "did not remove launcher" in told and "docker rm --force 1" in told and "The launcher is stopped" in told
    assert contents(*restorable.folders) == before
