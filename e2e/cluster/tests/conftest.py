"""Fixtures shared by the tests of this directory. They need KUBECONFIG, kubectl, the images, and the launcher's debug
build."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from world import World


@pytest.fixture(scope="module")
def world(request):
    """A namespace with launcher and operator, shared by the tests of one file; its WORLD adds settings of the
    operator."""
    name = request.module.__name__.removeprefix("test_").replace("_", "-")
    with World(name, **getattr(request.module, "WORLD", {})) as made:
        yield made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the output of our programs to the report of a failed test."""
    report = yield
    if report.failed:
        for made in item.funcargs.values():
            if isinstance(made, World):
                report.sections.append(("our programs", made.logs()))
    return report
