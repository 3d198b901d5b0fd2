"""The fleet on Kubernetes follows the contract of all fleets, on a real API server and with a real operator."""

import subprocess

from harness import PROGRAM
from world import IMAGES, World

CONTRACT = PROGRAM.with_name("kubernetes-contract")
# This world has no launcher, because a launcher would delete Workshops without a row.
WORLD = {"processes": False}


def test_kubernetes_fleet_follows_fleet_contract(world):
    world.new_operator().start()
    with World("other-fleet", processes=False) as other:
        # The contract tests two namespaces, with the permissions of the launcher's service account in each.
        kubeconfigs = [place.kubeconfig("workshop-launcher") for place in (world, other)]
        command = [CONTRACT, *kubeconfigs, f"{IMAGES}/http:test"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
