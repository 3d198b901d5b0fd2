#!/usr/bin/env python3
"""Tests `make run` in a fresh clone: the start page, a launch of JupyterLab, and the stop after Ctrl-C."""

import os
import pathlib
import signal
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import ROOT, Launcher, wait_for

# Time limit of the first build, in seconds, for two slow cores without a target directory or virtual environment.
SET_UP_SECONDS = 1500
JUPYTERLAB_SECONDS = 90


def launch_jupyterlab(launcher):
    """Launches JupyterLab from the catalog with the development identity, and waits until the workshop runs."""
    status, _, templates = launcher.request("GET", "/templates/", email=None)
    assert status == 200, (status, templates)
    ids = {template["name"]: template["template_id"] for template in templates}
    assert set(ids) == {"JupyterLab", "Files"}, ids
    status, _, row = launcher.request("POST", f"/templates/{ids['JupyterLab']}/launch", email=None)
    assert status == 201, (status, row)

    def running():
        _, _, now = launcher.request("GET", f"/instances/{row['k8s_name']}", email=None)
        assert now["state"] != "failed", now
        return now["state"] == "running"

    wait_for("JupyterLab to run", running, JUPYTERLAB_SECONDS)


def check(launcher):
    url = f"http://localhost:{launcher.port}/"
    assert url in launcher.log.read_text(), "expected the address of the page in the output"
    with urllib.request.urlopen(url, timeout=10) as page:
        text = page.read().decode()
    assert "dev@example.org" in text and "Admin" in text, "expected the development identity to be an admin"
    launch_jupyterlab(launcher)
    os.killpg(launcher.process.pid, signal.SIGINT)
    launcher.process.wait(timeout=45)
    assert '"launcher stopped"' in launcher.log_tail(3), "expected a clean stop after Ctrl-C"
    left = launcher.workshop_processes()
    assert not left, f"workshop processes remain after the stop: {left}"


def main():
    launcher = Launcher()
    for name in ("SERVICE_FLEET", "SERVICE_ADMIN_EMAILS"):
        # Unset, because `make run` itself must choose these settings.
        del launcher.environment[name]
    with launcher:
        try:
            # Ctrl-C in a terminal reaches a whole process group. `check` sends SIGINT to this new group instead.
            launcher.start(("make", "run"), SET_UP_SECONDS, cwd=ROOT, start_new_session=True)
            check(launcher)
        finally:
            if launcher.process and launcher.process.poll() is None:
                os.killpg(launcher.process.pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
