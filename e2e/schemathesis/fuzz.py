#!/usr/bin/env python3
"""Fuzzes a running launcher with Schemathesis and the launcher's OpenAPI document, as a user and as an admin.

The environment variable FUZZ_SEED sets the random seed. FUZZ_EXAMPLES sets the number of cases per operation and phase.

A fuzzed template may contain any command, and the local fleet runs the command. The launcher's PATH therefore contains
only python3, which the seeded template needs. A fuzzed command with a slash ignores PATH: it could cause harm only if
it were the exact path of a program on this machine.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import Launcher

HERE = pathlib.Path(__file__).resolve().parent
IDENTITIES = ("alice", "admin")
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


def fuzz(launcher, directory, user, seed):
    """Runs Schemathesis as this user. Returns True if all checks passed."""
    print(f"\nschemathesis as {user}: FUZZ_SEED={seed}", flush=True)
    return (
        subprocess.run(
            [
                pathlib.Path(sys.executable).parent / "st",
                "--config-file",
                configuration(directory, user),
                "run",
                document(launcher, directory),
                f"--origin=http://127.0.0.1:{launcher.port}",
                f"--seed={seed}",
                f"--max-examples={os.environ.get('FUZZ_EXAMPLES') or 40}",
                "--no-color",
            ],
            cwd=directory,
        ).returncode
        == 0
    )


def main():
    seed = int(os.environ.get("FUZZ_SEED") or random.randrange(2**32))
    with tempfile.TemporaryDirectory(prefix="launcher-fuzz-") as path:
        directory = pathlib.Path(path)
        bin_directory = directory / "bin"
        bin_directory.mkdir()
        launcher = Launcher(
            PATH=programs(bin_directory),
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
        with launcher:
            launcher.start()
            create_template(launcher)
            held = [fuzz(launcher, directory, user, seed) for user in IDENTITIES]
            assert launcher.process.poll() is None, "the launcher terminated during the fuzzing"
            launcher.stop()
            assert not launcher.workshop_processes(), "workshop processes remain after the stop"
    sys.exit(0 if all(held) else "schemathesis found failures: see above")


if __name__ == "__main__":
    main()
