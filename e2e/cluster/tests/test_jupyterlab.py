"""A real JupyterLab in a pod: a cell runs through the sidecar's WebSocket, and only for its owner."""

import pytest
from notebook import Notebook, run_cell
from websockets.exceptions import InvalidStatus

from world import ALICE, BOB, IMAGES, WORKSHOP_DOMAIN

JUPYTER = {
    "name": "JupyterLab",
    "app_type": "notebook",
    "image": f"{IMAGES}/jupyter:test",
    "port": 8888,
    "args": [],
    "resources": {"cpu_request": "50m", "cpu_limit": "2", "memory_request": "128Mi", "memory_limit": "1Gi"},
}


def test_notebook_cell_runs_over_websocket(world):
    name = world.running(**JUPYTER)
    assert world.visit(name, ALICE, "/api")[0] == 200
    place = (world.address(name), 80, f"{name}.{WORKSHOP_DOMAIN}")
    alice, bob = Notebook(*place, ALICE), Notebook(*place, BOB)
    kernel = alice.start_kernel()
    with alice.channels(kernel) as channels:
        assert run_cell(channels, "6 * 7") == "42"
        # The app runs as the user that the operator has set, without a token of the cluster.
        assert run_cell(channels, "import os; os.getuid()") == "1000"
        secrets = "/var/run/secrets/kubernetes.io/serviceaccount"
        assert run_cell(channels, f"os.path.exists({secrets!r})") == "False"

    with pytest.raises(InvalidStatus) as refused:
        bob.channels(kernel)
    assert refused.value.response.status_code == 403
    assert bob.request("GET", "/lab")[0] == 403
