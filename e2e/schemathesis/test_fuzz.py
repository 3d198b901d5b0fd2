"""Fuzzes a running launcher with Schemathesis and the launcher's OpenAPI document, as a user and as an admin.

The environment variable FUZZ_SEED sets the random seed. FUZZ_EXAMPLES sets the number of cases per operation and phase. A
user gets fewer cases than an admin, who reaches more operations: the access matrix has the status of each kind of user.

A fuzzed template may contain any command, and the local fleet runs the command. The launcher's PATH therefore contains
only python3, which the seeded template needs. A fuzzed command with a slash ignores PATH: it could cause harm only if
it were the exact path of a program on this machine.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from harness import Launcher, seed_of

pytestmark = pytest.mark.schemathesis
HERE = pathlib.Path(__file__).resolve().parent
# Number of cases per operation and phase, by user.
EXAMPLES = {"alice": 3, "admin": 8}
TEMPLATE = {
    "name": "Seeded",
    "app_type": "custom",
    "image": "docker.io/library/python:3.13-alpine",
    "port": 8000,
    "command": ["python3", "-m", "http.server", "$(PORT)", "--bind", "127.0.0.1"],
    # The shortest allowed lifetime. It keeps the number of live instances low, because admins have no instance limit.
    "lifetime_seconds": 60,
    "extension_seconds": 60,
}


def programs(directory):
    """Creates a directory that contains only python3. Returns the directory as a PATH."""
    directory.mkdir()
    directory.joinpath("python3").symlink_to(sys.executable)
    return str(directory)


def create_template(launcher):
    status, _, body = launcher.request("POST", "/templates/", body=TEMPLATE)
    assert status == 201, (status, body)
    return body["template_id"]


def configuration(directory, user):
    """Writes a copy of schemathesis.toml with the identity of this user. Returns the path of the copy."""
    text = HERE.joinpath("schemathesis.toml").read_text()
    users = f'\n[auth.wfc]\npath = "{HERE / "users.json"}"\nuser = "{user}"\npeers = ["alice", "bob"]\n'
    path = directory / f"{user}.toml"
    path.write_text(text + users)
    return path


def document(launcher, directory):
    """Downloads the OpenAPI document, because reading it requires an identity. Returns the path of the file."""
    status, _, body = launcher.request("GET", "/openapi.json")
    assert status == 200, (status, body)
    path = directory / "openapi.json"
    path.write_text(json.dumps(body))
    return path


@pytest.fixture
def launcher(launcher_program, tmp_path):
    made = Launcher(
        PATH=programs(tmp_path / "bin"),
        SERVICE_LOCAL_JUPYTER="no-jupyter-here",
        SERVICE_LOCAL_RSTUDIO="no-rstudio-here",
        SERVICE_MAX_INSTANCES_PER_USER="2",
        SERVICE_MAX_CONCURRENT_STARTS="2",
        # Practically unlimited: Schemathesis reports a refusal by the rate limit as an error.
        SERVICE_LAUNCH_RATE="60000",
        SERVICE_LAUNCH_BURST="60000",
        # Large enough for all launches: a full queue answers 503, which Schemathesis reports as an error.
        SERVICE_MAX_QUEUED="1000",
        SERVICE_LOG="warn",
    )
    with made:
        made.start()
        create_template(made)
        yield made
        print(made.log_tail())


@pytest.mark.parametrize("user", EXAMPLES)
def test_every_answer_agrees_with_the_description(launcher, tmp_path, user):
    command = [
        pathlib.Path(sys.executable).with_name("st"),
        "--config-file",
        configuration(tmp_path, user),
        "run",
        document(launcher, tmp_path),
        f"--origin=http://127.0.0.1:{launcher.port}",
        f"--seed={seed_of('FUZZ_SEED')}",
        f"--max-examples={os.environ.get('FUZZ_EXAMPLES') or EXAMPLES[user]}",
        "--no-color",
    ]
    done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout)
    assert done.returncode == 0, "schemathesis found failures: see its output"
    assert launcher.process.poll() is None, "the launcher terminated during the fuzzing"
    launcher.stop()
    assert not launcher.workshop_processes(), "workshop processes remain after the stop"
