"""Without Traefik's middlewares: the release's nginx asks the login proxies, for any ingress in front of it.

Two kinds of ingress are tested: a controller without login middlewares, and a load balancer that forwards all bytes.
The imported tests hold for Traefik's middlewares and for both of these.
"""

import contextlib
import copy
import json
import socket
import urllib.parse

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from balancer import load_balancer
from chain import (
    ALICE, ANY, BOB, ECHO, INGRESS, JUPYTERLAB, LAUNCHER, NAMESPACE, RELEASE, WORKSHOP_DOMAIN, WORKSHOPS, apply, cluster_ip,
    kubectl, namespaced,
)
from harness import wait_for
from test_browser import in_a_browser
from test_front_door import (
    EMAIL, ask, bob, test_a_login_proxy_that_is_down_opens_nothing as closed_while_it_is_down,
    test_a_second_request_on_one_connection_is_asked_for_itself, test_at_the_page_without_a_login_everybody_is_nobody,
    test_in_a_trailer_it_counts_for_nothing, test_the_owner_does_reach_it,
    test_with_a_session_everybody_stays_who_they_are, test_without_a_session_nobody_is_let_in,
)
from test_install import (
    test_a_browser_full_of_cookies_gets_through, test_another_pod_reaches_neither_launcher_nor_workshop,
)
from test_sessions import (
    test_a_deep_link_leads_to_the_form_and_back_byte_for_byte, test_a_login_leads_nowhere_else,
    test_a_stranger_is_refused_by_the_workshop_and_not_found_by_the_api, test_a_workshops_deep_link_survives_its_login,
    test_no_session_cookie_reaches_an_app, test_pages_lead_to_the_provider_and_the_api_says_401,
    test_signing_out_ends_both_sessions, test_subresources_of_a_page_set_no_cookies_while_nobody_is_logged_in,
    test_the_api_knows_who_is_logged_in, test_the_launchers_session_is_for_its_own_host_only,
)
from visitor import PAGE, TLS

FRONT = f"{RELEASE}-workshop-launcher-front"
DOORS = {
    "ingress": lambda: contextlib.nullcontext(cluster_ip(INGRESS, "traefik")),
    "load balancer": lambda: load_balancer("127.0.77.1", (cluster_ip(NAMESPACE, FRONT), 80)),
}


@pytest.fixture(scope="module")
def chain(chain):
    """Installs the release with its own nginx; afterwards installs the usual release again."""
    through = copy.copy(chain)
    through.addresses = dict(chain.addresses)
    try:
        chain.install(*ANY)
        yield through
    finally:
        chain.install()


@pytest.fixture(scope="module", params=DOORS, autouse=True)
def door(chain, request):
    """Selects the ingress for all requests of the chain."""
    with DOORS[request.param]() as address:
        here = dict.fromkeys(("launcher.test", f".{WORKSHOP_DOMAIN}"), address)
        # Existing profiles use this address, too.
        chain.addresses.update(here)
        wait_for("the way in", lambda: chain.visitor().log_in(f"{LAUNCHER}/", ALICE).status == 200, 30)
        yield request.param


@pytest.fixture(scope="module")
def echo(chain):
    """Alice's workshop, which echoes requests: (name, url)."""
    return opened(chain, chain.signed_in(ALICE), ECHO)


@pytest.fixture(scope="module")
def jupyterlab(chain):
    """Alice's JupyterLab: (a profile that is logged in there, host)."""
    alice = chain.signed_in(ALICE)
    return alice, opened(chain, alice, JUPYTERLAB)[1].split("/")[2]


def opened(chain, alice, template):
    """Launches the template, and waits until the cluster's network routes the new Service; returns (name, url)."""
    name, url = chain.launched(alice, template)
    wait_for(f"{url} to answer", lambda: alice.log_in(url, ALICE).status == 200, 20)
    return name, url


def web_socket(visitor, host):
    """Opens JupyterLab's stream of events, as this profile's browser does."""
    plain = socket.create_connection((visitor.address(host), 443), timeout=20)
    return connect(
        f"wss://{host}/api/events/subscribe",
        sock=plain,
        ssl=TLS,
        server_hostname=host,
        origin=f"https://{host}",
        additional_headers={"Cookie": visitor.cookies_for(host)},
        proxy=None,
    )


def test_its_pods_are_ready_and_no_workshop_has_an_ingress(chain, echo):
    words = ("--namespace", NAMESPACE, "get", "pods", "--output", "json")
    pods = json.loads(kubectl(*words, "--selector", "app.kubernetes.io/component=front"))["items"]
    conditions = [{one["type"]: one["status"] for one in pod["status"]["conditions"]} for pod in pods]
    assert conditions and all(one["Ready"] == "True" for one in conditions)
    ingresses = lambda namespace: kubectl("--namespace", namespace, "get", "ingresses", "--output", "name").split()
    # The operator deletes the Ingresses of workshops that are older than the front.
    wait_for("no Ingress of a workshop", lambda: not ingresses(WORKSHOPS), 60)
    assert ingresses(NAMESPACE) == [f"ingress.networking.k8s.io/{FRONT}"]
    assert echo[1] == f"https://{echo[0]}.{WORKSHOP_DOMAIN}/"


