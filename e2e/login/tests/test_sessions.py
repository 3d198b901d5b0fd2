"""Sessions over HTTP without a browser, with the provider that keeps none: logins, cookies, users, sign-out."""

import json
import urllib.parse

import pytest
from websockets.exceptions import InvalidStatus

from chain import ALICE, LAUNCHER, WORKSHOP_DOMAIN
from harness import DEADLINE
from visitor import PAGE


def test_unauthenticated_pages_redirect_and_api_returns_401(chain):
    visitor = chain.visitor()
    page = visitor.request("GET", f"{LAUNCHER}/", PAGE)
    assert (page.status, urllib.parse.urlsplit(page.location).hostname) == (302, "dex.test")
    for accept in ("application/json", "text/html", "*/*"):
        answer = visitor.request("GET", f"{LAUNCHER}/api/v1/me", {"Accept": accept})
        assert (answer.status, answer.location) == (401, None)


def test_unauthenticated_subresources_set_no_cookies(chain):
    visitor = chain.visitor()
    for path in ("/assets/app.css", "/fragments/workshops", "/fragments/events"):
        answer = visitor.request("GET", f"{LAUNCHER}{path}", {"Accept": "*/*", "Sec-Fetch-Dest": "empty"})
        assert answer.status == 401, path
    assert visitor.cookies == {}


def test_no_session_cookie_reaches_an_app(alice, echo):
    received = json.loads(alice.request("GET", echo[1], {"Cookie-Test": "1"}).body)["headers"]
    assert len(alice.sessions()) == 2
    assert "oauth2" not in json.dumps(received).lower()
    assert not [name for name in received if name.lower().startswith("x-auth-request")]


def test_other_user_gets_403_from_workshop_and_404_from_api(chain, bob, echo):
    assert bob.request("GET", echo[1], PAGE).status == 403
    found = chain.api(bob, "GET", f"/instances/{echo[0]}")
    assert found[0] == 404 and found == chain.api(bob, "GET", "/instances/nothing-abcdefghij")


def test_websocket_opens_only_for_owner(chain, alice, bob, echo):
    # Without a session, the login proxies answer 401 to requests of an API, and redirect others.
    host, path = echo[1].split("/")[2], "/api/events"
    with alice.web_socket(host, path) as channel:
        channel.send("hello")
        assert channel.recv(DEADLINE) == "hello"
    for visitor, status in ((bob, 403), (chain.visitor(), 401)):
        with pytest.raises(InvalidStatus) as refused:
            visitor.web_socket(host, path)
        assert refused.value.response.status_code == status


def test_requests_with_many_cookies_are_accepted(chain, echo):
    alice = chain.signed_in(ALICE, echo[1])
    for part in range(6):
        for domain in ("launcher.test", WORKSHOP_DOMAIN):
            alice.cookies[domain, f"other_{part}"] = ("c" * 4000, "/", domain == "launcher.test")
    assert chain.api(alice, "GET", "/me")[0] == 200
    received = json.loads(alice.request("GET", echo[1]).body)["headers"]
    assert received["Cookie"][0].count("other_") == 6


def test_sign_out_ends_launcher_and_workshop_sessions(chain, echo):
    alice = chain.signed_in(ALICE, echo[1])
    answer = alice.sign_out(chain.launcher)
    assert (answer.url, answer.status) == (f"{chain.launcher}/signed-out", 401)
    assert "You are signed out" in answer.body
    assert alice.sessions() == {}
    assert chain.api(alice, "GET", "/me")[0] == 401
    assert alice.request("GET", echo[1], PAGE).status == 302


@pytest.mark.parametrize("target", ["https://evil.test/", "//evil.test", "/\\evil.test", "javascript:alert(1)"])
def test_login_does_not_redirect_to_foreign_hosts(chain, target):
    start = f"{LAUNCHER}/oauth2/start?rd={urllib.parse.quote(target, safe='')}"
    answer = chain.visitor().log_in(start, ALICE)
    assert urllib.parse.urlsplit(answer.url).hostname == "launcher.test", answer.url
