"""Backup and restore, with a real SQLite database."""

import fcntl
import gzip
import io
import os
import resource
import sqlite3
import stat
import subprocess
import tarfile

import pytest

from conftest import SERVER
from installer.archive import MOST_BYTES, MOST_FILES


@pytest.fixture
def school(home):
    """An installation with an account, own settings, a database in use, and a fleet."""
    home.install()
    home.run("accounts", "-", "--sheet", "sheet.html", stdin="bob@example.org\n")
    (home.root / "launcher.env").write_text("SERVICE_MAX_INSTANCES_PER_USER=1\n")
    (home.root / "acme/acme.json").touch(mode=0o600)
    home.run()
    (home.data / "fleet").mkdir()
    (home.data / "fleet/id").write_text("0199")
    return home


@pytest.fixture
def database(school):
    """The open database. Its last rows are only in its write-ahead log."""
    connection = sqlite3.connect(school.data / "launcher.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE rows (text TEXT)")
    connection.execute("INSERT INTO rows VALUES ('kept')")
    yield connection
    connection.close()


def rows(home):
    connection = sqlite3.connect(home.data / "launcher.db")
    try:
        return [text for (text,) in connection.execute("SELECT text FROM rows")]
    finally:
        connection.close()


def move_away(home):
    """Makes the server empty, as a new one is."""
    for folder in (home.root, home.data):
        folder.rename(folder.with_name(f"{folder.name}.away"))


def test_backup_restores_empty_server(school, database):
    before = {name: one[2:] for name, one in school.state().items()}
    assert (school.data / "launcher.db-wal").stat().st_size > 0
    assert "contains all secrets" in school.run("backup", "backup.tar.gz")
    assert stat.S_IMODE((school.work / "backup.tar.gz").stat().st_mode) == 0o600
    database.execute("INSERT INTO rows VALUES ('later')")
    move_away(school)
    school.run("restore", "backup.tar.gz", "--data-dir", school.data)
    assert {name: one[2:] for name, one in school.state().items()} == before
    assert rows(school) == ["kept"]
    assert (school.data / "fleet/id").read_text() == "0199"
    assert "all files" in school.run()


def test_restore_keeps_existing_installation_unless_asked(school, database):
    school.run("backup", "backup.tar.gz")
    database.execute("INSERT INTO rows VALUES ('later')")
    database.close()
    school.run("--help-url", "https://help.example.org")
    before = school.state()
    assert "--replace" in school.run("restore", "backup.tar.gz", code=1)
    assert school.state() == before and rows(school) == ["kept", "later"]
    school.run("restore", "backup.tar.gz", "--replace")
    assert rows(school) == ["kept"]
    assert school.variables()["HELP_URL"] == ""
    assert not list(school.data.glob("launcher.db-*"))


def test_restore_refuses_workshops_of_another_installation(school, database):
    school.run("backup", "backup.tar.gz")
    (school.data / "fleet/id").write_text("another")
    (school.data / "fleet/workshops/jupyterlab-abc").mkdir(parents=True)
    before = school.state()
    assert "another installation" in school.run("restore", "backup.tar.gz", "--replace", code=1)
    assert school.state() == before


def test_backup_never_replaces_file(school, database):
    (school.work / "backup.tar.gz").write_text("mine")
    assert "exists already" in school.run("backup", "backup.tar.gz", code=1)
    assert (school.work / "backup.tar.gz").read_text() == "mine"
    assert "does not exist" in school.run("backup", "missing/backup.tar.gz", code=1)


def test_backup_without_database_warns(school):
    assert "no history" in school.run("backup", "backup.tar.gz")


def test_damaged_database_is_not_saved(school):
    (school.data / "launcher.db").write_bytes(b"SQLite format 3\0" + os.urandom(8192))
    assert "launcher.db" in school.run("backup", "backup.tar.gz", code=1)
    assert [path.name for path in school.work.iterdir()] == ["sheet.html"]


def archive(path, members):
    with tarfile.open(path, "w:gz") as tar:
        for member, content in members:
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


def link(name, target):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = tarfile.SYMTYPE, target
    return member


MANIFEST = (tarfile.TarInfo("manifest.json"), b'{"format": 1}')


@pytest.mark.parametrize(
    ("member", "named"),
    [
        (tarfile.TarInfo("../evil"), "'../evil'"),
        (tarfile.TarInfo("/etc/passwd"), "'/etc/passwd'"),
        (tarfile.TarInfo("configuration/../../evil"), "evil"),
        (tarfile.TarInfo("configuration/acme/../../../evil"), "evil"),
        (tarfile.TarInfo("configuration/acme/.."), "'configuration/acme/..'"),
        (tarfile.TarInfo("configuration/compose.yaml"), "compose.yaml"),
        (tarfile.TarInfo("data/fleet/workshops/x"), "workshops/x"),
        (link("configuration/settings.json", "/etc/passwd"), "settings.json"),
    ],
    ids=["parent", "absolute", "dots", "dots below", "folder", "generated file", "other data", "link"],
)
def test_archive_with_foreign_members_is_refused(home, member, named):
    archive(home.work / "evil.tar.gz", [MANIFEST, (member, b"")])
    told = home.run("restore", "evil.tar.gz", code=1)
    assert named in told and "Nothing was restored" in told
    assert not home.root.exists() and not (home.work.parent / "evil").exists()


