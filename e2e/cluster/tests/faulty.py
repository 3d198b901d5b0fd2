"""A World whose launcher and operator reach the API server through fault-injecting proxies, and its fixtures."""

import contextlib

import pytest

from faults import Proxy
from harness import ADMIN
from world import World


class FaultyWorld(World):
    """A World whose launcher and operator each reach the API server through a separate fault-injecting proxy."""

    def __init__(self, name, **settings):
        super().__init__(name, **settings)
        self.to_launcher, self.to_operator = Proxy(), Proxy()
        self.proxies = contextlib.ExitStack()

    def __enter__(self):
        self.proxies.enter_context(self.to_launcher)
        self.proxies.enter_context(self.to_operator)
        return super().__enter__()

    def __exit__(self, *_):
        try:
            super().__exit__()
        finally:
            self.proxies.close()

    def new_launcher(self, server=None, **settings):
        return super().new_launcher(server or self.to_launcher.url, **settings)

    def new_operator(self, server=None, **settings):
        return super().new_operator(server or self.to_operator.url, **settings)

    def stop_faults(self):
        self.to_launcher.stop_faults()
        self.to_operator.stop_faults()


@pytest.fixture(scope="module")
def world(request):
    name = request.module.__name__.removeprefix("test_")
    with FaultyWorld(name, SERVICE_LEASE_SECONDS="10") as made:
        yield made


@pytest.fixture(autouse=True)
def stop_faults_after_test(world):
    """Stops the fault injection after each test."""
    yield
    world.stop_faults()


@pytest.fixture(scope="module")
def template(world):
    return world.template()


@pytest.fixture(scope="module")
def unrelated_workshop(world, template):
    """A workshop that runs during all tests of a file and that no test changes: (name, uid of the pod)."""
    name = world.launch(template, ADMIN)
    world.until(name, "running")
    yield name, world.pod(name)["metadata"]["uid"]
    world.end(name)
    world.until(name, "terminated")


def assert_still_runs(world, unrelated_workshop):
    """Fails unless the unrelated workshop still runs in the same pod."""
    name, uid = unrelated_workshop
    assert world.instance(name)["state"] == "running"
    assert world.pod(name)["metadata"]["uid"] == uid, "the unrelated workshop has a new pod"
