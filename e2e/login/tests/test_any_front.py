"""The front as edge proxy: the release's own nginx asks the login proxies, so Traefik's middlewares are not needed.

All tests run with two kinds of ingress before the front: an ingress controller without login middlewares, and a load
balancer that forwards all bytes. Some run again with a Gateway and HTTPRoutes, which differ from the first kind only in the
objects that Traefik reads. The imported tests also run in their own files, there with Traefik's middlewares.
"""

import contextlib
import copy
import json
import pathlib
import ssl
import urllib.parse

import pytest
from websockets.exceptions import InvalidStatus

from balancer import certificate, load_balancer
from chain import (
    ALICE, ANY, BOB, ECHO, GATEWAY, INGRESS, JUPYTERLAB, LAUNCHER, NAMESPACE, RELEASE, WORKSHOP_DOMAIN, WORKSHOPS, apply,
    cluster_ip, kubectl, namespaced, settled,
)
from harness import wait_for
from test_browser import run_in_browser
from test_edge_proxy import (
    EMAIL, FORGERIES, ask, bob, test_forged_identity_does_not_replace_session_identity, test_forged_identity_in_trailer_is_ignored,
    test_forged_identity_on_public_page_is_ignored, test_forged_identity_without_session_is_refused,
    test_owner_reaches_workshop_despite_forged_header, test_pipelined_requests_are_authenticated_separately,
    test_requests_are_refused_while_login_proxies_are_down as check_refusal_while_login_proxies_are_down,
)
from test_install import (
    test_foreign_pod_reaches_neither_launcher_nor_workshop, test_requests_with_many_cookies_are_accepted,
)
from test_sessions import (
    test_api_returns_identity_of_logged_in_user, test_launcher_deep_link_is_unchanged_after_login,
    test_launcher_session_is_refused_by_workshop, test_login_does_not_redirect_to_foreign_hosts,
    test_no_session_cookie_reaches_an_app, test_other_user_gets_403_from_workshop_and_404_from_api,
    test_sign_out_ends_launcher_and_workshop_sessions, test_unauthenticated_pages_redirect_and_api_returns_401,
    test_unauthenticated_subresources_set_no_cookies, test_workshop_deep_link_is_unchanged_after_login,
)
from visitor import PAGE

FRONT = f"{RELEASE}-workshop-launcher-front"
HOSTS = ("launcher.test", f"*.{WORKSHOP_DOMAIN}")
# WebSocket for JupyterLab's events.
EVENTS = "/api/events/subscribe"


@pytest.fixture(scope="module")
def chain(chain):
    """The release with the front as edge proxy. Afterwards the usual release is installed again."""
    through = copy.copy(chain)
    through.addresses = dict(chain.addresses)
    try:
        chain.install(*ANY)
        chain.until_old_pods_are_gone()
        yield through
    finally:
        chain.install()


def entry(kind):
    """Returns a context manager, whose value is the address to which this kind of ingress binds."""
    if kind == "load balancer":
        return load_balancer("127.0.77.1", (cluster_ip(NAMESPACE, FRONT), 80))
    return contextlib.nullcontext(cluster_ip(INGRESS, "traefik"))


@pytest.fixture(scope="module", params=["ingress", "load balancer"], autouse=True)
def ingress_kind(chain, request, own_certificate):
    """Sends all requests of the chain through one kind of ingress. The kind gateway is the last one of this file, because
    it replaces the Ingress of the release."""
    with entry(request.param) as address:
        here = dict.fromkeys(("launcher.test", f".{WORKSHOP_DOMAIN}"), address)
        # Update in place: existing browser profiles share this dict and must use the new address.
        chain.addresses.update(here)
        if request.param == "gateway":
            words = ("--namespace", NAMESPACE, "create", "secret", "tls", "gateway")
            kubectl(*words, f"--cert={own_certificate}", f"--key={own_certificate}")
            chain.install(*GATEWAY)
            chain.until_old_pods_are_gone()
        wait_for("Alice to log in", lambda: settled(lambda: chain.visitor().log_in(f"{LAUNCHER}/", ALICE).status == 200), 60)
        yield request.param


@pytest.fixture(scope="module")
def own_certificate(tmp_path_factory):
    """Path of a PEM file with a certificate for both hosts, and its key."""
    return certificate(tmp_path_factory.mktemp("gateway"), *HOSTS)


@pytest.fixture(scope="module")
def echo(chain):
    """Alice's workshop, whose app echoes requests: (name, url)."""
    return opened(chain, chain.signed_in(ALICE), ECHO)