def test_archive_with_repeated_or_large_member_is_refused(home):
    accounts = tarfile.TarInfo("configuration/accounts.json")
    archive(home.work / "twice.tar.gz", [MANIFEST, (accounts, b"{}"), (accounts, b"{}")])
    assert "contains 'configuration/accounts.json' twice. Nothing was restored" in home.run("restore", "twice.tar.gz", code=1)
    archive(home.work / "large.tar.gz", [MANIFEST, (accounts, bytes(MOST_BYTES + 1))])
    told = home.run("restore", "large.tar.gz", code=1)
    assert f"of {MOST_BYTES + 1} bytes, of at most {MOST_BYTES}. Nothing was restored" in told
    many = [(tarfile.TarInfo(f"configuration/acme/{number}"), b"") for number in range(MOST_FILES)]
    archive(home.work / "many.tar.gz", [MANIFEST, *many])
    assert f"more than {MOST_FILES} files" in home.run("restore", "many.tar.gz", code=1)
    assert not home.root.exists()


def header(name, kind, size):
    """A member whose header promises `size` bytes."""
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, size
    return member.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(
    "content",
    [
        header("x", tarfile.XHDTYPE, 200 << 20) + bytes(200 << 20),
        header("x", tarfile.GNUTYPE_LONGNAME, 200 << 20) + bytes(200 << 20),
        header("x", tarfile.XHDTYPE, 0) * 2000,
        header("configuration/acme.env", tarfile.REGTYPE, -1024),
        header("configuration/acme.env", tarfile.FIFOTYPE, 0),
        header("configuration/acme.env", tarfile.CHRTYPE, 0),
        header("manifest.json", tarfile.REGTYPE, 2) + b"[]".ljust(512, b"\0"),
        header("manifest.json", tarfile.REGTYPE, 100_352) + b"[" * 100_352,
        bytes(1024) + bytes(200 << 20),
    ],
    ids=["large header", "long name", "many headers", "negative size", "pipe", "device", "list", "deep", "long end"],
)
def test_hostile_archive_is_refused_in_little_memory(home, content):
    with gzip.open(home.work / "evil.tar.gz", "wb", 1) as file:
        file.write(content + bytes(1024))
    words = [SERVER / "setup", "restore", "evil.tar.gz", "--directory", home.root, "--data-dir", home.data, "--no-start"]
    done = subprocess.run(
        words, cwd=home.work, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (80 << 20, 80 << 20)),
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr and "evil.tar.gz" in done.stderr, done.stderr
    assert not home.root.exists() and not home.data.exists()


def test_more_files_than_restore_accepts_are_not_saved(school):
    for number in range(MOST_FILES):
        (school.root / f"acme/{number}").touch()
    told = school.run("backup", "backup.tar.gz", code=1)
    assert "which no restore accepts. Remove old files" in told and not list(school.work.glob("*.tar.gz*"))


def test_file_that_restore_would_refuse_is_not_saved(school):
    with (school.root / "acme/large").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    assert f"acme/large has more than {MOST_BYTES} bytes" in school.run("backup", "backup.tar.gz", code=1)
    assert not list(school.work.glob("*.tar.gz*"))


def test_damaged_archive_is_refused(school, database):
    school.run("backup", "backup.tar.gz")
    content = (school.work / "backup.tar.gz").read_bytes()
    move_away(school)
    # The checksum is the first half of the last 8 bytes.
    checksum = content[:-8] + bytes([content[-8] ^ 1]) + content[-7:]
    for name, damaged in (("short", content[: len(content) // 2]), ("sum", checksum), ("text", b"no archive"), ("empty", b"")):
        (school.work / name).write_bytes(damaged)
        told = school.run("restore", name, code=1)
        assert "damaged" in told and "Traceback" not in told
    archive(school.work / "later.tar.gz", [(tarfile.TarInfo("manifest.json"), b'{"format": 2}')])
    assert "format 2" in school.run("restore", "later.tar.gz", code=1)
    assert not school.root.exists()


def test_restore_into_another_data_directory(school, database):
    school.run("backup", "backup.tar.gz")
    move_away(school)
    other = school.data.with_name("other")
    school.run("restore", "backup.tar.gz", "--data-dir", other)
    assert not school.data.exists()
    school.data = other
    assert rows(school) == ["kept"]
    assert (other / "fleet/id").read_text() == "0199"
    assert school.variables()["DATA_DIR"] == str(other)
    assert "all files" in school.run()


def test_restore_keeps_data_directory_of_server(school, database):
    school.run("backup", "backup.tar.gz")
    database.close()
    other = school.data.with_name("other")
    school.data.rename(other)
    school.run("--data-dir", other)
    told = school.run("restore", "backup.tar.gz", "--replace", "--data-dir", school.data, code=2)
    assert f"mv -T {other} {school.data}" in told
    school.run("restore", "backup.tar.gz", "--replace")
    assert school.variables()["DATA_DIR"] == str(other)
    assert not school.data.exists()


def test_restore_refuses_relative_data_directory(school, database):
    school.run("backup", "backup.tar.gz")
    move_away(school)
    assert "--data-dir data is not an absolute path" in school.run("restore", "backup.tar.gz", "--data-dir", "data", code=2)
    assert not school.root.exists()


@pytest.mark.parametrize("configured", [True, False], ids=["installation", "only data"])
def test_restore_is_refused_while_launcher_runs(school, database, configured):
    school.run("backup", "backup.tar.gz")
    database.execute("INSERT INTO rows VALUES ('later')")
    if not configured:
        school.root.rename(school.root.with_name("away"))
    with (school.data / "fleet/lock").open("w") as lock:
        # As the launcher does.
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = school.state()
        told = school.run("restore", "backup.tar.gz", "--replace", "--data-dir", school.data, code=1)
        assert "the launcher runs" in told and "setup stop" in told
        assert school.state() == before and rows(school) == ["kept", "later"]
    database.close()
    school.run("restore", "backup.tar.gz", "--replace", "--data-dir", school.data)
    assert rows(school) == ["kept"]
