"""Kept files after the loss of a real node: its processes are killed, as by a power cut, while a workshop runs on it."""

import os
import subprocess
import uuid

import pytest
from harness import ROOT
from local_volumes import local_volumes
from test_storage import FILE, PYTHON, STORAGE, assert_next_workshop_has_the_file, run
from world import ALICE, World, assert_nothing_was_forbidden

CLASS = f"lost-{uuid.uuid4().hex[:8]}"
TAINT = "second-node"
SETTINGS = {
    "SERVICE_POD_TEMPLATE_ALLOW": f"toleration/{TAINT}",
    "SERVICE_STORAGE_CLASS": CLASS,
    "SERVICE_START_TIMEOUT": "120",
}
# Writes the file to the disk before it returns.
WRITE = f"""
import os
with open('{FILE}', 'w') as file:
    file.write('kept')
    file.flush()
    os.fsync(file.fileno())
"""


def second_node(action):
    subprocess.run([ROOT / "e2e/cluster/second-node.sh", action], check=True, timeout=120)


@pytest.fixture
def world():
    with World("lost-node", processes=False) as made:
        made.launcher, made.operator = made.new_launcher(**SETTINGS), made.new_operator(**SETTINGS)
        made.launcher.start()
        made.operator.start()
        yield made


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


def test_files_are_in_the_next_workshop_on_another_node(world, node):
    there = {"nodeSelector": {"kubernetes.io/hostname": node}, "tolerations": [{"key": TAINT, "operator": "Exists"}]}
    with local_volumes(world, CLASS, 1):
        template = world.template(storage=STORAGE, pod_template={"spec": there}, **PYTHON)
        first = world.launch(template, ALICE)
        before = world.until(first, "running")
        assert world.pod(first)["spec"]["nodeName"] == node
        run(world, first, WRITE)
        second_node("lose")
        # The deletion of the node declares the machine gone, as an administrator or the cloud does.
        world.kubectl("delete", "node", node)
        lost = world.until(first, "failed", seconds=180)["reason"]
        assert lost["code"] == "node-lost", lost
        assert lost["remedy"].startswith("The saved files of this workshop are kept."), lost

        status, _, body = world.launcher.request("PATCH", f"/templates/{template}", body={"pod_template": None})
        assert status == 200, (status, body)
        assert assert_next_workshop_has_the_file(world, template, before["volume"]) != node
    assert_nothing_was_forbidden(world)