@pytest.fixture(scope="module")
def jupyterlab(chain):
    """Alice's JupyterLab: (a browser profile that is logged in there, host)."""
    alice = chain.signed_in(ALICE)
    return alice, opened(chain, alice, JUPYTERLAB)[1].split("/")[2]


def opened(chain, alice, template):
    """Launches the template, and waits until the cluster routes its new Service. Returns (name, url)."""
    name, url = chain.launched(alice, template)
    wait_for(f"{url} to answer", lambda: settled(lambda: alice.log_in(url, ALICE).status == 200), 60)
    return name, url


def test_nginx_pods_are_ready_and_workshops_have_no_ingress(chain, echo):
    words = ("--namespace", NAMESPACE, "get", "pods", "--output", "json")

    def are_ready():
        pods = json.loads(kubectl(*words, "--selector", "app.kubernetes.io/component=front"))["items"]
        conditions = [{one["type"]: one["status"] for one in pod["status"]["conditions"]} for pod in pods]
        return conditions and all(one["Ready"] == "True" for one in conditions)

    wait_for("the nginx pods to be ready", are_ready, 60)
    ingresses = lambda namespace: kubectl("--namespace", namespace, "get", "ingresses", "--output", "name").split()
    # Workshops from earlier tests have Ingresses. With the front, the operator deletes these Ingresses.
    wait_for("all Ingresses of workshops to be deleted", lambda: not ingresses(WORKSHOPS), 60)
    assert ingresses(NAMESPACE) == [f"ingress.networking.k8s.io/{FRONT}"]
    assert echo[1] == f"https://{echo[0]}.{WORKSHOP_DOMAIN}/"


def test_jupyterlab_websocket_opens_only_for_owner(chain, jupyterlab):
    alice, host = jupyterlab
    with alice.web_socket(host, EVENTS) as channel:
        assert channel.ping().wait(60), "expected a pong from JupyterLab"
    bob = chain.signed_in(BOB)
    assert bob.log_in(f"https://{host}/", BOB).status == 403
    for visitor, statuses in ((bob, {403}), (chain.visitor(), {302, 401})):
        with pytest.raises(InvalidStatus) as refused:
            visitor.web_socket(host, EVENTS)
        assert refused.value.response.status_code in statuses


def test_upload_of_32_mb_to_workshop_succeeds(jupyterlab):
    alice, host = jupyterlab
    text = "workshop" * 4_000_000
    token = alice.cookies[host, "_xsrf"][0]
    headers = {"X-XSRFToken": token, "Origin": f"https://{host}", "Content-Type": "application/json"}
    body = json.dumps({"type": "file", "format": "text", "content": text})
    answer = alice.request("PUT", f"https://{host}/api/contents/large.txt", headers, body)
    assert answer.status in (200, 201), answer.body[:300]
    assert json.loads(answer.body)["size"] == len(text)


def test_event_stream_is_not_buffered(chain):
    alice = chain.signed_in(ALICE)
    url = urllib.parse.urlsplit(f"{LAUNCHER}/api/v1/events")
    connection = alice.connect(url)
    with contextlib.closing(connection):
        headers = {"Cookie": alice.cookies_for(url.hostname, url.path), "Accept": "text/event-stream"}
        connection.request("GET", url.path, headers=headers)
        response = connection.getresponse()
        assert (response.status, response.headers.get_content_type()) == (200, "text/event-stream")
        assert response.readline(), "expected an event before the end of the stream"


@pytest.mark.parametrize("host", ["nothing-abcdefghij", "kubernetes", "a.b", "x_y", "-x"])
def test_request_to_unknown_workshop_host_is_refused(chain, echo, host):
    alice = chain.signed_in(ALICE)
    alice.log_in(echo[1], ALICE)
    status, body = ask(alice, f"{host}.{WORKSHOP_DOMAIN}", "/", [])
    assert status in (404, 421), (status, body)
    assert '"app"' not in body


def test_request_to_foreign_host_is_refused(chain, ingress_kind, echo):
    alice = chain.signed_in(ALICE)
    for host in ("evil.test", "", f"{FRONT}.{NAMESPACE}.svc", f"launcher.test.{WORKSHOP_DOMAIN}.evil.test"):
        received = alice.raw(
            "launcher.test",
            f"GET /api/v1/me HTTP/1.1\r\nHost: {host}\r\n{EMAIL}: {ALICE}\r\nConnection: close\r\n\r\n".encode(),
        )
        assert received.split(b" ")[1] in (b"400", b"404", b"421"), (host, received[:300])


