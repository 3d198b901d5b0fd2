#!/usr/bin/env python3
"""`make run` in a fresh clone: the page, JupyterLab, Ctrl-C."""

import os
import pathlib
import signal
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import ROOT, Launcher, wait_for

# For an empty target directory and no virtual environment, on two slow cores.
SET_UP_SECONDS = 1500
JUPYTERLAB_SECONDS = 90


def launch_jupyterlab(launcher):
    """Launches the catalog's template with the development identity, and waits until it runs."""
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
    assert url in launcher.log.read_text(), "it prints where to go"
    with urllib.request.urlopen(url, timeout=10) as page:
        text = page.read().decode()
    assert "dev@example.org" in text and "Admin" in text, "everybody is the development identity, an admin"
    launch_jupyterlab(launcher)
    os.killpg(launcher.process.pid, signal.SIGINT)
    launcher.process.wait(timeout=45)
    assert '"launcher stopped"' in launcher.log_tail(3), "Ctrl-C stops it in order"
    left = launcher.workshop_processes()
    assert not left, f"left behind: {left}"


def main():
    launcher = Launcher()
    for name in ("SERVICE_FLEET", "SERVICE_ADMIN_EMAILS"):
        # `make run` has to choose these settings.
        del launcher.environment[name]
    with launcher:
        try:
            # A terminal's Ctrl-C reaches the whole process group: a separate group stands in for the terminal's.
            launcher.start(("make", "run"), SET_UP_SECONDS, cwd=ROOT, start_new_session=True)
            check(launcher)
        finally:
            if launcher.process and launcher.process.poll() is None:
                os.killpg(launcher.process.pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
