"""Tests `make run`: the start page, a launch of JupyterLab, the stop after Ctrl-C, the hint about containers."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.request

import pytest

from harness import DEADLINE, ROOT, Launcher, wait_for

pytestmark = pytest.mark.make_run
# Upper bound of the first build, in seconds: in a fresh clone there is no target directory and no virtual environment.
SET_UP_SECONDS = 1500
# The build of `make run`. Alone, these packages need fewer features of their dependencies, so that cargo would compile most
# packages once more. The images and the release are built in this way. Here, cargo builds what all tests use.
BUILD = "build --locked --package launcher --package launcher-material"
TESTS_BUILD = "test --workspace --all-features --locked --no-run"
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

    wait_for("JupyterLab to run", running)


def check_page(launcher):
    url = f"http://localhost:{launcher.port}/"
    assert url in launcher.log.read_text(), "expected the address of the page in the output"
    with urllib.request.urlopen(url, timeout=DEADLINE) as page:
        text = page.read().decode()
    assert "dev@example.org" in text and "Admin" in text, "expected the development identity to be an admin"


class Engine:
    """A rootless Docker: its socket below XDG_RUNTIME_DIR, and the commands docker and podman.

    The command docker answers only for this socket, and no longer after the engine has ended. These commands hide the
    engines of this machine.
    """

    def __init__(self, folder):
        self.folder, self.socket, self.ended = folder, folder / "docker/docker.sock", folder / "ended"
        for name in ("docker", "bin"):
            (folder / name).mkdir()
        answer = f'[ "$1 $2 $3" = "--host unix://{self.socket} version" ] && [ ! -e "{self.ended}" ]'
        for name, script in {"docker": answer, "podman": "false"}.items():
            (folder / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / "bin" / name).chmod(0o755)
        cargo = f'[ "$*" != "{BUILD}" ] || set -- {TESTS_BUILD}\nexec "{shutil.which("cargo")}" "$@"'
        (folder / "bin/cargo").write_text(f"#!/bin/sh\n{cargo}\n")
        (folder / "bin/cargo").chmod(0o755)
        self.variables = {"XDG_RUNTIME_DIR": str(folder), "PATH": f"{folder}/bin:{os.environ['PATH']}"}


@pytest.fixture
def engine():
    # A short path, because the path of a socket has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="make-run-") as folder, socket.socket(socket.AF_UNIX) as listener:
        made = Engine(pathlib.Path(folder))
        listener.bind(str(made.socket))
        yield made


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
            launcher.process.wait(timeout=DEADLINE)
            assert '"launcher stopped"' in launcher.log_tail(3), "expected a clean stop after Ctrl-C"
            left = launcher.workshop_processes()
            assert not left, f"workshop processes remain after the stop: {left}"
        finally:
            if launcher.process and launcher.process.poll() is None:
                os.killpg(launcher.process.pid, signal.SIGKILL)


def test_make_run_serves_jupyterlab_until_ctrl_c(engine):
    engine.socket.unlink()
    with make_run(**engine.variables) as launcher:
        assert HINT not in launcher.log.read_text(), "expected no hint about containers without an engine"
        check_page(launcher)
        launch_jupyterlab(launcher)


def test_make_run_with_an_engine_names_the_command_for_containers(engine):
    with make_run(**engine.variables) as launcher:
        said = launcher.log.read_text()
        assert f"a container engine answers at {engine.socket}. {HINT}" in said, said


def test_run_with_containers_fails_if_the_engine_of_the_socket_has_ended(engine):
    engine.ended.touch()
    environment = {name: value for name, value in os.environ.items() if name != "SERVICE_ENGINE_SOCKET"}
    environment |= engine.variables | {"SERVICE_FLEET": "containers"}
    command = [ROOT / "packaging/local/run.sh"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 1 and "no container engine answers" in done.stderr, done.stdout + done.stderr
