"""Mistakes of an administrator, damaged files and foreign programs: no Traceback, no change, a text that says what to do."""

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import threading
import time

import pytest

from conftest import LOCAL, SERVER
from fake_engine import SKIP, FakeEngine
from fake_network import FakeNetwork
from installer.files import MOST_BYTES


@pytest.fixture
def school(home):
    home.install()
    return home


# CSV files.


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ('email,name\nbob@example.org,"Bob\ncarla@example.org,Carla\n', "quotes"),
        ('email,name\nbob@example.org,"Bob\nBerger"\n', "line 3: the name of bob@example.org has a line break"),
        ("email,name\nbob@example.org,B\x07ob\n", "line 2: the name of bob@example.org has"),
        (f"email\n{'x' * 200_000}\n", "field limit"),
    ],
    ids=["open quote", "line break", "control character", "long line"],
)
def test_wrong_csv_file_changes_nothing(school, content, named):
    before = school.state()
    told = school.run("accounts", "-", stdin=content, code=2)
    assert named in told and "Traceback" not in told and "no account was changed" in told
    assert school.state() == before


def test_csv_file_with_carriage_returns_is_read(school):
    (school.work / "class.csv").write_bytes(b"email,name\rbob@example.org,Bob\rcarla@example.org,Carla\r")
    school.run("accounts", "class.csv", "--sheet", "sheet.html")
    assert school.run("accounts", "--list").split() == ["ada@example.org", "bob@example.org", "carla@example.org"]


def test_very_large_file_is_refused(school):
    with (school.work / "film.csv").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    assert f"more than {MOST_BYTES} bytes. Check the name of the file" in school.run("accounts", "film.csv", code=2)
    told = school.run("--tls", "files", "--certificate", "/dev/zero", "--key", "film.csv", code=2)
    assert f"/dev/zero: it has more than {MOST_BYTES} bytes" in told


def test_sheet_with_invalid_passwords_is_deleted(school, tmp_path):
    (school.work / "class.csv").write_text("bob@example.org\n")
    before = school.state()
    told = FakeEngine(tmp_path / "engine").run(school, "accounts", "class.csv", "--sheet", "sheet.html")
    assert "no container engine" in told and "sheet.html was deleted" in told
    assert school.state() == before and not (school.work / "sheet.html").exists()
    school.run("accounts", "class.csv", "--sheet", "sheet.html")
    assert (school.work / "sheet.html").exists()


# Folders.


