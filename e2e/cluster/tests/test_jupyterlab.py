"""A real JupyterLab in a pod: a cell runs through the sidecar's WebSocket, only for its owner, and again after a crash."""

import contextlib
import http.client

import pytest
from harness import wait_for
from notebook import Notebook, run_cell
from python_app import CRASH_SAFE, END, FILE, kill, until_again
from websockets.exceptions import InvalidStatus, WebSocketException
from world import ALICE, BOB, IMAGES, WORKSHOP_DOMAIN

WORLD = {"SERVICE_MATERIAL_IMAGE": f"{IMAGES}/material:test"}
JUPYTER = {
    "name": "JupyterLab",
    "app_type": "notebook",
    "image": f"{IMAGES}/jupyter:test",
    "port": 8888,
    "args": [],
    "storage": CRASH_SAFE,
    "resources": {"cpu_request": "50m", "cpu_limit": "2", "memory_request": "128Mi", "memory_limit": "1Gi"},
}


def test_notebook_cells_run_for_the_owner_and_again_with_their_files_after_a_crash(world):
    name = world.running(**JUPYTER)
    place = (world.address(name), 80, f"{name}.{WORKSHOP_DOMAIN}")
    alice, bob = Notebook(*place, ALICE), Notebook(*place, BOB)
    kernel = alice.start_kernel()
    with alice.channels(kernel) as channels:
        assert run_cell(channels, "6 * 7") == "42"
        # The app runs as the user that the operator has set, without a token of the cluster.
        assert run_cell(channels, "import os; os.getuid()") == "1000"
        secrets = "/var/run/secrets/kubernetes.io/serviceaccount"
        assert run_cell(channels, f"os.path.exists({secrets!r})") == "False"
        assert run_cell(channels, f"open({FILE!r}, 'w').write('mine')") == "4"
    with pytest.raises(InvalidStatus) as refused:
        bob.channels(kernel)
    assert (refused.value.response.status_code, bob.request("GET", "/lab")[0]) == (403, 403)

    kill(world, name, END)
    until_again(world, name)

    def is_usable():
        # JupyterLab does not answer yet, or its WebSocket ends.
        with contextlib.suppress(OSError, AssertionError, KeyError, WebSocketException, http.client.HTTPException):
            again = Notebook(*place, ALICE)
            with again.channels(again.start_kernel()) as channels:
                return run_cell(channels, f"open({FILE!r}).read()") == "'mine'"

    wait_for("JupyterLab to run a cell", is_usable)
    assert world.instance(name)["state"] == "running"
