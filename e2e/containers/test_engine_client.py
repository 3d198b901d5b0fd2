"""The Rust tests of the container fleet and of its client of the engine (crates/launcher-fleet/tests/containers)."""

import os
import subprocess
import sys

import pytest
from harness import ROOT

pytestmark = pytest.mark.podman


def test_fleet_and_client_of_the_engine_pass_their_rust_tests():
    environment = os.environ | {"TEST_ENGINE_SOCKET": os.environ["SERVER_SOCKET"]}
    # This test is the one that the runner knows and repeats.
    environment.pop("TEST_RECORD", None)
    command = [sys.executable, ROOT / "e2e/rust_tests.py", "run", "launcher-fleet:containers"]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout)
    assert done.returncode == 0, "tests of launcher-fleet:containers failed, see their output"
