"""Fixtures of the container tests. Run them on a test server: see README.md.

Docker runs all tests, on two servers beside each other (markers `containers` and `container_faults`), Podman those with the
marker `podman`: what an engine does differently.
"""

import collections
import contextlib
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from harness import wait_for  # noqa: E402
from world import ENGINE, PLACE, SHELL, World, engine  # noqa: E402

# Programs of containers, and those that an engine runs for each container, as the kernel abbreviates them.
PROCESSES = ("containerd-shim", "conmon", "launcher-sideca", "busybox", "python3", "runc", "jupyter-lab")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(HERE) and not item.get_closest_marker("container_faults"):
            item.add_marker(pytest.mark.containers)


@pytest.fixture(scope="session")
def api():
    return engine().api


@pytest.fixture(scope="module")
def world(request):
    """A launcher for the tests of one file. The constant SETTINGS of the file has further settings of it."""
    with World(**getattr(request.module, "SETTINGS", {})) as made:
        yield made


@pytest.fixture(scope="module")
def shell(world):
    """A running workshop of SHELL."""
    return world.running(SHELL)


@pytest.fixture
def leaves_nothing(world):
    """Compares the server before and after a test: the workshops of the test leave nothing."""
    # The first workshop of a fleet makes its network, which stays.
    world.finish(world.running())
    before, new = traces(world.api), {}
    yield

    def is_clean():
        now = traces(world.api)
        new.clear()
        new.update({kind: sorted((now[kind] - before[kind]).elements()) for kind in now if now[kind] - before[kind]})
        return not new

    try:
        wait_for("the workshops to leave nothing", is_clean)
    except AssertionError as error:
        raise AssertionError(f"{error}; they left {new}") from None


def traces(api):
    """Returns containers, networks, volumes, mounts, interfaces, cgroups and processes, to compare with another moment."""
    mounts = [line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    processes = []
    for path in pathlib.Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            processes.append(path.read_text().strip())
    found = {
        "containers": (each["Names"][0] for each in api.containers()),
        "networks": api.networks(),
        "volumes": api.volumes(),
        "mounts": (path for path in mounts if str(PLACE) in path or "/netns/" in path),
        "interfaces": (each.name for each in pathlib.Path("/proc/sys/net/ipv4/conf").glob("veth*")),
        "cgroups": cgroups(),
        "processes": (each for each in processes if each in PROCESSES),
    }
    return {kind: collections.Counter(names) for kind, names in found.items()}


def cgroups():
    """Returns the cgroups of containers that this engine has created."""
    parent = PLACE.name if ENGINE == "docker" else "libpod_parent"
    found = map(str, pathlib.Path("/sys/fs/cgroup").glob(f"*/{parent}/*/"))
    if ENGINE == "docker":
        return found
    # Podmans of other servers put their containers below the same cgroup. The name is libpod- and the id.
    created = (PLACE / "events.log").read_text()
    return [path for path in found if "/libpod-" in path and path.rpartition("/libpod-")[2] in created]


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
