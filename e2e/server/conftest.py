"""Fixtures of the tests of deploy/server. Setup runs in the process of the tests, on folders in memory if possible."""

import functools
import os
import pathlib
import shutil
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "deploy/server")]
sys.dont_write_bytecode = True

from fake_engine import FakeEngine  # noqa: E402
from installed import ACME, FLAGS, HELP, Home, put, state, write_database  # noqa: E402


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.scripts)


@pytest.fixture(scope="session")
def place():
    """The folder of the server, the same for all tests: settings contain absolute paths."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        yield pathlib.Path(folder)


def empty(place):
    for path in place.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    return Home(place)


@pytest.fixture
def home(place):
    """A server without an installation. The files that commands read are in its folder of work."""
    return empty(place)


@functools.cache
def installation(place):
    home = empty(place)
    home.write_given_files()
    home.install(*ACME)
    return state(*home.folders)


@functools.cache
def later_installation(place):
    home = empty(place)
    home.write_given_files()
    home.run(*FLAGS, "--data-dir", home.data, "--help-url", HELP)
    (home.root / "acme/old.key").write_text("old")
    (home.data / "fleet").mkdir()
    (home.data / "fleet/id").write_text("0199")
    write_database(home, "backup")
    home.run("backup", "backup.tar.gz")
    home.run("--help-url", "", "--engine", "podman")
    (home.root / "acme/old.key").unlink()
    (home.root / "acme/new.key").write_text("new")
    write_database(home, "installed")
    for path in place.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return state(*home.folders, home.work)


@pytest.fixture
def school(place):
    """An installation with local accounts, and ACME."""
    found, home = installation(place), empty(place)
    put(found, *home.folders)
    return home


@pytest.fixture
def restorable(place):
    """An installation without local accounts, and a backup of its earlier state: other settings, files and rows."""
    found, home = later_installation(place), empty(place)
    put(found, *home.folders, home.work)
    return home


@pytest.fixture(params=["docker"])
def engine(tmp_path, request):
    return FakeEngine(tmp_path / "engine", request.param)
