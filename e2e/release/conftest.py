"""Fixtures of the tests of packaging/release. The scripts run on a copy of the sources without Git."""

import os
import pathlib
import shutil
import subprocess
import sys
import tomllib

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "packaging/release")]
sys.dont_write_bytecode = True
SOURCES = "charts deploy/server images packaging docs Cargo.toml CHANGELOG.md LICENSE-APACHE LICENSE-MIT".split()


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.scripts)


class Sources:
    """A copy of the sources."""

    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]

    def __init__(self, root):
        self.root = root

    def run(self, name, *arguments, umask=0o22, **environment):
        """Runs a script. Returns its exit code, and its output, or its errors if it fails."""
        commit = {"COMMIT": "0123456789abcdef0123456789abcdef01234567", "SOURCE_DATE_EPOCH": "1700000000"}
        command = [self.root / "packaging/release" / name, *map(str, arguments)]
        done = subprocess.run(command, cwd="/", umask=umask, env=os.environ | commit | environment, capture_output=True, text=True)
        return done.returncode, done.stdout if done.returncode == 0 else done.stderr


@pytest.fixture(scope="session")
def sources(tmp_path_factory):
    """Sources that no test changes."""
    root = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, root / name)
    return Sources(root)


@pytest.fixture
def changed(sources, tmp_path):
    """Sources to change."""
    return Sources(shutil.copytree(sources.root, tmp_path / "changed"))


@pytest.fixture
def programs(tmp_path):
    """A function that writes a program that the scripts find before others. Returns the variables for this."""

    def write(name, script):
        (tmp_path / "programs").mkdir(exist_ok=True)
        (tmp_path / "programs" / name).write_text(f"#!/bin/sh\nset -e\n{script}\n")
        (tmp_path / "programs" / name).chmod(0o755)
        return {"PATH": f"{tmp_path}/programs:{os.environ['PATH']}"}

    return write
