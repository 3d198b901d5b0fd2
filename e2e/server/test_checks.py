"""The checks of DNS and ports before the start, with a fake engine and fake DNS records."""

import contextlib
import random
import re
import socket

import pytest

from conftest import LOCAL
from fake_engine import FakeEngine
from fake_network import FakeNetwork

SERVER, OTHER = "198.51.100.7", "192.0.2.9"
BOTH = {"launcher.example.org": [SERVER], "*.workshops.example.net": [SERVER]}
# The number of ports from --local-port on.
LOCAL_PORTS = 6


@pytest.fixture
def engine(tmp_path):
    engine = FakeEngine(tmp_path / "engine", "docker")
    engine.socket("engine.sock")
    return engine


@pytest.fixture
def network(engine):
    network = FakeNetwork(engine)
    network.set_addresses(SERVER)
    return network


def install(engine, home, *words, variables=None):
    """Runs setup. Returns its output. The last step that the fake engine permits is the start."""
    skipped = [word for check in ("memory", "provider", "kernel") for word in ("--skip", check)]
    socket_flag = ("--engine-socket", engine.folder / "engine.sock")
    return engine.run(home, *LOCAL, "--data-dir", home.data, *socket_flag, *skipped, *words, variables=variables)


# DNS


@pytest.fixture
def warnings(engine, home, network):
    """A function that runs setup with these records, and returns its warnings about DNS."""

    def run(records, *words):
        network.set_records(records)
        told = install(engine, home, "--skip", "ports", *words, variables=network.variables)
        assert "the fake engine starts nothing" in told, told
        return re.findall(r"^warning: (.*(?:leads to|no address).*)$", told, re.MULTILINE)

    return run


@pytest.mark.parametrize("addresses", [[SERVER], [OTHER, SERVER]], ids=["one", "several"])
def test_records_with_address_of_server_are_accepted(warnings, addresses):
    assert warnings(dict.fromkeys(BOTH, addresses)) == []


@pytest.mark.parametrize("name", BOTH)
def test_missing_record_is_warning(warnings, name):
    found = warnings({other: addresses for other, addresses in BOTH.items() if other != name})
    assert len(found) == 1
    assert found[0].startswith(f"the name {name} has no address. Create a DNS record of type A for {name}")


def test_record_of_one_workshop_is_no_wildcard(warnings):
    found = warnings({"launcher.example.org": [SERVER], "login.workshops.example.net": [SERVER]})
    assert [text.split(" has ")[0] for text in found] == ["the name *.workshops.example.net"]


@pytest.mark.parametrize("name", BOTH)
def test_record_with_address_of_another_server_is_warning(warnings, name):
    found = warnings(BOTH | {name: [OTHER]})
    assert len(found) == 1
    assert found[0].startswith(f"{name} leads to {OTHER}, and this server has the addresses {SERVER}.")
    assert "only if a router or load balancer forwards the ports" in found[0]


@pytest.mark.parametrize("output", ["", "[]", "no JSON"])
def test_unknown_addresses_of_server_are_no_warning(warnings, network, output):
    network.set_output(output)
    assert warnings(BOTH) == []
    assert "has no address" in warnings({})[0]


def test_address_that_others_cannot_reach_is_ignored(warnings, network):
    network.set_addresses(OTHER, scope="link")
    assert warnings(dict.fromkeys(BOTH, [SERVER])) == []


def test_dns_is_not_checked_on_request(warnings):
    assert warnings({}, "--skip", "dns") == []


def test_doctor_warns_of_missing_record(engine, home, network):
    home.install()
    network.set_records({"launcher.example.org": [SERVER]})
    told = engine.run(home, "doctor", variables=network.variables)
    assert re.search(r"^warn  DNS +the name \*\.workshops\.example\.net has no address", told, re.MULTILINE)


# Ports


def listener(port, address="127.0.0.1"):
    """Returns a socket that listens on the port, as another program would."""
    return contextlib.closing(socket.create_server((address, port)))


def free_ports(count):
    """Returns the first of consecutive free ports."""
    while True:
        first = random.randrange(20_000, 30_000)
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in range(first, first + count):
                stack.enter_context(listener(port, ""))
            return first


@pytest.fixture
def ports():
    """Free ports, by flag."""
    first = free_ports(2 + LOCAL_PORTS)
    return {"--http-port": first, "--https-port": first + 1, "--local-port": first + 2}


@pytest.fixture
def start(engine, home, ports):
    """A function that runs setup on the free ports, and returns its output."""
    flags = [str(word) for pair in ports.items() for word in pair]
    return lambda *words: install(engine, home, "--skip", "dns", *flags, *words)


def test_free_ports_are_accepted(start):
    assert "the fake engine starts nothing" in start()


@pytest.mark.parametrize("address", ["127.0.0.1", ""], ids=["loopback", "all addresses"])
@pytest.mark.parametrize(
    ("flag", "offset"), [("--http-port", 0), ("--https-port", 0), ("--local-port", 0), ("--local-port", LOCAL_PORTS - 1)]
)
def test_port_of_another_program_is_refused(engine, home, start, ports, flag, offset, address):
    port = ports[flag] + offset
    with listener(port, address):
        told = start()
    assert f"error: another program uses port {port}. Find it with: ss -ltnp 'sport = :{port}'" in told
    assert f"choose another port with {flag}" in told
    assert not home.root.exists() and not [call for call in engine.calls_of("docker") if " up " in call]
    assert "the fake engine starts nothing" in start()


def test_port_with_closing_connection_is_accepted(start, ports):
    with listener(ports["--https-port"]) as server, socket.create_connection(server.getsockname()) as client:
        # The side that closes first keeps the port in the state TIME-WAIT.
        server.accept()[0].close()
        assert client.recv(1) == b""
    assert "the fake engine starts nothing" in start()


def test_ports_are_not_checked_on_request(start, ports):
    with listener(ports["--https-port"]):
        assert "the fake engine starts nothing" in start("--skip", "ports")


def test_ports_of_running_installation_are_not_checked(engine, start, ports):
    engine.containers.write_text("1\n")
    with listener(ports["--https-port"]):
        assert "the fake engine starts nothing" in start()
