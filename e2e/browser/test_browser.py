"""Runs the *.test.mjs files of this folder and of measured/ with Node's test runner, in a real Chromium.

The files in measured/ are a tier of their own, beside which nothing runs. apps.test.mjs is a tier of its own, too. The tests
in login/ and server/ belong to tiers that start the login chain.
"""

import pathlib
import shutil
import subprocess

import environment
import pytest

HERE = pathlib.Path(__file__).resolve().parent
# Chromium aborts its requests when an address of the host appears or disappears, and tests of engines beside these tests
# add and remove networks. Each file has a network of its own, if the user may create one. With the loopback interface
# only, Chromium would be offline. An interface without an IPv6 address gets no other address later.
NETWORK = """ip link set lo up && ip link add net0 type veth peer net1 && ip address add 192.0.2.1/24 dev net0 &&
for name in net0 net1; do ip link set "$name" addrgenmode none && ip link set "$name" up || exit; done && exec "$@" """
OWN_NETWORK = ["unshare", "--net", "sh", "-c", NETWORK, "sh"]


def own_network():
    may = shutil.which("unshare") and subprocess.run([*OWN_NETWORK, "true"], stderr=subprocess.DEVNULL).returncode == 0
    return OWN_NETWORK if may else []


def files():
    for path in sorted(HERE.glob("*.test.mjs")):
        tier = pytest.mark.apps if path.name == "apps.test.mjs" else pytest.mark.browser
        yield pytest.param(path, id=path.name, marks=tier)
    for path in sorted(HERE.glob("measured/*.test.mjs")):
        yield pytest.param(path, id=f"measured/{path.name}", marks=pytest.mark.measured)


@pytest.mark.parametrize("path", list(files()))
def test_browser(launcher_program, jupyter, browser_packages, path):
    if path.name == "apps.test.mjs":
        environment.apps()
    command = [*own_network(), "node", "--test", "--test-reporter=spec", path]
    done = subprocess.run(command, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout)
    assert done.returncode == 0, f"{path.name} failed: see its output"
