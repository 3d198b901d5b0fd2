"""The front as edge proxy: the release's own nginx asks the login proxies, so Traefik's middlewares are not needed.

The tests run behind an ingress controller without login middlewares, behind a load balancer that forwards all bytes, and
behind a Gateway with HTTPRoutes. The login provider keeps sessions. The imported tests also run in their own files, there
with Traefik's middlewares.
"""

import base64
import contextlib
import copy
import json
import ssl
import subprocess
import urllib.parse

import pytest
import test_sessions
import test_single_sign_on

from chain import (
    ADMIN, ALICE, ANY, BOB, ECHO, FULL_NAME, JSON, LAUNCHER, NAMESPACE, WITH_SSO, WORKSHOP_DOMAIN, WORKSHOPS, apply,
    cluster_ip, kubectl, namespaced, read, until,
)
from harness import exchange
from test_edge_proxy import (
    EMAIL, ask, test_forged_identity_does_not_replace_session_identity,
    test_forged_identity_in_trailer_is_ignored, test_forged_identity_on_public_page_is_ignored,
    test_forged_identity_without_session_is_refused, test_owner_reaches_workshop_despite_forged_header,
    test_pipelined_requests_are_authenticated_separately,
)
from test_sessions import test_other_user_gets_403_from_workshop_and_404_from_api, test_websocket_opens_only_for_owner
from test_single_sign_on import test_session_split_over_cookies_opens_launcher_and_workshop
from visitor import ANSWER, PAGE

FRONT = f"{FULL_NAME}-front"
# The port is that of Traefik's entry point. The fixture `chain` creates the Secret.
GATEWAY = (
    *WITH_SSO, *ANY, "--set", "ingress.controller=gateway", "--set", "ingress.gateway.port=8443",
    "--set", "ingress.tls.launcherSecret=gateway", "--set", "ingress.tls.workshopsSecret=gateway",
)
BALANCER = "127.0.77.1"


def certificate(folder, *hosts):
    """Creates a key and a self-signed certificate for these hosts: key.pem and certificate.pem in this folder."""
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "1"]
    names = ["-subj", "/CN=test", "-addext", "subjectAltName=" + ",".join(f"DNS:{host}" for host in hosts)]
    files = ["-keyout", folder / "key.pem", "-out", folder / "certificate.pem"]
    subprocess.run([*words, *names, *files], check=True, capture_output=True)
    return f"--cert={folder / 'certificate.pem'}", f"--key={folder / 'key.pem'}"


@contextlib.contextmanager
def load_balancer(folder):
    """A load balancer in front of the release: terminates TLS and forwards all bytes unchanged. As other load balancers do,
    it connects again if the Service refuses a connection."""
    files = [file.removeprefix("--") for file in certificate(folder, "launcher.test")]
    listener = f"OPENSSL-LISTEN:443,bind={BALANCER},{','.join(files)},verify=0,fork,reuseaddr,backlog=64"
    target = f"TCP:{cluster_ip(NAMESPACE, FRONT)}:80,retry=60,interval=1"
    program = subprocess.Popen(["socat", listener, target])
    try:
        yield
    finally:
        program.terminate()
        program.wait()


@pytest.fixture(scope="module", params=["gateway", "ingress", "load balancer"])
def door(request):
    """The kind of ingress in front of the release."""
    return request.param


@pytest.fixture(scope="module")
def chain(platform, door, tmp_path_factory):
    """The chain with the front. All requests go through this kind of ingress."""
    chain, folder = copy.copy(platform), tmp_path_factory.mktemp("tls")
    with contextlib.ExitStack() as stack:
        if door == "gateway":
            kubectl("--namespace", NAMESPACE, "delete", "secret", "gateway", "--ignore-not-found")
            files = certificate(folder, "launcher.test", f"*.{WORKSHOP_DOMAIN}")
            kubectl("create", "secret", "tls", "gateway", "--namespace", NAMESPACE, *files)
        chain.ensure(*(GATEWAY if door == "gateway" else (*WITH_SSO, *ANY)))
        if door == "load balancer":
            stack.enter_context(load_balancer(folder))
            chain.addresses = chain.addresses | dict.fromkeys(("launcher.test", f".{WORKSHOP_DOMAIN}"), BALANCER)
            chain.until_login_works()
        yield chain


