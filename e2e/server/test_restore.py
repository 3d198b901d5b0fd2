"""Restores that fail: the old installation stays complete, and its launcher runs as long as possible."""

import io
import itertools
import resource
import shutil
import sqlite3
import subprocess
import tarfile

import pytest

import interruption
from conftest import SERVER
from fake_engine import SKIP, FakeEngine
from installed import Trial, contents, home, rows, school, write_database  # noqa: F401
from test_kernel import Server


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
    return [call for call in engine.calls_of("docker") if call.endswith(" down")]


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


def test_engine_starts_no_launcher_during_swap(school, engine, monkeypatch):
    school.run("--engine", "docker", "--engine-socket", engine.folder / "engine.sock")
    trial = Trial(school)
    monkeypatch.setenv("PATH", str(engine.bin))
    words = ["restore", school.work / "backup.tar.gz", "--replace", "--directory", school.root, *SKIP]
    for step in itertools.count(40, 2):
        trial.reset()
        # After a reboot, the engine starts all containers that exist, also stopped ones.
        engine.containers.write_text("1\n")
        _, told = interruption.run(words, trial.log, action="kill", step=step)
        if (school.root / ".restore/swap.json").exists():
            assert engine.containers.read_text() == "", step
        elif interruption.REPORT not in told or not (school.root / ".restore").exists() and stops(engine):
            break
    assert step > 60


def test_container_that_remains_changes_nothing(school, engine):
    engine.containers.write_text("1\n")
    engine.stubborn.write_text("yes")
    school.run("--engine", "docker", "--engine-socket", engine.folder / "engine.sock")
    before = contents(school.root, school.data)
    told = engine.run(school, "restore", "backup.tar.gz", "--replace", *SKIP)
    assert "did not remove launcher" in told and "docker rm --force 1" in told and "The launcher is stopped" in told
    assert contents(school.root, school.data) == before


def test_backup_does_not_choose_folder_of_data(school, tmp_path):
    server = Server(tmp_path / "server")
    chosen = school.work / "chosen"
    school.data.rename(chosen)
    school.run("--data-dir", chosen)
    school.run("backup", "crafted.tar.gz")
    shutil.rmtree(school.root)
    shutil.rmtree(chosen)
    chosen.mkdir(mode=0o755)
    words = ["restore", school.work / "crafted.tar.gz", "--directory", school.root, "--no-start"]
    done = server.enter(SERVER / "setup", *words)
    assert done.returncode == 0, done.stdout
    assert f"the data will be in /var/lib/workshop-launcher, and was in '{chosen}' before" in done.stdout
    assert list(chosen.iterdir()) == [] and chosen.stat().st_mode & 0o777 == 0o755
    assert (server.folder / "lib/workshop-launcher/launcher.db").exists()
    assert school.variables()["DATA_DIR"] == "/var/lib/workshop-launcher"


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
