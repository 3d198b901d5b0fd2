"""One server, for real: login, forged identities, repeated setup, upgrade, backup and restore.

The tests run in this order, on one server. Each one also passes alone.
"""

import http.client
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import tempfile

import pytest

from git_server import git_server
from harness import DEADLINE, ROOT, doctor_in_time, wait_for
from network import INTERNET, in_surroundings
from machine import ADMIN, ALICE, BOB, JSON, LAUNCHER
from test_browser import NAMESPACE, OUTSIDE, isolated_network
from test_edge_proxy import FORGERIES, ask

# One forgery of each kind. The login tests send all of them: test_compose.py proves that the server's rules are the chart's.
KINDS = ("X-Auth-Request-Email", "X_Auth_Request_Email", "header sent twice", "header listed in Connection")
# Ports of the server's programs on the loopback address. Traefik also has 80 and 443 on all addresses.
INNER_PORTS = {8700, 8701, 8702, 8703, 8704, 8705}


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


def test_accounts_log_in_with_their_passwords_only(machine, alice, bob):
    seen = {email: machine.me(visitor) for email, visitor in ((ALICE, alice), (BOB, bob), (ADMIN, machine.signed_in(ADMIN)))}
    assert {email: (one["email"], one["is_admin"]) for email, one in seen.items()} == {
        email: (email, email == ADMIN) for email in seen
    }
    visitor = machine.visitor()
    assert visitor.log_in(f"{LAUNCHER}/", ALICE, machine.passwords[BOB]).is_login_form
    assert machine.me(visitor) == 401


def test_owner_opens_workshop_and_others_do_not(machine, echo, alice, bob):
    name, url = echo
    seen = json.loads(machine.opened(alice, ALICE, url).body)
    assert seen["app"] == "http"
    assert "x-auth-request-proof" not in {key.lower() for key in seen["headers"]}, "the app sees the proxy secret"
    assert machine.opened(bob, BOB, url).status == 403
    assert bob.request("GET", f"{LAUNCHER}/api/v1/instances/{name}", JSON).status == 404


@pytest.mark.parametrize("forgery", KINDS)
def test_forged_identity_is_refused(machine, echo, bob, forgery):
    host, stranger, lines = echo[1].split("/")[2], machine.visitor(), FORGERIES[forgery]
    assert ask(stranger, "launcher.test", "/api/v1/me", lines)[0] in (400, 401)
    status, body = ask(stranger, host, "/", lines)
    assert status in (302, 400, 401) and '"app"' not in body, (status, body)
    status, body = ask(bob, "launcher.test", "/api/v1/me", lines)
    assert status in (200, 400, 401), (status, body)
    if status == 200:
        assert (json.loads(body)["email"], json.loads(body)["is_admin"]) == (BOB, False)
    status, body = ask(bob, host, "/", [line.replace(ADMIN, ALICE) for line in lines])
    assert status in (400, 401, 403) and '"app"' not in body, "Bob reached Alice's workshop"
    for path in ("/signed-out", "/signed-out/../api/v1/me", "/dex/../api/v1/me", "/dex%2f..%2fapi/v1/me", "/oauth2/../api/v1/me"):
        assert ADMIN not in ask(bob, "launcher.test", path, lines)[1], path


