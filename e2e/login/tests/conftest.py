"""Fixtures of the login tests. Prerequisites: KUBECONFIG, kubectl, LOGIN_BIN and the container images."""

import copy
import pathlib

import pytest

from chain import ALICE, BOB, INGRESS, NAMESPACE, Chain, kubectl

FOLDER = pathlib.Path(__file__).resolve().parent
# The order of the test files: files with the same options of Helm follow each other, so that the release is seldom upgraded.
ORDER = (
    "sessions", "edge_proxy", "notice", "browser", "install", "single_sign_on", "any_front", "proxy_secret", "one_domain",
    "documented_installation", "quickstart_cluster",
)


def pytest_collection_modifyitems(items):
    own = [item for item in items if item.path.parent == FOLDER]
    own.sort(key=lambda item: ORDER.index(item.module.__name__.removeprefix("test_")))
    items[:] = [item for item in items if item.path.parent != FOLDER] + own


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the logs of the ingress controller and of the release to the report of a failed test."""
    report = yield
    if report.failed and item.path.parent == FOLDER:
        for namespace in (INGRESS, NAMESPACE):
            words = ("logs", "--namespace", namespace, "--selector", "app.kubernetes.io/name", "--all-containers", "--prefix")
            logs = kubectl(*words, "--tail", "40", "--since", "2m", "--max-log-requests", "20", check=False)
            report.sections.append((f"logs of {namespace}", logs))
    return report


@pytest.fixture(scope="session")
def platform():
    """Traefik, the login providers and the prerequisites of the release. They are removed after the last test."""
    made = Chain()
    try:
        made.platform()
        yield made
    finally:
        made.remove(wait=False)


@pytest.fixture(scope="module")
def chain(platform, request):
    """The chain, whose release has the options OPTIONS of the test file."""
    chain = copy.copy(platform)
    chain.ensure(*getattr(request.module, "OPTIONS", ()))
    return chain


@pytest.fixture(scope="module")
def echo(chain):
    """Alice's workshop, whose app echoes requests, shared by all test files: (name, url)."""
    alice = chain.signed_in(ALICE)
    if not chain.shared:
        chain.shared.append(chain.launch(alice))
    return chain.shared[0], chain.until_open(alice, chain.shared[0])


@pytest.fixture(scope="module")
def alice(chain, echo):
    """A browser profile in which Alice is logged in at launcher and workshops."""
    return chain.signed_in(ALICE, echo[1])


@pytest.fixture(scope="module")
def bob(chain, echo):
    """A browser profile in which Bob is logged in at launcher and workshops."""
    return chain.signed_in(BOB, echo[1])
