"""Fixtures of the tests of deploy/server. They write to temporary folders, and start no program."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVER = ROOT / "deploy/server"
sys.path[:0] = [str(SERVER), str(ROOT / "e2e")]
sys.dont_write_bytecode = True

LOCAL = ("--domain", "launcher.example.org", "--workshops-domain", "workshops.example.net", "--admin", "ada@example.org")
LOCAL += ("--login", "local", "--tls", "private-ca")


class Home:
    """The folders of one installation, and the command that works on them."""

    def __init__(self, folder, data):
        self.root = folder / "workshop-launcher"
        self.data = data
        self.work = folder / "work"
        self.work.mkdir()

    def run(self, *words, code=0, stdin="", start=False):
        """Runs setup. Returns its output: stdout and stderr together."""
        commands = ("accounts", "backup", "restore")
        command = [words[0]] if words and words[0] in commands else []
        rest = [str(word) for word in words[len(command):]]
        end = [] if start or command == ["backup"] else ["--no-start"]
        done = subprocess.run(
            [SERVER / "setup", *command, "--directory", self.root, *rest, *end],
            cwd=self.work, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
        )
        assert done.returncode == code, done.stdout
        return done.stdout

    def install(self, *words, **options):
        """Runs setup with local accounts and a private authority."""
        return self.run(*LOCAL, "--data-dir", self.data, *words, **options)

    def state(self):
        """Returns everything that a program or an administrator can notice of the files."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            known = os.lstat(path)
            content = path.read_bytes() if path.is_file() else None
            found[str(path.relative_to(self.root))] = (known.st_ino, known.st_mtime_ns, known.st_mode, known.st_uid, content)
        return found

    def text(self, name):
        return (self.root / name).read_text()

    def variables(self):
        """Returns the .env of the compose file."""
        lines = [line for line in self.text(".env").splitlines() if not line.startswith("#")]
        return dict(line.split("=", 1) for line in lines)


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path, tmp_path / "data")