def test_workshops_and_launcher_have_only_the_objects_of_this_ingress(door, echo):
    # Workshops from earlier tests have Ingresses. With the front, the operator deletes these Ingresses.
    until("all Ingresses of workshops to be deleted", lambda: not read(WORKSHOPS, "ingresses")["items"])
    found = [one["metadata"]["name"] for one in read(NAMESPACE, "ingresses")["items"]]
    assert found == ([] if door == "gateway" else [FRONT])
    assert echo[1] == f"https://{echo[0]}.{WORKSHOP_DOMAIN}/"


def test_event_stream_is_not_buffered(alice):
    url = urllib.parse.urlsplit(f"{LAUNCHER}/api/v1/events")
    with contextlib.closing(alice.connect(url)) as connection:
        headers = {"Cookie": alice.cookies_for(url.hostname, url.path), "Accept": "text/event-stream"}
        connection.request("GET", url.path, headers=headers)
        response = connection.getresponse()
        assert (response.status, response.headers.get_content_type()) == (200, "text/event-stream")
        assert response.readline(), "expected an event before the end of the stream"


def test_owner_raises_hand_at_the_host_of_the_workshop_and_others_do_not(chain, alice, bob):
    """With Traefik's middlewares, the class day shows this."""
    admin = chain.signed_in(ADMIN)

    def made(method, path, body):
        status, answer = chain.api(admin, method, path, json.dumps(body))
        assert status in (200, 201), answer
        return answer

    room = f"/classes/{made('POST', '/classes/', {'name': 'Front', 'teachers': [ALICE]})['slug']}"
    made("PUT", f"{room}/members/{BOB}", {"role": "student"})
    like = chain.api(admin, "GET", f"/templates/{ECHO}")[1]
    template = {key: like[key] for key in ("name", "app_type", "image", "port", "args", "resources")}
    template = made("POST", f"{room}/templates/", template)["template_id"]
    status, launched = chain.api(bob, "POST", f"{room}/templates/{template}/launch", "{}")
    assert status == 201, launched
    name = launched["k8s_name"]
    host = chain.until_open(bob, name).split("/")[2]
    news, hand = (f"/_launcher/class/{name}/{end}" for end in ("news", "hand"))
    assert bob.request("PUT", f"https://{host}{hand}", JSON).status == 204
    assert json.loads(bob.request("GET", f"https://{host}{news}", JSON).body)["hand"]
    for visitor, expected in ((alice, 404), (chain.visitor(), 401)):
        for lines in ([], [f"{EMAIL}: {BOB}"]):
            status, body = ask(visitor, host, news, lines)
            assert status == expected or lines and status == 400, (status, body)
    assert bob.request("DELETE", f"https://{host}{hand}", JSON).status == 204
    assert chain.api(bob, "DELETE", f"/instances/{name}")[0] == 202
    stopped = f"https://{host}/_launcher/class/{name}/stopped"
    assert json.loads(bob.request("GET", stopped, JSON).body)["state"] in ("terminating", "terminated")
    assert alice.request("GET", stopped, JSON).status == 404


def test_request_to_foreign_or_unknown_host_is_refused(alice):
    for name in ("nothing-abcdefghij", "kubernetes", "a.b", "x_y"):
        status, body = ask(alice, f"{name}.{WORKSHOP_DOMAIN}", "/", [])
        assert status in (404, 421) and '"app"' not in body, (name, status, body)
    page = alice.request("GET", f"https://nothing-abcdefghij.{WORKSHOP_DOMAIN}/", PAGE)
    assert page.status == 404 and f'<a href="{LAUNCHER}/instances/nothing-abcdefghij" target="_top">' in page.body, page
    for host in ("evil.test", "", f"{FRONT}.{NAMESPACE}.svc", f"launcher.test.{WORKSHOP_DOMAIN}.evil.test"):
        head = f"GET /api/v1/me HTTP/1.1\r\nHost: {host}\r\n{EMAIL}: {ALICE}\r\nConnection: close\r\n\r\n"
        received = alice.raw("launcher.test", head.encode())
        assert received.split(b" ")[1] in (b"400", b"404", b"421"), (host, received[:300])


