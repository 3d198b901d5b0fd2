"""Probes of the network: hosts, ports, identities, names, and the rules of the network itself."""

import concurrent.futures
import contextlib
import ctypes
import fcntl
import http.client
import ipaddress
import os
import pathlib
import socket
import struct

from attack import Refused, refuse

# Seconds that a probe waits for an answer, and for each of many addresses.
SECONDS, SECONDS_OF_MANY = 3, 1
# The same for a probe that must succeed, also on a busy machine.
PATIENCE = 60
IP_OPTIONS, IP_TRANSPARENT, SO_BINDTODEVICE, SO_MARK = 4, 19, 25, 36
SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCADDRT, SIOCDELRT = 0x8913, 0x8914, 0x890B, 0x890C
NETLINK_NETFILTER, NFNL_SUBSYS_NFTABLES, NFT_MSG_GETGEN, NLM_F_REQUEST, NLM_F_ACK, NLMSG_ERROR = 12, 10, 16, 1, 4, 2
TCP_LISTEN = "0A"
# An address for which `add_route` adds a route.
UNUSED = "192.0.0.9"
# The engine's name server for containers. It belongs to the engine, and runs in the network namespace of the workshop.
ENGINE_NAMES = "127.0.0.11"


def tcp(host, port):
    with socket.create_connection((host, int(port)), SECONDS) as connection:
        return f"connected to {connection.getpeername()[0]} port {port}"


def http_as(host, port, email, path="/api/v1/instances/", name="localhost"):
    """Sends an HTTP request with a forged identity, and gains its answer if the status is 200. `name` is the host of
    the URL: the launcher answers only for its own, and for those of workshops."""
    connection = http.client.HTTPConnection(host, int(port), timeout=SECONDS)
    with contextlib.closing(connection):
        connection.request("GET", path, headers={"Host": name, "X-Auth-Request-Email": email})
        response = connection.getresponse()
        if response.status != 200:
            raise Refused(f"status {response.status}")
        return response.read(200)


def unix_http_as(path, email, name):
    connection = http.client.HTTPConnection("unix", timeout=SECONDS)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(SECONDS)
    with contextlib.closing(connection.sock):
        connection.sock.connect(path)
        connection.request("GET", "/", headers={"Host": name, "X-Auth-Request-Email": email})
        response = connection.getresponse()
        if response.status != 200:
            raise Refused(f"status {response.status}")
        return response.read(200)


def udp(host, port):
    """Sends a datagram and waits for the echo."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sender:
        sender.settimeout(SECONDS)
        sender.connect((host, int(port)))
        sender.send(b"attack")
        return f"echo {sender.recv(100)}"


def icmp(host):
    is_v6 = ":" in host
    protocol = socket.IPPROTO_ICMPV6 if is_v6 else socket.IPPROTO_ICMP
    with socket.socket(socket.AF_INET6 if is_v6 else socket.AF_INET, socket.SOCK_DGRAM, protocol) as sender:
        sender.settimeout(SECONDS)
        address = socket.getaddrinfo(host, 0)[0][4]
        sender.sendto(struct.pack("!BBHHH", 128 if is_v6 else 8, 0, 0, 1, 1) + b"attack", address)
        return f"echo from {sender.recvfrom(100)[1][0]}"


def dns(server, name="internet.example"):
    """Asks a name server for the address of a name, over UDP."""
    labels = b"".join(bytes([len(each)]) + each.encode() for each in name.split("."))
    return question(server, labels + b"\0", 1)


def question(server, name, kind):
    """Sends a DNS query. Returns the answer; Refused without a record in it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.settimeout(SECONDS)
        sender.connect((server, 53))
        sender.send(struct.pack("!HHHHHH", 7, 0x0100, 1, 0, 0, 0) + name + struct.pack("!HH", kind, 1))
        answer = sender.recv(1500)
    if struct.unpack("!H", answer[6:8])[0] == 0:
        raise Refused("no record")
    return answer[12 + len(name) + 4:]


def neighbours(own, port):
    """Opens TCP connections to all addresses beside the own one, and gains those that accept."""
    targets = [str(each) for each in ipaddress.ip_network(f"{own}/24", strict=False).hosts() if str(each) != own]
    with concurrent.futures.ThreadPoolExecutor(100) as threads:
        reached = [each for each, found in zip(targets, threads.map(lambda host: accepts(host, port), targets)) if found]
    return reached or refuse(f"none of {len(targets)} addresses accepts")


def accepts(host, port):
    with contextlib.suppress(OSError), socket.create_connection((host, int(port)), SECONDS_OF_MANY):
        return True
    return False


