"""Records the duration and the result of each test for tiers.py, and has the fixtures of more than one tier."""

import json
import os
import resource

import pytest

import environment

IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ
# {folder: tier of its tests}. In other folders, conftest.py or the files name the tier.
TIERS = {"cluster/tests": "cluster", "login": "chart", "login/live": "chart_live", "login/tests": "login"}


def cpu_seconds():
    """Returns the CPU time of this process and of its ended children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Recorder:
    """Adds the CPU time of each phase to its report, and writes a line of JSON for each test."""

    def __init__(self):
        self.before, self.tests = cpu_seconds(), {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        used = cpu_seconds()
        report.user_properties = [*report.user_properties, ("cpu", used - self.before)]
        self.before = used
        return report

    def pytest_runtest_logreport(self, report):
        one = self.tests.setdefault(report.nodeid, {"outcome": "passed", "seconds": 0, "cpu": 0, "output": ""})
        one["seconds"] += report.duration
        one["cpu"] += dict(report.user_properties).get("cpu", 0)
        if report.outcome != "passed" and one["outcome"] != "failed":
            one["outcome"] = report.outcome
        if report.failed:
            one["output"] += report.longreprtext + "".join(f"\n-- {name}\n{text[-4000:]}" for name, text in report.sections)

    def pytest_sessionfinish(self):
        if IS_WORKER or "TEST_RECORD" not in os.environ:
            return
        with open(os.environ["TEST_RECORD"], "a") as file:
            for name, one in self.tests.items():
                file.write(json.dumps({"tier": os.environ["TEST_TIER"], "test": name, "path": f"e2e/{name}"} | one) + "\n")


def pytest_configure(config):
    config.pluginmanager.register(Recorder(), "recorder")


def pytest_sessionstart(session):
    """Before the workers of pytest-xdist start, and before modules read the environment."""
    if not IS_WORKER:
        environment.prepare(session.config.option.markexpr, session.config.add_cleanup)


def pytest_collection_modifyitems(items):
    for item in items:
        folder = str(item.path.parent.relative_to(environment.ROOT / "e2e"))
        if folder in TIERS:
            item.add_marker(TIERS[folder])


@pytest.fixture(scope="session")
def launcher_program():
    """Path of the debug build of the launcher."""
    return environment.launcher_program()


@pytest.fixture(scope="session")
def jupyter():
    """Path of JupyterLab, which is also in TEST_JUPYTER."""
    environment.jupyter()
    return os.environ["TEST_JUPYTER"]


@pytest.fixture(scope="session")
def browser_packages():
    """Chromium, whose path is in CHROMIUM, and the packages of e2e/browser."""
    environment.browser()
