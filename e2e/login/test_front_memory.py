"""Tests of the front's memory limit: calculated. live/test_front_attack.py attacks the front."""

import re

import pytest

from chart import RELEASE, ROOT, render
from nginx_conf import blocks, parsed, the

FRONT = f"{RELEASE}-front"
MIB = 1024 * 1024
SOCKET_BUFFER = 32 * 1024
# Maximum kernel memory of a connection in bytes: full send and receive buffers, and 8 KiB for the socket itself.
KERNEL = 2 * SOCKET_BUFFER + 8 * 1024


def front(*changes, kubernetes="1.34"):
    """Renders the front with these changes. Returns (data of the ConfigMap, pod, data of the Secret)."""
    found = render("any", *changes, kubernetes=kubernetes)
    return found.data(FRONT), found.pods["front"], found.data(FRONT, "Secret")


def memory_limit(pod):
    return pod["containers"][0]["resources"]["limits"]["memory"]


def sysctls(pod):
    return {one["name"]: one["value"] for one in pod["securityContext"].get("sysctls", [])}


def budget(configuration):
    """Returns (maximum connections, maximum heap of the nginx worker in bytes)."""
    conf = parsed(configuration["nginx.conf"])
    assert the(conf, "worker_processes") == "1"
    connections = int(the(blocks(conf, "events")[""], "worker_connections"))
    return connections, int(re.search(r"^ulimit -d (\d+) \|\| :$", configuration["start.sh"], re.M)[1]) * 1024


LIMITS = {
    "64Mi": 64 * MIB, "256Mi": 256 * MIB, "1Gi": 1024 * MIB, "1.5Gi": 1536 * MIB, "700M": 700_000_000,
    "800000Ki": 800_000 * 1024, "1G": 10**9, "536870912": 512 * MIB,
}


@pytest.mark.parametrize("limit", LIMITS)
def test_nginx_memory_for_all_connections_fits_the_limit(limit):
    connections, data = budget(front(f"front.resources.limits.memory={limit}")[0])
    rest = LIMITS[limit] - data - connections * KERNEL
    # The limit leaves 8 MiB for nginx's master process and for nginx's code pages.
    assert 8 * MIB <= rest < 8.5 * MIB
    assert data - 8 * MIB == connections * 96 * 1024


def test_default_memory_limit_fits_2000_attackers_and_500_other_connections():
    configuration, pod, _ = front()
    assert memory_limit(pod) == "1Gi"
    connections, data = budget(configuration)
    assert connections > 2 * 2000 + 500
    # The most expensive unfinished head takes 142 KiB, measured. The chart calculates 96 KiB for any other connection.
    assert data > 2000 * 142 * 1024 + 500 * 96 * 1024
    without = front("front.resources.limits=null")[0]
    assert budget(without) == (connections, data)


def test_documented_maximum_connections_match_nginx_configuration():
    rows = re.findall(r"^\| (\w+)(?:, the default)? \| (\d+) \| (\d+) \|$", (ROOT / "docs/front.md").read_text(), re.M)
    assert [limit for limit, _, _ in rows] == ["256Mi", "512Mi", "1Gi"]
    for limit, connections, requests in rows:
        found, _ = budget(front(f"front.resources.limits.memory={limit}")[0])
        assert (int(connections), int(requests)) == (found, found // 2)


def test_nginx_socket_buffers_are_limited_for_clients_and_upstreams():
    configuration, pod, _ = front()
    assert {name: int(value.split()[2]) for name, value in sysctls(pod).items()} == {
        "net.ipv4.tcp_rmem": SOCKET_BUFFER, "net.ipv4.tcp_wmem": SOCKET_BUFFER,
    }
    # The kernel doubles the requested size, so 16k limits a buffer to 32 KiB.
    assert "rcvbuf=16k sndbuf=16k" in configuration["start.sh"]
    for words, kubernetes in (((), "1.31.9"), (("front.boundSocketBuffers=false",), "1.34")):
        assert not sysctls(front(*words, kubernetes=kubernetes)[1])
    assert sysctls(front(kubernetes="v1.32.1-gke.100")[1])
