"""One server, for real: login, forged identities, repeated setup, upgrade, backup and restore.

The tests run in this order, on one server.
"""

import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
import tempfile

import pytest

from harness import ROOT, wait_for
from machine import ADMIN, ALICE, BOB, LAUNCHER
from test_browser import NAMESPACE, OUTSIDE, isolated_network
from test_edge_proxy import FORGERIES, ask

# Addresses of the server, as workshops would try them.
PORTS = (443, 8700, 8701, 8702, 8703, 8704, 8705)


@pytest.fixture(scope="module")
def alice(machine):
    return machine.signed_in(ALICE)


@pytest.fixture(scope="module")
def bob(machine):
    return machine.signed_in(BOB)


@pytest.fixture(scope="module")
def echo(machine, alice):
    """Alice's workshop, whose app echoes requests: (name, url)."""
    name, url = machine.launched(alice)
    assert machine.opened(alice, ALICE, url).status == 200
    return name, url


def test_students_and_teacher_log_in(machine, alice, bob):
    assert machine.me(alice)["email"] == ALICE
    assert machine.me(bob)["email"] == BOB
    assert not machine.me(alice)["is_admin"]
    seen = machine.me(machine.signed_in(ADMIN))
    assert (seen["email"], seen["is_admin"]) == (ADMIN, True)


def test_wrong_password_is_refused(machine):
    visitor = machine.visitor()
    assert visitor.log_in(f"{LAUNCHER}/", ALICE, machine.passwords[BOB]).is_login_form
    assert machine.me(visitor) == 401


def test_owner_opens_workshop_and_others_do_not(machine, echo, alice, bob):
    name, url = echo
    seen = json.loads(machine.opened(alice, ALICE, url).body)
    assert seen["app"] == "http"
    lower = {key.lower() for key in seen["headers"]}
    assert "x-auth-request-proof" not in lower, "the app sees the proxy secret"
    assert machine.opened(bob, BOB, url).status == 403
    answer = bob.request("GET", f"{LAUNCHER}/api/v1/instances/{name}", {"Accept": "application/json"})
    assert answer.status == 404


@pytest.mark.parametrize("forgery", FORGERIES)
def test_forged_identity_is_refused(machine, echo, bob, forgery):
    host = echo[1].split("/")[2]
    stranger = machine.visitor()
    assert ask(stranger, "launcher.test", "/api/v1/me", FORGERIES[forgery])[0] in (400, 401)
    status, body = ask(stranger, host, "/", FORGERIES[forgery])
    assert status in (302, 400, 401) and '"app"' not in body, (status, body)
    status, body = ask(bob, "launcher.test", "/api/v1/me", FORGERIES[forgery])
    assert status in (200, 400, 401), (status, body)
    if status == 200:
        assert (json.loads(body)["email"], json.loads(body)["is_admin"]) == (BOB, False)
    status, body = ask(bob, host, "/", [line.replace(ADMIN, ALICE) for line in FORGERIES[forgery]])
    assert status in (400, 401, 403) and '"app"' not in body, "Bob reached Alice's workshop"
    for path in ("/signed-out", "/signed-out/../api/v1/me", "/dex/../api/v1/me", "/dex%2f..%2fapi/v1/me", "/oauth2/../api/v1/me"):
        assert ADMIN not in ask(bob, "launcher.test", path, FORGERIES[forgery])[1], path


def test_programs_listen_only_where_they_should():
    listening = set()
    for family in ("tcp", "tcp6"):
        for line in open(f"/proc/net/{family}").read().splitlines()[1:]:
            address, state = line.split()[1], line.split()[3]
            host, port = address.split(":")
            if state == "0A" and int(port, 16) in (80, *PORTS):
                listening.add((int(port, 16), host in ("0100007F", "00000000000000000000000001000000")))
    assert {port for port, loopback in listening if not loopback} == {80, 443}
    assert {port for port, loopback in listening if loopback} == set(PORTS) - {443}


def test_local_program_cannot_forge_identity():
    connection = http.client.HTTPConnection("127.0.0.1", 8700, timeout=10)
    connection.request("GET", "/api/v1/me", headers={"Host": "launcher.test", "X-Auth-Request-Email": ADMIN})
    assert connection.getresponse().status == 401


def test_workshop_reaches_no_port_of_server(machine, echo):
    container = machine.app_container(echo[0])
    routed = json.loads(subprocess.run(["ip", "-json", "address"], capture_output=True, check=True).stdout)
    addresses = [one["local"] for link in routed for one in link["addr_info"] if one["family"] == "inet"]
    assert len(addresses) > 2
    for address in addresses:
        for port in (443, 8700, 8702):
            told = machine.command("exec", container, "/app", "connect", f"{address}:{port}", check=False)
            assert "no connection" in told, f"{address}:{port}: {told}"


