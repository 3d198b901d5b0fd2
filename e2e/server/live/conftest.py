"""A server that setup has set up, in the namespaces of containers/server.py: real Traefik, login proxies, Dex, launcher.

Prerequisites in the environment: SERVER_ENGINE, SERVER_SOCKET and SERVER_PLACE of containers/server.py; LOGIN_BIN with
the programs of the login; IMAGE_CONTEXTS with the programs of launcher, sidecar and the test app.
"""

import pathlib
import sys

import pytest

E2E = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(E2E), str(E2E / "login/tests"), str(E2E / "containers")]
sys.dont_write_bytecode = True

from machine import Machine


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(E2E / "server/live"):
            item.add_marker(pytest.mark.server)


@pytest.fixture(scope="session")
def machine():
    """The server, set up, with people. It is removed after the last test."""
    made = Machine()
    try:
        made.import_images()
        made.set_up()
        made.create_accounts()
        yield made
    except BaseException:
        made.print_logs()
        raise
    finally:
        made.remove()


def pytest_runtest_logreport(report):
    """Prints the logs of the programs after a failure: their containers are removed with the server."""
    if report.failed and Machine.current:
        Machine.current.print_logs()