def neighbour_names(own, server=ENGINE_NAMES):
    """Asks the engine's name server for the names of the addresses beside the own one, and gains those of others."""
    found = []
    for each in list(ipaddress.ip_network(f"{own}/26", strict=False).hosts()):
        if str(each) == own:
            continue
        labels = each.reverse_pointer.split(".")
        name = b"".join(bytes([len(label)]) + label.encode() for label in labels) + b"\0"
        with contextlib.suppress(Refused):
            found.append(f"{each}: {question(server, name, 12)}")
    return found or refuse("no address beside this one has a name")


def bound_to_device(host, port, device="eth0"):
    with socket.socket() as sender:
        sender.settimeout(SECONDS)
        sender.setsockopt(socket.SOL_SOCKET, SO_BINDTODEVICE, device.encode() + b"\0")
        sender.connect((host, int(port)))
        return f"connected by {device}"


def mapped(host, port):
    """Opens a TCP connection to the IPv4 address by its IPv6 form."""
    with socket.socket(socket.AF_INET6) as sender:
        sender.settimeout(SECONDS)
        sender.connect((f"::ffff:{host}", int(port)))
        return f"connected to {sender.getpeername()[0]}"


def source_route(host, port, via):
    """Opens a TCP connection along a loose source route: the first packet's destination is `via`."""
    with socket.socket() as sender:
        sender.settimeout(SECONDS)
        route = struct.pack("!BBB", 131, 11, 4) + socket.inet_aton(via) + socket.inet_aton(host) + b"\0"
        sender.setsockopt(socket.IPPROTO_IP, IP_OPTIONS, route)
        sender.connect((host, int(port)))
        return "connected by a source route"


def socket_option(name):
    """Sets an option that lets a socket use foreign addresses or marks."""
    options = {"transparent": (socket.IPPROTO_IP, IP_TRANSPARENT), "mark": (socket.SOL_SOCKET, SO_MARK)}
    with socket.socket() as made:
        made.setsockopt(*options[name], 1)
        return f"option {name} is set"


def open_socket(family, kind="SOCK_RAW", protocol="0"):
    with socket.socket(getattr(socket, family), getattr(socket, kind), int(protocol)):
        return f"{family} {kind} is open"


def interface_flags(device="lo"):
    with socket.socket() as made:
        request = fcntl.ioctl(made, SIOCGIFFLAGS, struct.pack("16sh14x", device.encode(), 0))
        fcntl.ioctl(made, SIOCSIFFLAGS, request)
        return f"flags of {device} are written"


def add_route():
    metadata, zero = (struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(each)) for each in (UNUSED, "0.0.0.0"))
    device = ctypes.create_string_buffer(b"lo")
    # struct rtentry on 64-bit machines: padding, destination, gateway, mask, flags (up, host), padding, device, …
    entry = struct.pack("=Q16s16s16sH6xQB7xh6xQQQQ", 0, metadata, zero, zero, 5, 0, 0, 0, ctypes.addressof(device), 0, 0, 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        fcntl.ioctl(made, SIOCADDRT, entry)
        fcntl.ioctl(made, SIOCDELRT, entry)
        return "a route is added"


def firewall():
    """Asks for the generation of the nftables rules, which needs the same right as changing them."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER) as made:
        made.settimeout(SECONDS)
        kind = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETGEN
        made.send(struct.pack("=IHHII", 20, kind, NLM_F_REQUEST | NLM_F_ACK, 1, 0) + b"\0\0\0\0")
        answer = made.recv(4096)
        if struct.unpack("=H", answer[4:6])[0] == NLMSG_ERROR:
            status = -struct.unpack("=i", answer[16:20])[0]
            if status:
                raise OSError(status, os.strerror(status))
        return "the rules can be changed"


def listeners():
    """Gains the listening TCP ports of this network namespace that no visible process has: those of the sidecar."""
    own = set()
    for link in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            own.add(os.readlink(link))
    found = []
    for family in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/net/{family}").read_text().splitlines()[1:]:
            words = line.split()
            address, port = words[1].split(":")
            host = socket.inet_ntoa(bytes.fromhex(address)[::-1]) if family == "tcp" else address
            if words[3] == TCP_LISTEN and f"socket:[{words[9]}]" not in own and host != ENGINE_NAMES:
                found.append(f"{host} port {int(port, 16)}")
    return found or refuse("no foreign port listens here")


def abstract_sockets():
    """Gains the names of abstract Unix sockets, which have no permissions."""
    lines = pathlib.Path("/proc/net/unix").read_text().splitlines()[1:]
    return [line for line in lines if " @" in line] or refuse("there is no abstract socket")


def broadcast(address, port):
    """Sends a datagram to a broadcast or multicast address, and waits for any answer."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.settimeout(SECONDS)
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        sender.sendto(b"attack", (address, int(port)))
        return f"answer from {sender.recvfrom(100)[1]}"
