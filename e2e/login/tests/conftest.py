"""Fixtures of the login tests. Prerequisites: KUBECONFIG, kubectl, LOGIN_BIN and the container images."""

import pathlib
import sys

import pytest

for folder in pathlib.Path(__file__).resolve().parents[1:3]:
    sys.path.insert(0, str(folder))

from chain import ALICE, Chain


@pytest.fixture(scope="session")
def chain():
    """Traefik, the login providers and the release, all ready. They are removed after the last test."""
    made = Chain()
    made.definitions()
    # Remove leftover objects of an earlier run that was killed.
    made.remove()
    try:
        made.platform()
        made.prepare()
        made.install()
        yield made
    finally:
        made.remove()


@pytest.fixture(scope="session")
def session_echo(chain):
    """Alice's workshop, whose app echoes requests, shared by all test files: (name, url)."""
    return chain.launched(chain.signed_in(ALICE))


@pytest.fixture(scope="module")
def echo(chain, session_echo):
    """Alice's workshop, whose app echoes requests: (name, url). Earlier tests may have changed the release, so this
    fixture waits until the ingress routes the workshop."""
    chain.until_routed(session_echo[1], ALICE)
    return session_echo
