"""Backup and restore, with a real SQLite database; damaged and hostile archives."""

import contextlib
import fcntl
import gzip
import io
import os
import sqlite3
import stat
import tarfile

import pytest

from installed import HELP, contents, rows
from installer import backup
from installer import settings as answers
from installer.archive import MOST_BYTES, MOST_FILES

RESTORE = ("restore", "backup.tar.gz")
# More bytes than a process of the tests may have in memory.
LARGE, MEMORY = 64 << 20, 60 << 20


@pytest.fixture
def database(school):
    """The open database of an installation with own settings and a fleet. Its last rows are only in its write-ahead log."""
    school.run("accounts", "-", stdin="bob@example.org\n")
    (school.root / "launcher.env").write_text("SERVICE_MAX_INSTANCES_PER_USER=1\n")
    (school.root / "acme/acme.json").touch(mode=0o600)
    school.run()
    (school.data / "fleet").mkdir()
    (school.data / "fleet/id").write_text("0199")
    with contextlib.closing(sqlite3.connect(school.data / "launcher.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE rows (text TEXT)")
        connection.execute("INSERT INTO rows VALUES ('kept')")
        assert "contains all secrets" in school.run("backup", "backup.tar.gz")
        connection.execute("INSERT INTO rows VALUES ('later')")
        yield connection


def test_backup_restores_empty_server(school, database):
    school.run("--tls", "private-ca")
    (school.work / "backup.tar.gz").unlink()
    school.run("backup", "backup.tar.gz")
    database.execute("INSERT INTO rows VALUES ('last')")
    before = contents(school.root)
    assert (school.data / "launcher.db-wal").stat().st_size > 0
    assert stat.S_IMODE((school.work / "backup.tar.gz").stat().st_mode) == 0o600
    school.move_away(school.data)
    # Also into another data directory.
    for folder in (school.data, school.data.with_name("other")):
        school.data = folder
        school.move_away(school.root)
        assert "--data-dir data is not an absolute path" in school.run(*RESTORE, "--data-dir", "data", code=2)
        assert not school.root.exists()
        school.run(*RESTORE, "--data-dir", folder)
        if folder.name == "data":
            assert contents(school.root) == before
        assert rows(school) == ["kept", "later"] and (folder / "fleet/id").read_text() == "0199"
        assert school.variables()["DATA_DIR"] == str(folder) and "all files" in school.run()
        school.root.with_name("workshop-launcher.away").rename(folder.with_name(f"before-{folder.name}"))


def test_restore_keeps_existing_installation_unless_asked(school, database):
    database.close()
    school.run("--help-url", HELP)
    before = school.state()
    assert "--replace" in school.run(*RESTORE, code=1)
    assert school.state() == before and rows(school) == ["kept", "later"]
    # The server's data directory stays.
    old, school.data = school.data, school.data.with_name("other")
    old.rename(school.data)
    school.run("--data-dir", school.data)
    assert f"mv -T {school.data} {old}" in school.run(*RESTORE, "--replace", "--data-dir", old, code=2)
    school.run(*RESTORE, "--replace")
    assert rows(school) == ["kept"] and not list(school.data.glob("launcher.db-*")) and not old.exists()
    assert school.variables()["HELP_URL"] == "" and school.variables()["DATA_DIR"] == str(school.data)


def test_restore_refuses_workshops_of_another_installation_and_other_files(school, database):
    (school.data / "fleet/id").write_text("another")
    (school.data / "fleet/workshops/jupyterlab-abc").mkdir(parents=True)
    before = school.state()
    assert "another installation" in school.run(*RESTORE, "--replace", code=1)
    assert school.state() == before
    school.move_away()
    school.data.mkdir(mode=0o755)
    (school.data / "film.mp4").write_text("film")
    before = school.state()
    assert "contains other files" in school.run(*RESTORE, "--data-dir", school.data, code=2)
    assert school.state() == before


def test_backup_does_not_choose_folder_of_data(school, database, monkeypatch):
    """As a backup of another server, which names a folder of this one."""
    default, load = school.data.with_name("default"), answers.load
    monkeypatch.setattr(answers, "load", lambda path: load(path) if path.exists() else answers.Settings(data_dir=str(default)))
    school.move_away()
    assert f"the data will be in {default}, and was in '{school.data}' before" in school.run(*RESTORE)
    assert (default / "launcher.db").exists() and not school.data.exists()
    assert school.variables()["DATA_DIR"] == str(default)


@pytest.mark.parametrize("configured", [True, False], ids=["installation", "only data"])
def test_restore_is_refused_while_launcher_runs(school, database, configured):
    if not configured:
        school.move_away(school.root)
    with (school.data / "fleet/lock").open("w") as lock:
        # As the launcher does.
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = contents(school.root)
        told = school.run(*RESTORE, "--replace", "--data-dir", school.data, code=1)
        assert "the launcher runs" in told and "setup stop" in told
        assert contents(school.root) == before and rows(school) == ["kept", "later"]
    database.close()
    school.run(*RESTORE, "--replace", "--data-dir", school.data)
    assert rows(school) == ["kept"]


def test_restore_holds_no_database_in_memory(restorable):
    with contextlib.closing(sqlite3.connect(restorable.data / "launcher.db")) as database:
        database.execute("INSERT INTO rows VALUES ('large', zeroblob(?))", (LARGE,))
        database.commit()
    restorable.run("backup", "large.tar.gz")
    code, told = restorable.process("restore", "large.tar.gz", "--replace", memory=MEMORY)
    assert code == 0 and rows(restorable) == ["installed", "large"], told


def test_backup_without_database_warns_and_never_replaces_file(school):
    assert "no history" in school.run("backup", "backup.tar.gz")
    school.write("backup.tar.gz", "mine")
    assert "exists already" in school.run("backup", "backup.tar.gz", code=1)
    assert (school.work / "backup.tar.gz").read_text() == "mine"
    assert "does not exist" in school.run("backup", "missing/backup.tar.gz", code=1)


def test_files_that_restore_would_refuse_are_not_saved(school):
    (school.data / "launcher.db").write_bytes(b"SQLite format 3\0" + os.urandom(8192))
    assert "launcher.db" in school.run("backup", "backup.tar.gz", code=1)
    with (school.root / "acme/large").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    assert f"acme/large has more than {MOST_BYTES} bytes" in school.run("backup", "backup.tar.gz", code=1)
    for number in range(MOST_FILES):
        (school.root / f"acme/{number}").touch()
    assert "which no restore accepts. Remove old files" in school.run("backup", "backup.tar.gz", code=1)
    assert not list(school.work.iterdir())


@pytest.mark.parametrize("planted", ["link", "pipe", "nothing"])
def test_file_that_traefik_replaces_during_backup_is_not_followed(school, monkeypatch, planted):
    certificate, secret, is_state = school.root / "acme/acme.json", school.work.with_name("secret"), backup.is_state
    secret.write_text("a secret of the server")
    certificate.write_text("{}")

    def replaced(name):
        """The list of files has the certificate. Only then, another file takes its place."""
        if name == "acme/acme.json":
            certificate.unlink()
            if planted == "link":
                certificate.symlink_to(secret)
            elif planted == "pipe":
                os.mkfifo(certificate)
        return is_state(name)

    monkeypatch.setattr(backup, "is_state", replaced)
    assert f"{certificate}" in school.run("backup", "backup.tar.gz", code=1)
    assert not list(school.work.iterdir())


def member(name, kind=tarfile.REGTYPE, target=""):
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, target
    return found


def archive(path, *members):
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        for one, content in members:
            one.size = len(content)
            tar.addfile(one, io.BytesIO(content))


MANIFEST = (member("manifest.json"), b'{"format": 1}')
ACCOUNTS = member("configuration/accounts.json")
FOREIGN = "../evil /etc/passwd configuration/../../evil configuration/acme/../../../evil configuration/acme/.. configuration/compose.yaml"


def test_archive_with_foreign_members_is_refused(home):
    cases = [(f"{name!r}, which no backup contains", (member(name), b"")) for name in f"{FOREIGN} data/fleet/workshops/x".split()]
    cases += [
        ("settings.json", (member("configuration/settings.json", tarfile.SYMTYPE, "/etc/passwd"), b"")),
        ("contains 'configuration/accounts.json' twice", (ACCOUNTS, b"{}"), (ACCOUNTS, b"{}")),
        (f"of {MOST_BYTES + 1} bytes, of at most {MOST_BYTES}", (ACCOUNTS, bytes(MOST_BYTES + 1))),
        (f"more than {MOST_FILES} files", *((member(f"configuration/acme/{number}"), b"") for number in range(MOST_FILES))),
    ]
    for named, *members in cases:
        archive(home.work / "backup.tar.gz", MANIFEST, *members)
        told = home.run(*RESTORE, code=1)
        assert named in told and "Nothing was restored" in told
        assert not home.root.exists() and not (home.work.parent / "evil").exists()


def header(name, kind, size):
    """A member whose header promises `size` bytes."""
    found = member(name, kind)
    found.size = size
    return found.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(
    ("content", "zeros"),
    [
        (header("x", tarfile.XHDTYPE, LARGE), LARGE),
        (header("x", tarfile.GNUTYPE_LONGNAME, LARGE), LARGE),
        (b"", LARGE),
        (header("x", tarfile.XHDTYPE, 0) * 2000, 0),
        (header("configuration/acme.env", tarfile.REGTYPE, -1024), 0),
        (header("configuration/acme.env", tarfile.FIFOTYPE, 0), 0),
        (header("configuration/acme.env", tarfile.CHRTYPE, 0), 0),
        (header("manifest.json", tarfile.REGTYPE, 2) + b"[]".ljust(512, b"\0"), 0),
        (header("manifest.json", tarfile.REGTYPE, 100_352) + b"[" * 100_352, 0),
    ],
    ids=["large header", "long name", "long end", "many headers", "negative size", "pipe", "device", "list", "deep"],
)
def test_hostile_archive_is_refused_in_little_memory(home, content, zeros):
    with gzip.open(home.work / "backup.tar.gz", "wb", 1) as file:
        file.write(content + bytes(zeros + 1024))
    words = (*RESTORE, "--data-dir", home.data)
    code, told = home.process(*words, memory=MEMORY) if zeros else home.call(*words)
    assert code == 1 and "Traceback" not in told and "backup.tar.gz" in told, told
    assert not home.root.exists() and not home.data.exists()


def test_damaged_archive_is_refused(home):
    settings = (member("configuration/settings.json"), b"{}")
    archive(home.work / "backup.tar.gz", MANIFEST, settings, (member("data/launcher.db"), os.urandom(4096)))
    content = (home.work / "backup.tar.gz").read_bytes()
    # The checksum is the first half of the last 8 bytes.
    checksum = content[:-8] + bytes([content[-8] ^ 1]) + content[-7:]
    for damaged in (content[: len(content) // 2], checksum, b"no archive", b""):
        (home.work / "backup.tar.gz").write_bytes(damaged)
        assert "is not a backup of setup, or is damaged" in home.run(*RESTORE, code=1)
    archive(home.work / "backup.tar.gz", (member("manifest.json"), b'{"format": 2}'))
    assert "format 2" in home.run(*RESTORE, code=1)
    assert not home.root.exists()
