"""Runs the tests of e2e/browser/login: the login chain in a real Chromium."""

import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile

from chain import run, until
from harness import ROOT

NAMESPACE = "login-browser"
OUTSIDE, INSIDE = "10.98.77.1", "10.98.77.2"
IN_NAMESPACE = ("ip", "netns", "exec", NAMESPACE)


@contextlib.contextmanager
def isolated_network():
    """Creates a network namespace for Chromium, with access to the cluster.

    In the host's network namespace, starting and stopping pods changes network devices, and Chromium then aborts loads.
    """
    # Remove the leftover network namespace of an earlier run that was killed.
    if pathlib.Path("/run/netns", NAMESPACE).exists():
        kill_processes_in_namespace()
        run("ip", "netns", "delete", NAMESPACE)
    run("ip", "netns", "add", NAMESPACE)
    try:
        run("ip", "link", "add", "login0", "type", "veth", "peer", "name", "eth0", "netns", NAMESPACE)
        run("ip", "address", "add", f"{OUTSIDE}/30", "dev", "login0")
        run("ip", "link", "set", "login0", "up")
        for words in (
            ("address", "add", f"{INSIDE}/30", "dev", "eth0"),
            # No automatic IPv6 address: the kernel adds it seconds later, and Chromium would abort loads.
            ("link", "set", "eth0", "addrgenmode", "none"),
            ("link", "set", "lo", "up"),
            ("link", "set", "eth0", "up"),
            ("route", "add", "default", "via", OUTSIDE),
        ):
            run("ip", "-netns", NAMESPACE, *words)
        until("the network link", lambda: "state UP" in run("ip", "-netns", NAMESPACE, "link", "show", "eth0"))
        yield
    finally:
        try:
            kill_processes_in_namespace()
        finally:
            run("ip", "netns", "delete", NAMESPACE)


def kill_processes_in_namespace():
    """Kills all processes in the network namespace. An aborted run ends only npm, not Chromium's process group."""

    def nothing_is_left():
        left = run("ip", "netns", "pids", NAMESPACE).split()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        return not left

    until("the browser's processes to end", nothing_is_left)


def run_in_browser(chain, script, **variables):
    """Runs a script of e2e/browser/package.json. In its Chromium, the chain's host names resolve to the cluster."""
    host = chain.launcher.removeprefix("https://")
    names = {"LOGIN_TRAEFIK": host, "LOGIN_DEX": "dex.test", "LOGIN_SSO": "sso.test"}
    variables |= {variable: chain.addresses[name] for variable, name in names.items()}
    with isolated_network():
        run_script(script, variables | {"LOGIN_HOST": host, "LOGIN_DOMAIN": chain.domain})


def run_script(script, variables):
    """Runs a script of e2e/browser/package.json in the network namespace, with these environment variables."""
    # Chromium writes to this TMPDIR. Its files are therefore removed even if Chromium is killed.
    with tempfile.TemporaryDirectory(prefix="login-browser-") as temporary:
        done = subprocess.run(
            [*IN_NAMESPACE, "npm", "run", "--silent", script],
            cwd=ROOT / "e2e/browser",
            env=os.environ | variables | {"TMPDIR": temporary},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=1800,
        )
    print(done.stdout)
    assert done.returncode == 0, "see the output"


def test_login_works_in_browser(chain):
    run_in_browser(chain, "test-login")