@pytest.mark.parametrize("flag", ["--directory", "--data-dir"])
def test_folder_with_other_files_stays_as_it_is(home, flag):
    shared = home.work / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    (shared / "film.mp4").write_text("film")
    folders = {"--directory": home.root, "--data-dir": home.data, flag: shared}
    words = [SERVER / "setup", *LOCAL, "--no-start", *(str(word) for pair in folders.items() for word in pair)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and f"{flag} {shared} contains other files, such as film.mp4" in done.stderr
    assert f"{flag} {shared}/workshop-launcher" in done.stderr
    assert shared.stat().st_mode & 0o777 == 0o755 and len(list(shared.iterdir())) == 1
    assert not home.root.exists() and not home.data.exists()


@pytest.mark.parametrize("nested", ["data in configuration", "configuration in data", "same"])
def test_nested_folders_are_refused(home, nested):
    folders = {"data in configuration": home.root / "data", "configuration in data": home.root.parent, "same": home.root}
    told = home.install("--data-dir", folders[nested], code=2)
    assert "must not contain each other" in told and not home.root.exists()


def test_restore_keeps_folder_with_other_files(school):
    school.run("backup", "backup.tar.gz")
    school.root.rename(school.root.with_name("away"))
    (school.data / "film.mp4").write_text("film")
    school.data.chmod(0o755)
    told = school.run("restore", "backup.tar.gz", "--data-dir", school.data, code=2)
    assert "contains other files" in told and not school.root.exists()
    assert school.data.stat().st_mode & 0o777 == 0o755 and len(list(school.data.iterdir())) == 1


def test_new_disk_and_interrupted_first_setup_are_accepted(home):
    (home.data / "lost+found").mkdir(parents=True)
    home.root.mkdir()
    (home.root / ".settings.json.x7").touch()
    (home.root / "images.env").touch()
    home.install()


# Stored files.


@pytest.mark.parametrize("content", ["[]", "{", "[" * 100_000, '{"%s": [1]}'], ids=["list", "cut", "deep", "type"])
@pytest.mark.parametrize(("name", "key"), [("settings", "http_port"), ("secrets", "proxy_secret"), ("accounts", "bob@example.org")])
def test_damaged_file_is_named(school, name, key, content):
    (school.root / f"{name}.json").write_text(content.replace("%s", key))
    before = school.state()
    told = school.run(code=1)
    assert f"cannot read {school.root}/{name}.json: " in told and "Restore the file from a backup" in told
    assert "Traceback" not in told and school.state() == before


def test_secret_with_line_break_is_refused(school):
    secrets = json.loads(school.text("secrets.json"))
    (school.root / "secrets.json").write_text(json.dumps(secrets | {"proxy_secret": "a\n  evil: b"}))
    told = school.run(code=1)
    assert "proxy_secret has a wrong value" in told and "evil" not in told


def test_comment_of_other_encoding_is_accepted(school):
    (school.root / "images.env").write_bytes("# für uns\n".encode("latin-1"))
    assert "Traceback" not in school.run()


def test_names_are_read_in_every_locale(school):
    school.run("accounts", "-", stdin="email,name\njoerg@example.org,Jörg\n")
    before = school.state()
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = [SERVER / "setup", "--directory", school.root, "--no-start"]
    done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert school.state() == before


# Foreign programs.


@pytest.fixture
def stranger():
    """The port of a program that speaks another protocol than HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            while True:
                try:
                    connection = listener.accept()[0]
                except OSError:
                    return
                with connection:
                    connection.sendall(b"220 mail\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_doctor_survives_foreign_program(home, stranger, tmp_path):
    # The second of the local ports is the one of readiness.
    home.install("--local-port", str(stranger - 1))
    engine = FakeEngine(tmp_path / "engine", "docker")
    told = engine.run(home, "doctor", variables=FakeNetwork(engine).variables)
    assert re.search(r"^FAIL  readiness +220 mail", told, re.MULTILINE) and "checks: " in told and "Traceback" not in told


def test_foreign_program_is_no_provider(home, stranger, tmp_path):
    (home.work / "secret").write_text("secret")
    engine = FakeEngine(tmp_path / "engine", "docker")
    words = ["--login", "oidc", "--issuer", f"http://127.0.0.1:{stranger}", "--client-id", "id", "--client-secret-file", "secret"]
    skip = [word for word in SKIP if word not in ("--skip", "provider")]
    told = engine.run(
        home, *LOCAL, *words, "--email-domain", "*", "--data-dir", home.data, *[word for name in skip for word in ("--skip", name)]
    )
    assert "the login provider does not answer" in told and "Traceback" not in told


# Signals.


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_interrupted_backup_leaves_nothing(school, number):
    database = sqlite3.connect(school.data / "launcher.db", isolation_level=None)
    database.execute("CREATE TABLE rows (text TEXT)")
    database.execute("BEGIN EXCLUSIVE")
    words = [SERVER / "setup", "backup", "backup.tar.gz", "--directory", school.root]
    process = subprocess.Popen(
        words,
        cwd=school.work,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # A background process ignores the signal, and its children inherit this. Restore the default action.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    end = time.monotonic() + 60
    while not list(school.data.glob("workshop-launcher-*/launcher.db")):
        assert process.poll() is None and time.monotonic() < end
    process.send_signal(number)
    _, told = process.communicate(timeout=20)
    database.close()
    assert process.returncode == 1 and told.startswith("error: interrupted")
    assert not list(school.work.iterdir())
    assert [path.name for path in school.data.iterdir()] == ["launcher.db"]


def test_backup_of_locked_database_ends(school):
    database = sqlite3.connect(school.data / "launcher.db", isolation_level=None)
    database.execute("CREATE TABLE rows (text TEXT)")
    database.execute("BEGIN EXCLUSIVE")
    script = "import sys; sys.path.insert(0, sys.argv[1]); from installer import backup, cli; backup.PATIENCE = 0; sys.exit(cli.main(sys.argv[2:]))"
    words = ["python3", "-B", "-c", script, SERVER, "backup", "backup.tar.gz", "--directory", school.root]
    done = subprocess.run(words, cwd=school.work, capture_output=True, text=True, timeout=60)
    database.close()
    assert done.returncode == 1 and "another program locks" in done.stderr
    assert not list(school.work.iterdir())
