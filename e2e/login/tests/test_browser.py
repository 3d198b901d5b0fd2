"""The same chain in a real Chromium: e2e/browser/login."""

import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile

from chain import run
from harness import ROOT, wait_for

NAMESPACE = "login-browser"
OUTSIDE, INSIDE = "10.98.77.1", "10.98.77.2"


@contextlib.contextmanager
def quiet_network():
    """Creates a network namespace with access to the cluster: where pods start and stop, Chromium aborts its loads."""
    # Removes the leftovers of a killed run.
    if pathlib.Path("/run/netns", NAMESPACE).exists():
        end_all_within()
        run("ip", "netns", "delete", NAMESPACE)
    run("ip", "netns", "add", NAMESPACE)
    try:
        run("ip", "link", "add", "login0", "type", "veth", "peer", "name", "eth0", "netns", NAMESPACE)
        run("ip", "address", "add", f"{OUTSIDE}/30", "dev", "login0")
        run("ip", "link", "set", "login0", "up")
        for words in (
            ("address", "add", f"{INSIDE}/30", "dev", "eth0"),
            # A link's automatic address comes seconds later, which would be a network change.
            ("link", "set", "eth0", "addrgenmode", "none"),
            ("link", "set", "lo", "up"),
            ("link", "set", "eth0", "up"),
            ("route", "add", "default", "via", OUTSIDE),
        ):
            run("ip", "-netns", NAMESPACE, *words)
        wait_for("the link", lambda: "state UP" in run("ip", "-netns", NAMESPACE, "link", "show", "eth0"), 10)
        yield
    finally:
        try:
            end_all_within()
        finally:
            run("ip", "netns", "delete", NAMESPACE)


def end_all_within():
    """Kills the leftovers of an aborted run: the abort ends only npm, and Chromium has a separate process group."""

    def nothing_is_left():
        left = run("ip", "netns", "pids", NAMESPACE).split()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        return not left

    wait_for("the processes of the browser's run to be gone", nothing_is_left, 20)


def in_a_browser(chain, script):
    """Runs a script of e2e/browser/package.json, in whose Chromium the chain's hosts resolve into the cluster."""
    names = {"LOGIN_TRAEFIK": "launcher.test", "LOGIN_DEX": "dex.test", "LOGIN_SSO": "sso.test"}
    addresses = {variable: chain.addresses[name] for variable, name in names.items()}
    # Chromium's files are removed with the folder, even if Chromium was killed.
    with tempfile.TemporaryDirectory(prefix="login-browser-") as temporary, quiet_network():
        done = subprocess.run(
            ["ip", "netns", "exec", NAMESPACE, "npm", "run", "--silent", script],
            cwd=ROOT / "e2e/browser",
            env=os.environ | addresses | {"TMPDIR": temporary},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )
    assert done.returncode == 0, done.stdout


def test_login_in_browser(chain):
    in_a_browser(chain, "test-login")
