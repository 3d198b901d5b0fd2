"""A World whose programs reach the API server through proxies that inject faults, and fixtures for its tests."""

import contextlib

import pytest

from faults import Proxy
from harness import ADMIN
from world import World


class FaultyWorld(World):
    """A World whose launcher and operator each reach the API server through a separate proxy."""

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

    def calm(self):
        self.to_launcher.calm()
        self.to_operator.calm()


@pytest.fixture(scope="module")
def world(request):
    name = request.module.__name__.removeprefix("test_")
    with FaultyWorld(name, SERVICE_LEASE_SECONDS="6") as made:
        yield made


@pytest.fixture(autouse=True)
def calm_afterwards(world):
    """Removes all faults after each test."""
    yield
    world.calm()


@pytest.fixture(scope="module")
def template(world):
    return world.template()


@pytest.fixture(scope="module")
def bystander(world, template):
    """A workshop that runs from the first test to the last and that no test touches."""
    name = world.launch(template, ADMIN)
    world.until(name, "running")
    yield name, world.pod(name)["metadata"]["uid"]
    world.end(name)
    world.until(name, "terminated")


def assert_untouched(world, bystander):
    """Fails unless the bystander still runs in the same pod."""
    name, uid = bystander
    assert world.instance(name)["state"] == "running"
    assert world.pod(name)["metadata"]["uid"] == uid, "a workshop that nobody touched was started anew"