def get(port, path, **headers):
    """Sends a plain request to a port of the server. Returns (status, location)."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
    connection.request("GET", path, headers={"Host": "launcher.test"} | headers)
    answer = connection.getresponse()
    return answer.status, answer.headers["Location"]


def test_server_is_open_only_at_its_ports_and_names(machine):
    listening = set()
    for family in ("tcp", "tcp6"):
        for line in open(f"/proc/net/{family}").read().splitlines()[1:]:
            address, state = line.split()[1], line.split()[3]
            host, port = address.split(":")
            if state == "0A" and int(port, 16) in {80, 443, *INNER_PORTS}:
                listening.add((int(port, 16), host in ("0100007F", "00000000000000000000000001000000")))
    assert listening == {(80, False), (443, False), *((port, True) for port in INNER_PORTS)}
    assert get(8700, "/api/v1/me", **{"X-Auth-Request-Email": ADMIN})[0] == 401, "a local program forged an identity"
    status, location = get(80, "/launch/x?a=b")
    assert status in (301, 308) and location == f"{LAUNCHER}/launch/x?a=b"
    with socket.create_connection(("127.0.0.1", 443)) as plain, pytest.raises(ssl.SSLError):
        ssl._create_unverified_context().wrap_socket(plain, server_hostname="attacker.example")


def test_workshop_reaches_no_port_of_server(machine, echo):
    container = machine.app_container(echo[0])
    routed = json.loads(subprocess.run(["ip", "-json", "address"], capture_output=True, check=True).stdout)
    addresses = [one["local"] for link in routed for one in link["addr_info"] if one["family"] == "inet"]
    assert len(addresses) > 2
    for address in addresses:
        for port in (443, 8700, 8702):
            told = machine.command("exec", container, "/app", "connect", f"{address}:{port}", check=False)
            assert "no connection" in told, f"{address}:{port}: {told}"


def test_second_setup_restarts_nothing_and_new_account_restarts_only_dex(machine):
    before = machine.containers()
    assert set(before) == {"traefik", "login", "workshops-login", "dex", "launcher"}
    told = machine.run()
    assert "all files" in told and "a login works" in told
    assert machine.containers() == before
    (machine.place / "late.csv").write_text("email\ncarla@example.org\n")
    machine.run("accounts", "late.csv", "--sheet", "late.html")
    assert machine.changed(before) == {"dex"}


def test_doctor_finds_no_fault(machine):
    own, _, _ = doctor_in_time(lambda: machine.run("doctor", code=None)).partition("launcher doctor")
    assert "0 FAIL" in own, own
    for line in ("containers", "sign-in", "forged headers", "readiness"):
        assert f"ok    {line}" in own, own


def run_in_browser(machine, script, **variables):
    """Runs a script of e2e/browser/package.json. In its Chromium, the server's names resolve to the server."""
    variables |= {"SERVER_ADDRESS": OUTSIDE, "PASSWORDS": json.dumps(machine.passwords)}
    # In the server's own network, starting containers changes network devices, and Chromium then aborts loads.
    with tempfile.TemporaryDirectory(prefix="server-browser-") as temporary, isolated_network():
        done = subprocess.run(
            ["ip", "netns", "exec", NAMESPACE, "npm", "run", "--silent", script],
            cwd=ROOT / "e2e/browser",
            env=os.environ | variables | {"TMPDIR": temporary},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    print(done.stdout)
    assert done.returncode == 0, "see the output"


def test_class_day(machine, browser_packages):
    machine.name_teacher()
    with git_server(INTERNET, network=in_surroundings(pathlib.Path(os.environ["SERVER_PLACE"]))) as course:
        course.push({"lesson.txt": "lesson\n"})
        run_in_browser(machine, "test-server", COURSE_REPOSITORY=course.url)


def test_presets_work_in_containers(machine, browser_packages):
    machine.import_presets()
    run_in_browser(machine, "test-presets")
    # The desktop starts again after a crash, although the files of its X server are still there.
    desktop = machine.command("ps", "--quiet", "--filter", "name=desktop-", "--filter", "label=workshoplauncher.dev/part=app").strip()
    machine.command("kill", desktop)
    read = "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:6080/vnc.html').status)"
    wait_for("the desktop to start again", lambda: machine.command("exec", desktop, "python3", "-c", read, check=False) == "200\n")


def test_upgrade_stops_no_workshop(machine, echo, alice):
    container, before = machine.app_container(echo[0]), machine.containers()
    machine.import_launcher(**{"etc/version": b"2\n"})
    machine.run("upgrade", "--backup", "before.tar.gz")
    assert machine.changed(before) == {"launcher"}
    assert machine.app_container(echo[0]) == container
    wait_for("the workshop to be adopted", lambda: machine.opened(alice, ALICE, echo[1]).status == 200)


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
    template = {"name": "Second", "description": "", "app_type": "custom", "image": "localhost/none", "port": 80}
    assert admin.request("POST", f"{LAUNCHER}/api/v1/templates/", JSON, json.dumps(template)).status == 201
    machine.run("backup", "backup.tar.gz")
    machine.run("stop")
    assert not machine.containers(), "a stopped container would start again after a reboot"
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", 443)).close()
    machine.remove_containers()
    shutil.rmtree(machine.root)
    shutil.rmtree(machine.data)
    machine.run("restore", "backup.tar.gz", "--data-dir", machine.data)
    assert machine.me(admin)["email"] == ADMIN, "the session before the restore is still valid"
    assert machine.me(machine.signed_in(BOB))["email"] == BOB
    assert '"Second"' in admin.request("GET", f"{LAUNCHER}/api/v1/templates/", JSON).body
    assert "all files" in machine.run()


def test_setup_starts_a_stopped_server(machine):
    machine.run("stop")
    machine.run()
    assert machine.me(machine.signed_in(ALICE))["email"] == ALICE
