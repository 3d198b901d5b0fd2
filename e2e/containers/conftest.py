"""Fixtures of the container tests. Run them on a test server: `server.py docker python -m pytest e2e/containers`."""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from traces import traces, until_nothing_new  # noqa: E402
from world import ENGINE, SHELL, World, engine  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "docker: runs only with Docker, because it is slow and no different with Podman")


def pytest_collection_modifyitems(config, items):
    left_out = [item for item in items if item.get_closest_marker("docker") and ENGINE != "docker"]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def api():
    return engine().api


@pytest.fixture(scope="module")
def world(request):
    """A launcher for the tests of one file. The constant SETTINGS of the file has further settings of it."""
    with World(**getattr(request.module, "SETTINGS", {})) as made:
        yield made


@pytest.fixture
def leaves_nothing(world):
    """Compares the server before and after a test: the workshops of the test leave nothing."""
    # The first workshop of a fleet makes its network, which stays.
    first = world.running()
    world.end(first)
    world.until_gone(first)
    before = traces(world.api)
    yield
    until_nothing_new(world.api, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the logs of launcher and engine to the report of a failed test."""
    report = yield
    if report.failed:
        for made in item.funcargs.values():
            if isinstance(made, World):
                report.sections.append(("launcher", made.launcher.log_tail(60)))
        report.sections.append(("engine", "\n".join(engine().log.read_text(errors="replace").splitlines()[-20:])))
    return report


@pytest.fixture(scope="module")
def shell(world):
    """A running workshop of SHELL."""
    return world.running(SHELL)