def test_request_with_conflicting_hosts_does_not_bypass_login(door, echo, bob):
    """URL and Host header name different hosts. The login must be checked for the host that receives the request."""
    workshop = echo[1].split("/")[2]
    for target, host in (("launcher.test", workshop), (workshop, "launcher.test")):
        cookies = "; ".join((bob.cookies_for("launcher.test"), bob.cookies_for(workshop)))
        head = (f"GET https://{target}/ HTTP/1.1", f"Host: {host}", "Connection: close", f"Cookie: {cookies}")
        received = bob.raw(target, ("\r\n".join(head) + "\r\n\r\n").encode())
        assert received.startswith(b"HTTP/1.1 "), received[:300]
        assert b'"app"' not in received and ALICE.encode() not in received, received[:300]
        # With the load balancer, nginx itself gets both hosts and answers 400. Traefik resolves the conflict earlier.
        assert door != "load balancer" or received.split(b" ")[1] == b"400", received[:300]


@pytest.mark.parametrize("door", ["gateway"], indirect=True)
def test_gateway_presents_certificate_of_named_secret(chain, door):
    secret = read(NAMESPACE, "secret", "gateway")["data"]["tls.crt"]
    expected = ssl.PEM_cert_to_DER_cert(base64.b64decode(secret).decode())
    for host in ("launcher.test", f"login.{WORKSHOP_DOMAIN}"):
        with contextlib.closing(chain.visitor().connect(urllib.parse.urlsplit(f"https://{host}/"))) as connection:
            assert connection.sock.getpeercert(binary_form=True) == expected, host


with_load_balancer = pytest.mark.parametrize("door", ["load balancer"], indirect=True)


@with_load_balancer
def test_login_returns_to_the_page_and_sign_out_ends_all_sessions(chain, door, echo):
    test_single_sign_on.test_login_at_launcher_also_opens_workshop(chain, echo)
    test_single_sign_on.test_sign_out_ends_provider_session_if_configured(chain, echo)
    test_sessions.test_login_does_not_redirect_to_foreign_hosts(chain, "https://evil.test/")


@with_load_balancer
def test_service_without_sidecar_is_unreachable(chain, door, alice):
    """The Service is in the workshops' namespace, and its name could be that of a workshop. Nothing in its pod checks the
    identity, so the front must not reach it."""
    container = {"name": "app", "image": "localhost/workshop-launcher/http:test", "args": ["serve"]}
    pod = namespaced("Pod", "stray", namespace=WORKSHOPS, spec={"containers": [container], "terminationGracePeriodSeconds": 0})
    pod["metadata"]["labels"] = labels = {"stray": "stray"}
    ports = [{"port": 80, "targetPort": 8888}]
    apply(pod, namespaced("Service", "stray", namespace=WORKSHOPS, spec={"selector": labels, "ports": ports}))
    try:
        # Control: the Service answers this machine.
        address = cluster_ip(WORKSHOPS, "stray")
        until("the Service to answer", lambda: exchange(80, "GET", "/", host=address, timeout=ANSWER)[0] == 200)
        ask_front = lambda: alice.request("GET", f"https://stray.{WORKSHOP_DOMAIN}/", PAGE)
        answer = until("the front to find the Service", lambda: (got := ask_front()).status != 404 and got)
        assert answer.status in (502, 504), (answer.status, answer.body)
    finally:
        kubectl("--namespace", WORKSHOPS, "delete", "pod,service", "stray", "--wait=false")
