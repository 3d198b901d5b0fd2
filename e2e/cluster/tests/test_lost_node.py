"""A workshop with kept files after the loss of a real node: the processes of the node are killed, as by a power cut."""

import contextlib
import os
import subprocess
import uuid

import pytest
from harness import ROOT, wait_for
from local_volumes import local_volumes
from python_app import KEPT, PYTHON, read, write
from world import ALICE

CLASS = f"lost-{uuid.uuid4().hex[:8]}"
TAINT = "second-node"
ALLOW = {"SERVICE_POD_TEMPLATE_ALLOW": f"toleration/{TAINT}"}
WORLD = {"launcher": ALLOW, "SERVICE_STORAGE_CLASS": CLASS, "SERVICE_START_TIMEOUT": "600", **ALLOW}


def second_node(action):
    subprocess.run([ROOT / "e2e/cluster/second-node.sh", action], check=True, timeout=600)


@pytest.fixture
def node():
    """Name of a second node. Its taint keeps all other pods away."""
    if "TEST_KUBECONFIG" in os.environ:
        pytest.skip("the cluster of TEST_KUBECONFIG has no node that a test may kill")
    try:
        second_node("start")
        yield "node2"
    finally:
        second_node("remove")


@contextlib.contextmanager
def labelled(world, node):
    """Gives a node the label that the test's workshops require."""
    world.kubectl("label", "node", node, f"{CLASS}=here")
    try:
        yield
    finally:
        # A deleted node has no labels any more.
        world.kubectl("label", "node", node, f"{CLASS}-", check=False)


def test_workshop_continues_with_its_files_on_another_node(world, node):
    nodes = world.jsonpath("nodes", "{.items[*].metadata.name}").split()
    other = next(name for name in nodes if name != node)
    there = {"nodeSelector": {CLASS: "here"}, "tolerations": [{"key": TAINT, "operator": "Exists"}]}
    with local_volumes(world, CLASS, 1), labelled(world, node):
        name = world.launch(world.template(storage=KEPT, pod_template={"spec": there}, **PYTHON), ALICE)
        before, pod = world.until(name, "running"), world.pod(name)
        assert pod["spec"]["nodeName"] == node
        write(world, name, "kept")
        second_node("lose")
        with labelled(world, other):
            # The deletion of the node declares the machine gone, as an administrator or the cloud does.
            world.kubectl("delete", "node", node)
            after = wait_for("the row to have the disruption", lambda: (row := world.instance(name))["last_crash"] and row)
            world.until_other_pod(name, pod["metadata"]["uid"])
            assert (after["url"], after["expires_at"]) == (before["url"], before["expires_at"])
            assert (after["last_crash"]["code"], after["last_crash"]["files_lost"]) == ("node-lost", False), after
            assert (world.pod(name)["spec"]["nodeName"], read(world, name)) == (other, "kept")
    world.assert_nothing_was_forbidden()
