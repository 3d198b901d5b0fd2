"""Fixtures shared by the tests of this directory: one chain. They need KUBECONFIG, kubectl, LOGIN_BIN and the
images."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from chain import ALICE, Chain


@pytest.fixture(scope="session")
def chain():
    """Traefik, the providers and the release, ready; removed afterwards."""
    made = Chain()
    # Removes the leftovers of a killed run.
    made.remove()
    try:
        made.platform()
        made.prepare()
        made.install()
        yield made
    finally:
        made.remove()


@pytest.fixture(scope="session")
def echo_of_all_files(chain):
    """Alice's workshop, which echoes requests: (name, url)."""
    return chain.launched(chain.signed_in(ALICE))


@pytest.fixture(scope="module")
def echo(chain, echo_of_all_files):
    """Alice's workshop, which echoes requests, routed again after the tests of another file changed the release."""
    chain.until_routed(echo_of_all_files[1])
    return echo_of_all_files
