"""The lock of the configuration's folder, with several processes at the same time.

A command that reads a FIFO has the lock and the state, and waits for the test.
"""

import json
import os
import subprocess
import sys
import threading

import pytest

from conftest import LOCAL, SERVER
from fake_engine import FakeEngine
from fake_network import FakeNetwork

# Setup with a short patience.
IMPATIENT = """
import sys
sys.path.insert(0, sys.argv[1])
from installer import cli, lock
lock.PATIENCE = 0
sys.exit(cli.main(sys.argv[2:]))
"""


class Process:
    """A running setup."""

    def __init__(self, home, *words):
        words = [SERVER / "setup", *words, "--directory", home.root, "--no-start"]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(words, cwd=home.work, **pipes, text=True)

    def line(self):
        """Returns the next line of stderr."""
        return self.process.stderr.readline()

    def end(self):
        """Waits for the end. Returns (exit code, rest of stderr)."""
        _, told = self.process.communicate(timeout=60)
        return self.process.returncode, told


class Fifo:
    """A FIFO in the folder of work."""

    def __init__(self, home, name):
        self.path, self.file = home.work / name, None
        os.mkfifo(self.path)

    def wait(self):
        """Waits until a process reads."""
        thread = threading.Thread(target=self._open, daemon=True)
        thread.start()
        thread.join(60)
        assert self.file, f"no process reads {self.path}"

    def _open(self):
        self.file = self.path.open("w")

    def write(self, text):
        self.file.write(text)
        self.file.close()


@pytest.fixture
def school(home):
    home.install()
    return home


@pytest.fixture
def busy(school):
    """A command that has the lock and waits: (process, FIFO of its CSV file)."""
    fifo = Fifo(school, "class.csv")
    first = Process(school, "accounts", "class.csv", "--sheet", "first.html")
    fifo.wait()
    yield first, fifo
    first.process.kill()
    first.process.communicate()


def add_carla(home):
    (home.work / "carla.csv").write_text("carla@example.org\n")
    return Process(home, "accounts", "carla.csv", "--sheet", "second.html")


def test_second_command_waits_and_no_account_is_lost(school, busy):
    first, fifo = busy
    second, third = add_carla(school), Process(school, "--help-url", "https://help.example.org")
    for waiting in (second, third):
        assert waiting.line().startswith(f"waiting for another setup command that uses {school.root}")
    fifo.write("bob@example.org\n")
    assert [process.end()[0] for process in (first, second, third)] == [0, 0, 0]
    assert set(json.loads(school.text("accounts.json"))) == {"ada@example.org", "bob@example.org", "carla@example.org"}
    assert school.variables()["HELP_URL"] == "https://help.example.org"


def test_killed_command_leaves_no_lock(school, busy):
    first, _ = busy
    second = add_carla(school)
    assert "waiting" in second.line()
    first.process.kill()
    code, told = second.end()
    assert code == 0, told
    code, told = Process(school).end()
    assert code == 0 and "waiting" not in told


def test_lock_is_kept_after_interrupted_wait(school, busy):
    second, third = add_carla(school), add_carla(school)
    assert "waiting" in second.line() and "waiting" in third.line()
    second.process.kill()
    second.end()
    first, fifo = busy
    fifo.write("bob@example.org\n")
    assert (first.end()[0], third.end()[0]) == (0, 0)


@pytest.mark.parametrize("command", ["", "backup backup.tar.gz", "upgrade", "accounts -", "restore backup.tar.gz"])
def test_command_fails_after_bounded_wait(school, busy, command):
    school.work.joinpath("backup.tar.gz").touch()
    before = school.state()
    words = [sys.executable, "-c", IMPATIENT, SERVER, *command.split(), "--directory", school.root]
    done = subprocess.run(words, cwd=school.work, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert f"error: another setup command uses {school.root}" in done.stderr and "pgrep -af setup" in done.stderr
    assert school.state() == before


def test_read_only_commands_and_stop_do_not_wait(school, busy, tmp_path):
    engine = FakeEngine(tmp_path / "engine", "docker")
    engine.containers.write_text("1\n")
    assert engine.run(school, "accounts", "--list", code=0) == "ada@example.org\n"
    told = engine.run(school, "stop", code=0)
    assert "stopped" in told and "waiting" not in told
    told = engine.run(school, "doctor", variables=FakeNetwork(engine).variables)
    assert "checks: " in told and "waiting" not in told


def test_next_setup_has_lock_if_first_setup_fails(home):
    fifos = [Fifo(home, name) for name in ("first", "second")]
    words = [*LOCAL, "--data-dir", home.data, "--client-secret-file"]
    first = Process(home, *words, "first")
    fifos[0].wait()
    second = Process(home, *words, "second")
    assert "waiting" in second.line()
    # The first setup removes the empty folder, which the second one has open.
    fifos[0].write("two\nlines\n")
    assert first.end()[0] == 2
    fifos[1].wait()
    third = Process(home, "--help-url", "https://help.example.org")
    assert "waiting" in third.line()
    fifos[1].write("secret\n")
    assert [process.end()[0] for process in (second, third)] == [0, 0]
    assert home.variables()["HELP_URL"] == "https://help.example.org"


def test_lock_leaves_no_file(home):
    told = home.run("accounts", "-", code=1)
    assert "Run setup first" in told and not home.root.exists()
    home.root.mkdir(mode=0o755)
    home.run("accounts", "-", code=1)
    assert list(home.root.iterdir()) == [] and home.root.stat().st_mode & 0o777 == 0o755


def test_file_in_place_of_folder_is_refused(home):
    home.root.write_text("mine")
    assert f"{home.root} is not a folder" in home.install(code=1)
    home.root.unlink()
    home.root.symlink_to(home.work / "missing")
    assert f"{home.root} is not a folder" in home.install(code=1)
