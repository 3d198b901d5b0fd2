"""Restores that fail: the old installation stays complete, and its launcher runs as long as possible."""

import io
import itertools
import resource
import sqlite3
import subprocess
import tarfile

import pytest

import interruption
from conftest import SERVER
from fake_engine import SKIP, FakeEngine
from installed import Trial, contents, home, rows, school, write_database  # noqa: F401


@pytest.fixture
def engine(tmp_path):
    engine = FakeEngine(tmp_path / "engine", "docker")
    engine.socket("engine.sock")
    return engine


def restore(engine, school, code=1):
    """Runs the restore with the fake engine, which fails at the start. Returns its output."""
    school.run("--engine", "docker", "--engine-socket", engine.folder / "engine.sock")
    return engine.run(school, "restore", "backup.tar.gz", "--replace", *SKIP, code=code)


def stops(engine):
    return [call for call in engine.calls_of("docker") if call.endswith(" stop")]


def test_launcher_runs_until_backup_is_staged(school, engine):
    told = restore(engine, school)
    assert "the fake engine starts nothing" in told and "The files of the backup are restored" in told
    assert len(stops(engine)) == 1 and rows(school) == ["backup"]


def test_full_disk_changes_nothing(school):
    write_database(school, "large", 200_000)
    school.run("backup", "large.tar.gz")
    write_database(school, "installed")
    before = contents(school.root, school.data)
    words = [SERVER / "setup", "restore", "large.tar.gz", "--replace", "--directory", school.root, "--no-start"]
    done = subprocess.run(
        words, cwd=school.work, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
    )
    assert done.returncode == 1 and "File too large. Nothing was restored" in done.stderr
    assert contents(school.root, school.data) == before
    school.run("restore", "large.tar.gz", "--replace")
    assert rows(school) == ["large"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("data/launcher.db", b"SQLite format 3\0" + bytes(8192)),
        ("configuration/secrets.json", b"{"),
        ("configuration/accounts.json", b"{"),
    ],
)
def test_damaged_file_in_backup_changes_nothing(school, engine, name, content):
    members = {}
    with tarfile.open(school.work / "backup.tar.gz") as tar:
        for member in tar:
            members[member.name] = tar.extractfile(member).read()
    with tarfile.open(school.work / "backup.tar.gz", "w:gz") as tar:
        for member, text in (members | {name: content}).items():
            known = tarfile.TarInfo(member)
            known.size = len(text)
            tar.addfile(known, io.BytesIO(text))
    school.run("--engine", "docker")
    before = contents(school.root, school.data)
    told = engine.run(school, "restore", "backup.tar.gz", "--replace", *SKIP)
    assert "backup.tar.gz is damaged" in told and "Nothing was restored" in told
    assert contents(school.root, school.data) == before and not stops(engine)


def test_folder_in_place_of_file_changes_nothing(school, engine):
    (school.root / "acme/old.key").mkdir(mode=0o700)
    school.run("--engine", "docker")
    before = contents(school.root, school.data)
    told = engine.run(school, "restore", "backup.tar.gz", "--replace", *SKIP)
    assert f"{school.root}/acme/old.key is a folder. Move it away" in told
    assert contents(school.root, school.data) == before and not stops(engine)


def test_failed_swap_says_that_launcher_is_stopped(school, engine, monkeypatch):
    school.run("--engine", "docker", "--engine-socket", engine.folder / "engine.sock")
    trial = Trial(school)
    monkeypatch.setenv("PATH", str(engine.bin))
    words = ["restore", school.work / "backup.tar.gz", "--replace", "--directory", school.root, *SKIP]
    for step in itertools.count(40, 3):
        trial.reset()
        code, told = interruption.run(words, trial.log, action="fail", step=step)
        assert code == 1 and "Traceback" not in told
        if "Nothing was restored" in told and stops(engine):
            break
    assert "The launcher is stopped. To start it with the present files: setup" in told
    assert contents(*trial.folders) == trial.before


def test_restore_holds_no_database_in_memory(school):
    database = sqlite3.connect(school.data / "launcher.db")
    database.execute("INSERT INTO rows VALUES ('large', zeroblob(100000000))")
    database.commit()
    database.close()
    school.run("backup", "large.tar.gz")
    words = [SERVER / "setup", "restore", "large.tar.gz", "--replace", "--directory", school.root, "--no-start"]
    done = subprocess.run(
        words, cwd=school.work, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (80 << 20, 80 << 20)),
    )
    assert done.returncode == 0, done.stderr
    assert rows(school) == ["installed", "large"]
