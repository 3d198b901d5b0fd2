"""Forged identity headers at the edge proxy, in every spelling, with and without a session. None may be accepted."""

import http.client
import io
import json
from concurrent.futures import ThreadPoolExecutor

from chain import ADMIN, ALICE, BOB, ECHO, FULL_NAME, LAUNCHER, NAMESPACE, TIMEOUT, kubectl, until

EMAIL = "X-Auth-Request-Email"
SPELLINGS = [
    EMAIL,
    EMAIL.lower(),
    EMAIL.upper(),
    "X_Auth_Request_Email",
    "x.auth.request.email",
    "X-Auth_Request-Email",
    "X--Auth-Request-Email",
    "X-AuthRequest-Email",
    "XAuthRequestEmail",
    "X-Auth-Request-User",
    "X-Auth-Request-Groups",
    "X-Auth-Request-Preferred-Username",
    "X-Forwarded-Email",
    "X_Forwarded_Email",
    "X-Forwarded-User",
    "X-Forwarded-Preferred-Username",
    "X-Forwarded-Access-Token",
]


class Raw(io.BytesIO):
    """Received bytes with the interface of a socket, so that http.client can parse them."""

    def makefile(self, *_):
        return self


def ask(visitor, host, path, lines):
    """Sends one request with exactly these header lines and the profile's cookies. Returns (status, body)."""
    sent = [f"GET {path} HTTP/1.1", f"Host: {host}", "Connection: close", "Accept: application/json", *lines]
    if found := visitor.cookies_for(host, path):
        sent.append(f"Cookie: {found}")
    received = visitor.raw(host, ("\r\n".join(sent) + "\r\n\r\n").encode())
    response = http.client.HTTPResponse(Raw(received))
    response.begin()
    return response.status, response.read().decode(errors="replace")


def host_of(url):
    return url.split("/")[2]


def forgeries():
    """Yields (test id, header lines that forge the identity of an admin)."""
    for name in SPELLINGS:
        yield name, [f"{name}: {ADMIN}"]
    yield "header sent twice", [f"{EMAIL}: {ADMIN}", f"{EMAIL}: {ADMIN}"]
    yield "header listed in Connection", [f"{EMAIL}: {ADMIN}", f"Connection: close, {EMAIL}"]
    yield "alias listed in Connection", [f"X_Auth_Request_Email: {ADMIN}", f"Connection: X_Auth_Request_Email, {EMAIL}"]
    yield "bearer token", ["Authorization: Bearer " + ADMIN]
    yield "basic auth", ["Authorization: Basic YWRtaW5AZXhhbXBsZS5vcmc6cA=="]
    yield "X-Forwarded-Uri with X-Forwarded-Method", ["X-Forwarded-Uri: /oauth2/sign_in", "X-Forwarded-Method: OPTIONS"]
    nearby = ["X-Forwarded-For: 127.0.0.1", "X-Real-Ip: 127.0.0.1"]
    yield "X-Forwarded-Host", ["X-Forwarded-Host: login.workshops.test", *nearby]


FORGERIES = dict(forgeries())


def accepted(wrong):
    """Calls `wrong` with the header lines of each forgery, of eight at a time. Returns its results that are true, by forgery."""
    with ThreadPoolExecutor(8) as threads:
        found = threads.map(wrong, FORGERIES.values())
        return {forgery: result for forgery, result in zip(FORGERIES, found, strict=True) if result}


def test_forged_identity_without_session_is_refused(chain, echo):
    visitor = chain.visitor()

    def wrong(lines):
        launcher, workshop = ask(visitor, host_of(chain.launcher), "/api/v1/me", lines), ask(visitor, host_of(echo[1]), "/", lines)
        is_refused = launcher[0] in (400, 401) and workshop[0] in (302, 400, 401) and '"app"' not in workshop[1]
        return None if is_refused else (launcher, workshop)

    assert accepted(wrong) == {}