def test_request_with_conflicting_hosts_does_not_bypass_login(ingress_kind, echo, bob):
    """URL and Host header name different hosts. The login must be checked for the host that receives the request."""
    workshop = echo[1].split("/")[2]
    for target, host in (("launcher.test", workshop), (workshop, "launcher.test")):
        cookies = "; ".join((bob.cookies_for("launcher.test"), bob.cookies_for(workshop)))
        head = (f"GET https://{target}/ HTTP/1.1", f"Host: {host}", "Connection: close", f"Cookie: {cookies}")
        received = bob.raw(target, ("\r\n".join(head) + "\r\n\r\n").encode())
        assert received.startswith(b"HTTP/1.1 "), received[:300]
        assert b'"app"' not in received and ALICE.encode() not in received, received[:300]
        # With the load balancer, nginx itself gets both hosts and answers 400. Traefik resolves the conflict earlier.
        assert ingress_kind != "load balancer" or received.split(b" ")[1] == b"400", received[:300]


def test_requests_are_refused_while_login_proxies_are_down(chain, echo, bob):
    check_refusal_while_login_proxies_are_down(chain, echo, bob)
    # The workshops' login proxy may become reachable later than the launcher's. Wait for it as well.
    wait_for("the workshop to refuse Bob", lambda: settled(lambda: bob.request("GET", echo[1], PAGE).status == 403), 60)


def test_service_without_sidecar_is_unreachable(chain, echo):
    """The Service is in the workshops' namespace and has a valid name. It has no sidecar that checks the identity, so
    the front must not reach it."""
    container = {"name": "app", "image": "localhost/workshop-launcher/http:test", "args": ["serve"]}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0}
    pod = namespaced("Pod", "stray", namespace=WORKSHOPS, spec=spec)
    pod["metadata"]["labels"] = labels = {"stray": "stray"}
    service = {"selector": labels, "ports": [{"port": 80, "targetPort": 8888}]}
    apply(pod, namespaced("Service", "stray", namespace=WORKSHOPS, spec=service))
    try:
        kubectl("--namespace", WORKSHOPS, "wait", "pod", "stray", "--for=condition=Ready", "--timeout=180s")
        alice = chain.signed_in(ALICE)
        alice.log_in(echo[1], ALICE)
        answer = alice.request("GET", f"https://stray.{WORKSHOP_DOMAIN}/", PAGE)
        assert answer.status in (502, 504), (answer.status, answer.body)
    finally:
        kubectl("--namespace", WORKSHOPS, "delete", "pod,service", "stray", "--wait=false")


@pytest.mark.parametrize("ingress_kind", ["ingress"], indirect=True)
def test_login_works_in_browser(chain, ingress_kind):
    run_in_browser(chain, "test-login")


with_gateway = pytest.mark.parametrize("ingress_kind", ["gateway"], indirect=True)


@with_gateway
def test_gateway_routes_new_workshop_without_ingress(chain, ingress_kind):
    name, url = opened(chain, chain.signed_in(ALICE), ECHO)
    assert url == f"https://{name}.{WORKSHOP_DOMAIN}/"
    assert not kubectl("get", "ingresses", "--namespace", NAMESPACE) + kubectl("get", "ingresses", "--namespace", WORKSHOPS)


@with_gateway
def test_gateway_presents_certificate_of_named_secret(chain, ingress_kind, own_certificate):
    expected = ssl.PEM_cert_to_DER_cert(pathlib.Path(own_certificate).with_name("certificate.pem").read_text())
    for host in ("launcher.test", f"login.{WORKSHOP_DOMAIN}"):
        with chain.visitor().connect(urllib.parse.urlsplit(f"https://{host}/")).sock as connection:
            assert connection.getpeercert(binary_form=True) == expected, host


@with_gateway
@pytest.mark.parametrize("forgery", FORGERIES)
def test_gateway_does_not_forward_forged_identity(chain, ingress_kind, echo, bob, forgery):
    test_forged_identity_without_session_is_refused(chain, echo, forgery)
    test_forged_identity_does_not_replace_session_identity(bob, echo, forgery)


@with_gateway
def test_gateway_forwards_websocket_only_of_owner(chain, ingress_kind, jupyterlab):
    test_jupyterlab_websocket_opens_only_for_owner(chain, jupyterlab)


@with_gateway
def test_gateway_forwards_conflicting_hosts_and_event_stream(chain, ingress_kind, echo, bob):
    test_request_with_conflicting_hosts_does_not_bypass_login(ingress_kind, echo, bob)
    test_event_stream_is_not_buffered(chain)
