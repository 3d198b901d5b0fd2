"""The same chain in a real Chromium: e2e/browser/login."""

import contextlib
import os
import subprocess

from chain import run
from harness import ROOT

NAMESPACE = "login-browser"
OUTSIDE, INSIDE = "10.98.77.1", "10.98.77.2"


@contextlib.contextmanager
def quiet_network():
    """A network namespace that leads into the cluster: where pods come and go, Chromium gives up what it is loading."""
    run("ip", "netns", "add", NAMESPACE)
    try:
        run("ip", "link", "add", "login0", "type", "veth", "peer", "name", "eth0", "netns", NAMESPACE)
        run("ip", "address", "add", f"{OUTSIDE}/30", "dev", "login0")
        run("ip", "link", "set", "login0", "up")
        for words in (
            ("address", "add", f"{INSIDE}/30", "dev", "eth0"),
            ("link", "set", "lo", "up"),
            ("link", "set", "eth0", "up"),
            ("route", "add", "default", "via", OUTSIDE),
        ):
            run("ip", "-netns", NAMESPACE, *words)
        yield
    finally:
        run("ip", "netns", "delete", NAMESPACE)


def test_people_in_a_browser(chain):
    addresses = {"LOGIN_TRAEFIK": chain.addresses["launcher.test"], "LOGIN_DEX": chain.addresses["dex.test"]}
    with quiet_network():
        done = subprocess.run(
            ["ip", "netns", "exec", NAMESPACE, "npm", "run", "--silent", "test-login"],
            cwd=ROOT / "e2e/browser",
            env=os.environ | addresses,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )
    assert done.returncode == 0, done.stdout