def test_forged_identity_does_not_replace_session_identity(chain, bob, echo):
    """Bob reaches neither the launcher as an admin, nor Alice's workshop."""

    def wrong(lines):
        launcher = ask(bob, host_of(chain.launcher), "/api/v1/me", lines)
        me = json.loads(launcher[1]) if launcher[0] == 200 else {"email": BOB, "is_admin": False}
        workshop = ask(bob, host_of(echo[1]), "/", [line.replace(ADMIN, ALICE) for line in lines])
        is_bob = launcher[0] in (200, 400, 401) and (me["email"], me["is_admin"]) == (BOB, False)
        return None if is_bob and workshop[0] in (400, 401, 403) and '"app"' not in workshop[1] else (launcher, workshop)

    assert accepted(wrong) == {}


def test_forged_identity_on_public_page_is_ignored(bob):
    """Bob is logged in. On public pages the edge proxy ignores his session and removes the forged identity."""
    around = ["/api/v1/../../signed-out", "/signed-out/../api/v1/me", "/signed-out%2f..%2fapi/v1/me"]

    def wrong(lines):
        public, *others = (ask(bob, "launcher.test", path, lines) for path in ("/signed-out", *around))
        return [one for one in others if ADMIN in one[1]] + [public] * (public[0] not in (400, 401))

    assert accepted(wrong) == {}


def test_forged_identity_in_trailer_is_ignored(bob, echo):
    def launch(host, path):
        data = (
            f"POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n"
            f"Transfer-Encoding: chunked\r\nTrailer: {EMAIL}\r\nCookie: {bob.cookies_for(host)}\r\n\r\n"
            f"2\r\n{{}}\r\n0\r\n{EMAIL}: {ALICE}\r\n\r\n"
        )
        response = http.client.HTTPResponse(Raw(bob.raw(host, data.encode())))
        response.begin()
        return response.status, response.read().decode(errors="replace")

    status, body = launch(host_of(echo[1]), "/")
    assert status == 403 and '"app"' not in body, (status, body)
    status, body = launch("launcher.test", f"/api/v1/templates/{ECHO}/launch")
    assert status == 201, (status, body)
    launched = json.loads(body)
    assert launched["owner_email"] == BOB, "the workshop has another owner"
    assert bob.request("DELETE", f"{LAUNCHER}/api/v1/instances/{launched['k8s_name']}").status == 202


def test_pipelined_requests_are_authenticated_separately(alice, echo):
    """Sends two requests in one write: the first with Alice's session, the second without a session."""
    host = host_of(echo[1])
    data = (
        f"GET /first HTTP/1.1\r\nHost: {host}\r\nCookie: {alice.cookies_for(host)}\r\n\r\n"
        f"GET /second HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
    )
    received = alice.raw(host, data.encode())
    assert b'"path":"/first"' in received
    assert b'"path":"/second"' not in received
    assert b" 401 " in received


def test_owner_reaches_workshop_despite_forged_header(alice, echo):
    """Control for the refusals in the tests above: the owner's request succeeds despite a forged header."""
    status, body = ask(alice, host_of(echo[1]), "/", [f"{EMAIL}: {BOB}"])
    assert (status, json.loads(body)["app"]) == (200, "http")


def test_requests_are_refused_while_login_proxies_are_down(chain, echo, bob):
    deployments = [f"deployment/{FULL_NAME}-{name}" for name in ("login", "workshops-login")]
    asked = [("launcher.test", "/api/v1/me"), ("launcher.test", "/"), (host_of(echo[1]), "/")]
    kubectl("--namespace", NAMESPACE, "scale", *deployments, "--replicas=0")
    try:
        def all_closed():
            answers = [ask(bob, *one, [f"{EMAIL}: {ALICE}"]) for one in asked]
            # A terminating login proxy may still accept Bob's session, but never the forged identity.
            wrong = [body for _, body in answers if '"app"' in body or ALICE in body]
            return wrong or all(status >= 500 for status, _ in answers)

        assert until("all requests to get 5xx", all_closed) is True
    finally:
        kubectl("--namespace", NAMESPACE, "scale", *deployments, "--replicas=1")
        for deployment in deployments:
            kubectl("--namespace", NAMESPACE, "rollout", "status", deployment, TIMEOUT)
    chain.until_login_works()
    # The workshops' login proxy may become reachable later than the launcher's.
    until("the workshop to refuse Bob", lambda: ask(bob, *asked[-1], [])[0] == 403)
