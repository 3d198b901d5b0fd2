"""Fixtures of the cluster tests. Prerequisites: KUBECONFIG, kubectl, the container images, and the launcher's debug
build."""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from world import World  # noqa: E402

# The files that take longest, longest first. They start first, so that no worker runs alone at the end.
LONGEST = (
    "storage", "journey", "by_hand", "fleet_contract", "lost_node", "download", "material", "faults", "operator", "failures",
    "replicas", "policies", "doctor",
)


def pytest_configure(config):
    config.addinivalue_line("markers", "cluster: needs a Kubernetes cluster, see e2e/cluster/README.md")
    config.addinivalue_line("filterwarnings", "error::pytest.PytestUnhandledThreadExceptionWarning")
    # xdist starts the files in the order of the tests, not of their number.
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items):
    order = {f"test_{name}": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.stem, len(LONGEST)))


@pytest.fixture(scope="module")
def world(request):
    """A namespace with a launcher and an operator, shared by the tests of one file. The constant WORLD of the file
    contains further arguments of `World`."""
    name = request.module.__name__.removeprefix("test_").replace("_", "-")
    with World(name, **getattr(request.module, "WORLD", {})) as made:
        yield made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the logs of launcher and operator to the report of a failed test."""
    report = yield
    if report.failed:
        for made in item.funcargs.values():
            if isinstance(made, World):
                report.sections.append(("launcher and operator", made.logs()))
    return report
