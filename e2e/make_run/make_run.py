#!/usr/bin/env python3
"""Tests `make run` in a fresh clone: the start page, a launch of JupyterLab, the stop after Ctrl-C, the hint about
containers.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import ROOT, Launcher, wait_for

# Time limit of the first build, in seconds, for two slow cores without a target directory or virtual environment.
SET_UP_SECONDS = 1500
JUPYTERLAB_SECONDS = 90
HINT = "To run workshops in containers: SERVICE_FLEET=containers make run"


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


def check_page(launcher):
    url = f"http://localhost:{launcher.port}/"
    assert url in launcher.log.read_text(), "expected the address of the page in the output"
    with urllib.request.urlopen(url, timeout=10) as page:
        text = page.read().decode()
    assert "dev@example.org" in text and "Admin" in text, "expected the development identity to be an admin"


@contextlib.contextmanager
def fake_engine(folder):
    """Creates the socket of a rootless Docker below this folder, and a command docker that answers for this socket only.

    Yields the path of the socket, and PATH with the command. When the file `ended` exists beside the socket, the command
    fails, as for the socket of an engine that ended.
    """
    path, commands = folder / "docker/docker.sock", folder / "bin"
    path.parent.mkdir()
    commands.mkdir()
    (commands / "docker").write_text(f"""#!/bin/sh
[ "$1 $2 $3" = "--host unix://{path} version" ] && [ ! -e "{path.parent}/ended" ]
""")
    (commands / "docker").chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        yield path, f"{commands}:{os.environ['PATH']}"


def check_ended_engine(engine, path):
    """Without an engine that answers, a run with containers fails at once, although there is a socket."""
    if has_engine():
        return
    (engine.parent / "ended").touch()
    variables = {"SERVICE_FLEET": "containers", "XDG_RUNTIME_DIR": str(engine.parent.parent), "PATH": path}
    environment = {name: value for name, value in os.environ.items() if name != "SERVICE_ENGINE_SOCKET"} | variables
    done = subprocess.run([ROOT / "packaging/local/run.sh"], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "no container engine answers" in done.stderr, done.stdout + done.stderr
    (engine.parent / "ended").unlink()


def has_engine():
    """True if an engine of this machine, which the test cannot hide, has a socket that `make run` finds."""
    return any(
        shutil.which(engine) and os.access(f"/run/{folder}{engine}.sock", os.W_OK)
        for engine in ("docker", "podman")
        for folder in ("", f"{engine}/")
    )


@contextlib.contextmanager
def make_run(**variables):
    """Runs `make run` with these variables, yields the launcher when it is ready, and stops it with Ctrl-C."""
    launcher = Launcher(**variables)
    for name in ("SERVICE_FLEET", "SERVICE_ADMIN_EMAILS", "SERVICE_ENGINE_SOCKET"):
        # Unset, because `make run` itself must choose these settings.
        launcher.environment.pop(name, None)
    with launcher:
        try:
            # Ctrl-C in a terminal reaches a whole process group. This test sends SIGINT to the new group instead.
            launcher.start(("make", "run"), SET_UP_SECONDS, cwd=ROOT, start_new_session=True)
            yield launcher
            os.killpg(launcher.process.pid, signal.SIGINT)
            launcher.process.wait(timeout=45)
            assert '"launcher stopped"' in launcher.log_tail(3), "expected a clean stop after Ctrl-C"
            left = launcher.workshop_processes()
            assert not left, f"workshop processes remain after the stop: {left}"
        finally:
            if launcher.process and launcher.process.poll() is None:
                os.killpg(launcher.process.pid, signal.SIGKILL)


def main():
    with tempfile.TemporaryDirectory(prefix="make-run-") as place:
        runtime = pathlib.Path(place)
        with make_run(XDG_RUNTIME_DIR=place) as launcher:
            if has_engine():
                print("this machine has a container engine: no test of the output without one")
            else:
                assert HINT not in launcher.log.read_text(), "expected no hint about containers without an engine"
            check_page(launcher)
            launch_jupyterlab(launcher)
        with fake_engine(runtime) as (engine, path):
            check_ended_engine(engine, path)
            with make_run(XDG_RUNTIME_DIR=place, PATH=path) as launcher:
                said = launcher.log.read_text()
                assert HINT in said, "expected a hint about containers with an engine"
                assert has_engine() or f"a container engine answers at {engine}. " in said, said


if __name__ == "__main__":
    main()
