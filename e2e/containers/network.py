"""The network of the test server: interfaces, routes, name server. Runs inside the server's namespaces."""

import contextlib
import ctypes
import pathlib
import subprocess
import sys

from harness import wait_for

# Addresses are from ranges for documentation, or private. Those of the server: towards the internet, and in the private
# network.
HOST = "192.0.2.2"
HOST_PRIVATE = "10.99.0.2"
HOST_V6 = "2001:db8:2::2"
# The next hop of the server's default routes.
GATEWAY = "192.0.2.1"
GATEWAY_V6 = "2001:db8:2::1"

# A host in the internet. Workshops may connect to it.
INTERNET = "198.51.100.10"
INTERNET_V6 = "2001:db8:99::10"
INTERNET_NAME = "internet.example"

# The name server of /etc/resolv.conf. It is in the private network, as in most data centres.
NAME_SERVER = "10.99.0.53"
METADATA = "169.254.169.254"
METADATA_V6 = "fd00:ec2::254"

# TCP ports on which each of the hosts above answers HTTP requests. 53 also answers DNS over UDP.
HTTP_PORTS = (53, 80)
# A UDP port on which each of the hosts above returns what it receives.
ECHO_PORT = 9999

# Addresses that the network around the server has, with the prefix length on its interface.
SURROUNDINGS = (
    f"{GATEWAY}/24", f"{GATEWAY_V6}/64", f"{INTERNET}/32", f"{INTERNET_V6}/128", f"{NAME_SERVER}/32", f"{METADATA}/32",
    f"{METADATA_V6}/128", "10.99.0.1/16",
)

INTERFACE = "wan0"
CLONE_NEWNET = 0x40000000
ROUTES = f"""
link set lo up
address add {HOST}/24 dev {INTERFACE}
address add {HOST_PRIVATE}/16 dev {INTERFACE}
address add {HOST_V6}/64 dev {INTERFACE} nodad
link set {INTERFACE} up
route add default via {GATEWAY}
route add {METADATA} dev {INTERFACE}
route add ::/0 via {GATEWAY_V6}
"""


# Settings of a careless server: they permit source routes, which attackers use, and ICMP without privileges. The last one
# is what setup writes for Podman: its bridge announces its new MAC address.
SETTINGS = {"conf/all/accept_source_route": "1", "ping_group_range": "0 2147483647", "conf/all/arp_notify": "1"}


def ip(batch):
    """Runs the lines with `ip -batch`."""
    subprocess.run(["ip", "-batch", "-"], input=batch, text=True, check=True)


def set_up(place):
    """Starts the surroundings and connects the server with them. Their log is `surroundings.log`, and `surroundings.pid` has
    the id of a process in their network."""
    resolv = place / "resolv.conf"
    resolv.write_text(f"nameserver {NAME_SERVER}\n")
    subprocess.run(["mount", "--bind", resolv, pathlib.Path("/etc/resolv.conf").resolve()], check=True)
    log = place / "surroundings.log"
    program = pathlib.Path(__file__).with_name("surroundings.py")
    with log.open("w") as output:
        process = subprocess.Popen(["unshare", "--net", sys.executable, program], stdout=output, stderr=output)
    (place / "surroundings.pid").write_text(str(process.pid))
    wait_for("the network namespace of the surroundings", lambda: has_own_network(process.pid))
    ip(f"link add {INTERFACE} type veth peer name {INTERFACE} netns {process.pid}\n{ROUTES}")
    apply_settings()
    wait_for("the surroundings to listen", lambda: "ready" in log.read_text())


@contextlib.contextmanager
def in_surroundings(place):
    """Sockets that this thread creates in the block are in the network of the surroundings."""
    pid = (place / "surroundings.pid").read_text()
    with open("/proc/thread-self/ns/net") as own, open(f"/proc/{pid}/ns/net") as other:
        enter(other)
        try:
            yield
        finally:
            enter(own)


def enter(network):
    """Moves this thread into another network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(network.fileno(), CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns failed")


def apply_settings():
    """Applies SETTINGS to the network namespace of this process."""
    for name, value in SETTINGS.items():
        pathlib.Path("/proc/sys/net/ipv4", name).write_text(value)


def has_own_network(pid):
    own, other = (pathlib.Path(f"/proc/{each}/ns/net").readlink() for each in ("self", pid))
    return own != other