def test_plain_http_is_redirected(machine):
    connection = http.client.HTTPConnection("127.0.0.1", 80, timeout=10)
    connection.request("GET", "/launch/x?a=b", headers={"Host": "launcher.test"})
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Location"]) in ((301, f"{LAUNCHER}/launch/x?a=b"), (308, f"{LAUNCHER}/launch/x?a=b"))


def test_unknown_host_gets_no_certificate():
    context = ssl._create_unverified_context()
    with socket.create_connection(("127.0.0.1", 443), timeout=10) as plain, pytest.raises(ssl.SSLError):
        context.wrap_socket(plain, server_hostname="attacker.example")


def test_second_setup_restarts_nothing(machine):
    before = machine.containers()
    assert set(before) == {"traefik", "login", "workshops-login", "dex", "launcher"}
    told = machine.run()
    assert "all files" in told and "a login works" in told
    assert machine.containers() == before


def test_new_account_restarts_only_dex(machine):
    before = machine.containers()
    (machine.place / "late.csv").write_text("email\ncarla@example.org\n")
    machine.run("accounts", "late.csv", "--sheet", "late.html")
    after = machine.containers()
    assert {name for name in after if after[name] != before[name]} == {"dex"}


def test_doctor_finds_no_fault(machine):
    words = [ROOT / "deploy/server/setup", "doctor", "--directory", machine.root]
    told = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120).stdout
    own, _, _ = told.partition("launcher doctor")
    assert "0 FAIL" in own, told
    for line in ("containers", "sign-in", "forged headers", "readiness"):
        assert f"ok    {line}" in own, told


def test_login_works_in_browser(machine):
    passwords = {f"PASSWORD_{email.split('@')[0].upper()}": machine.passwords[email] for email in (ALICE, BOB, ADMIN)}
    # In the server's own network, starting containers changes network devices, and Chromium then aborts loads.
    with tempfile.TemporaryDirectory(prefix="server-browser-") as temporary, isolated_network():
        done = subprocess.run(
            ["ip", "netns", "exec", NAMESPACE, "npm", "run", "--silent", "test-server"],
            cwd=ROOT / "e2e/browser",
            env=os.environ | passwords | {"SERVER_ADDRESS": OUTSIDE, "TMPDIR": temporary},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
    assert done.returncode == 0, done.stdout


def test_upgrade_stops_no_workshop(machine, echo, alice):
    container, before = machine.app_container(echo[0]), machine.containers()
    machine.import_launcher(**{"etc/version": b"2\n"})
    machine.run("upgrade", "--backup", "before.tar.gz")
    after = machine.containers()
    assert {name for name in after if after[name] != before[name]} == {"launcher"}
    assert machine.app_container(echo[0]) == container

    def answers():
        return machine.opened(alice, ALICE, echo[1]).status == 200

    wait_for("the workshop to be adopted", answers, 30)


def test_requests_fail_while_login_proxies_are_down(machine, echo, bob):
    identifiers = [machine.containers()[name][0] for name in ("login", "workshops-login")]
    machine.command("stop", "--time", "1", *identifiers)
    try:
        for host, path in (("launcher.test", "/api/v1/me"), ("launcher.test", "/"), (echo[1].split("/")[2], "/")):
            status, body = ask(bob, host, path, [f"X-Auth-Request-Email: {ALICE}"])
            assert status >= 500 and '"app"' not in body, (host, status, body)
    finally:
        machine.command("start", *identifiers)
    machine.run()


def test_backup_restores_empty_server(machine):
    admin = machine.signed_in(ADMIN)
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    template = {"name": "Second", "description": "", "app_type": "custom", "image": "localhost/none", "port": 80}
    assert admin.request("POST", f"{LAUNCHER}/api/v1/templates/", headers, json.dumps(template)).status == 201
    machine.run("backup", "backup.tar.gz")
    machine.run("stop")
    machine.remove_containers()
    shutil.rmtree(machine.root)
    shutil.rmtree(machine.data)
    machine.run("restore", "backup.tar.gz", "--data-dir", machine.data)
    assert machine.me(admin)["email"] == ADMIN, "the session before the restore is still valid"
    assert machine.me(machine.signed_in(BOB))["email"] == BOB
    listed = json.loads(admin.request("GET", f"{LAUNCHER}/api/v1/templates/", headers).body)
    assert "Second" in json.dumps(listed)
    assert "all files" in machine.run()


def test_stop_and_start(machine):
    machine.run("stop")
    assert not machine.containers(), "a stopped container would start again after a reboot"
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", 443), timeout=5).close()
    machine.run()
    assert machine.me(machine.signed_in(ALICE))["email"] == ALICE