def test_a_websocket_goes_through_for_its_owner_alone(chain, jupyterlab):
    alice, host = jupyterlab
    with web_socket(alice, host) as channel:
        assert channel.ping().wait(20), "what was sent came back"
    bob = chain.signed_in(BOB)
    assert bob.log_in(f"https://{host}/", BOB).status == 403
    for visitor, statuses in ((bob, {403}), (chain.visitor(), {302, 401})):
        with pytest.raises(InvalidStatus) as refused:
            web_socket(visitor, host)
        assert refused.value.response.status_code in statuses


def test_a_large_upload_goes_through(jupyterlab):
    alice, host = jupyterlab
    text = "workshop" * 4_000_000
    token = alice.cookies[host, "_xsrf"][0]
    headers = {"X-XSRFToken": token, "Origin": f"https://{host}", "Content-Type": "application/json"}
    body = json.dumps({"type": "file", "format": "text", "content": text})
    answer = alice.request("PUT", f"https://{host}/api/contents/large.txt", headers, body)
    assert answer.status in (200, 201), answer.body[:300]
    assert json.loads(answer.body)["size"] == len(text)


def test_a_stream_of_events_arrives_while_it_is_open(chain):
    alice = chain.signed_in(ALICE)
    url = urllib.parse.urlsplit(f"{LAUNCHER}/api/v1/events")
    connection = alice.connect(url)
    with contextlib.closing(connection):
        headers = {"Cookie": alice.cookies_for(url.hostname, url.path), "Accept": "text/event-stream"}
        connection.request("GET", url.path, headers=headers)
        response = connection.getresponse()
        assert (response.status, response.headers.get_content_type()) == (200, "text/event-stream")
        assert response.readline(), "something came, and the stream goes on"


@pytest.mark.parametrize("host", ["nothing-abcdefghij", "kubernetes", "a.b", "x_y", "-x"])
def test_what_is_no_workshop_is_not_there(chain, echo, host):
    alice = chain.signed_in(ALICE)
    alice.log_in(echo[1], ALICE)
    status, body = ask(alice, f"{host}.{WORKSHOP_DOMAIN}", "/", [])
    assert status in (404, 421), (status, body)
    assert '"app"' not in body


def test_another_host_leads_nowhere(chain, door, echo):
    alice = chain.signed_in(ALICE)
    for host in ("evil.test", "", f"{FRONT}.{NAMESPACE}.svc", f"launcher.test.{WORKSHOP_DOMAIN}.evil.test"):
        received = alice.raw(
            "launcher.test",
            f"GET /api/v1/me HTTP/1.1\r\nHost: {host}\r\n{EMAIL}: {ALICE}\r\nConnection: close\r\n\r\n".encode(),
        )
        assert received.split(b" ")[1] in (b"400", b"404", b"421"), (host, received[:300])


def test_two_hosts_in_one_request_open_nothing(door, echo, bob):
    """The login proxy is asked about the same host that gets the request."""
    workshop = echo[1].split("/")[2]
    for target, host in (("launcher.test", workshop), (workshop, "launcher.test")):
        cookies = "; ".join((bob.cookies_for("launcher.test"), bob.cookies_for(workshop)))
        head = (f"GET https://{target}/ HTTP/1.1", f"Host: {host}", "Connection: close", f"Cookie: {cookies}")
        received = bob.raw(target, ("\r\n".join(head) + "\r\n\r\n").encode())
        assert received.startswith(b"HTTP/1.1 "), received[:300]
        assert b'"app"' not in received and ALICE.encode() not in received, received[:300]
        # Traefik handles this itself; nginx answers 400.
        assert door != "load balancer" or received.split(b" ")[1] == b"400", received[:300]


def test_a_login_proxy_that_is_down_opens_nothing(chain, echo, bob):
    closed_while_it_is_down(chain, echo, bob)
    # The cluster's network learns of each login proxy separately.
    wait_for("the workshops' way in", lambda: bob.request("GET", echo[1], PAGE).status == 403, 30)


def test_a_service_that_is_no_workshop_is_not_reached(chain, echo):
    """The Service is in the workshops' namespace and has a valid name, but no proxy in front of it checks the
    caller."""
    container = {"name": "app", "image": "localhost/workshop-launcher/http:test", "args": ["serve"]}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0}
    pod = namespaced("Pod", "stray", namespace=WORKSHOPS, spec=spec)
    pod["metadata"]["labels"] = labels = {"stray": "stray"}
    service = {"selector": labels, "ports": [{"port": 80, "targetPort": 8888}]}
    apply(pod, namespaced("Service", "stray", namespace=WORKSHOPS, spec=service))
    try:
        kubectl("--namespace", WORKSHOPS, "wait", "pod", "stray", "--for=condition=Ready", "--timeout=60s")
        alice = chain.signed_in(ALICE)
        alice.log_in(echo[1], ALICE)
        answer = alice.request("GET", f"https://stray.{WORKSHOP_DOMAIN}/", PAGE)
        assert answer.status in (502, 504), (answer.status, answer.body)
    finally:
        kubectl("--namespace", WORKSHOPS, "delete", "pod,service", "stray", "--wait=false")


@pytest.mark.parametrize("door", ["ingress"], indirect=True)
def test_people_in_a_browser(chain, door):
    in_a_browser(chain, "test-login")
