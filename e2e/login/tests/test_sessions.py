"""Login, return to the requested page, and sign-out, tested over HTTP without a browser."""

import json
import urllib.parse

import pytest

from chain import ALICE, BOB, LAUNCHER, WORKSHOP_DOMAIN
from visitor import PAGE

DEEP = f"{LAUNCHER}/launch/01980000-0000-7000-8000-000000000002?from=a%2Fb+c&x=%C3%BC"


def test_launcher_deep_link_is_unchanged_after_login(chain):
    visitor = chain.visitor()
    answer = visitor.log_in(DEEP, ALICE)
    assert (answer.status, answer.url) == (200, DEEP)
    assert ALICE in answer.body


def test_unauthenticated_pages_redirect_and_api_returns_401(chain):
    visitor = chain.visitor()
    page = visitor.request("GET", f"{LAUNCHER}/", PAGE)
    assert page.status == 302
    assert urllib.parse.urlsplit(page.location).hostname == "dex.test"
    for accept in ("application/json", "text/html", "*/*"):
        answer = visitor.request("GET", f"{LAUNCHER}/api/v1/me", {"Accept": accept})
        assert (answer.status, answer.location) == (401, None)


def test_unauthenticated_subresources_set_no_cookies(chain):
    visitor = chain.visitor()
    for path in ("/assets/app.css", "/fragments/workshops", "/fragments/events"):
        answer = visitor.request("GET", f"{LAUNCHER}{path}", {"Accept": "*/*", "Sec-Fetch-Dest": "empty"})
        assert answer.status == 401, path
    assert visitor.cookies == {}


def test_api_returns_identity_of_logged_in_user(chain):
    for email, is_admin in ((ALICE, False), ("admin@example.org", True)):
        me = json.loads(chain.signed_in(email).request("GET", f"{LAUNCHER}/api/v1/me").body)
        assert (me["email"], me["is_admin"]) == (email, is_admin)


def test_workshop_deep_link_is_unchanged_after_login(chain, echo):
    answer = chain.signed_in(ALICE).log_in(f"{echo[1]}lab?x=1", ALICE)
    assert answer.status == 200, answer.body
    assert json.loads(answer.body)["path"] == "/lab?x=1"


def test_no_session_cookie_reaches_an_app(chain, echo):
    visitor = chain.signed_in(ALICE)
    visitor.log_in(echo[1], ALICE)
    answer = visitor.request("GET", echo[1], {"Cookie-Test": "1"})
    received = json.loads(answer.body)["headers"]
    assert any("oauth2_proxy" in name for _, name in visitor.cookies), "expected a session cookie"
    assert "oauth2" not in json.dumps(received).lower()
    assert not [name for name in received if name.lower().startswith("x-auth-request")]


def test_launcher_session_is_refused_by_workshop(chain, echo):
    visitor = chain.signed_in(ALICE)
    cookies = [(domain, name, host_only) for (domain, name), (_, _, host_only) in visitor.cookies.items()]
    mine = [cookie for cookie in cookies if "__Host-" in cookie[1]]
    assert mine and all(domain == "launcher.test" and host_only for domain, _, host_only in mine)
    launcher = {name: value for (domain, name), (value, _, _) in visitor.cookies.items() if domain == "launcher.test"}
    stolen = chain.visitor()
    for name, value in launcher.items():
        stolen.cookies[(f".{WORKSHOP_DOMAIN}".lstrip("."), name)] = (value, "/", False)
    answer = stolen.request("GET", echo[1], PAGE)
    assert answer.status == 302, "expected the workshop to refuse the launcher's session cookies"


def test_other_user_gets_403_from_workshop_and_404_from_api(chain, echo):
    name, url = echo
    visitor = chain.signed_in(BOB)
    assert visitor.log_in(url, BOB).status == 403
    answer = visitor.request("GET", f"{LAUNCHER}/api/v1/instances/{name}")
    unknown = visitor.request("GET", f"{LAUNCHER}/api/v1/instances/nothing-abcdefghij")
    assert (answer.status, answer.body) == (404, unknown.body)


def test_sign_out_ends_launcher_and_workshop_sessions(chain, echo):
    visitor = chain.signed_in(ALICE)
    visitor.log_in(echo[1], ALICE)
    home = visitor.request("GET", f"{LAUNCHER}/", PAGE).body
    link = next(part for part in home.split('"') if part.startswith("/oauth2/sign_out")).replace("&amp;", "&")
    answer = visitor.open(f"{LAUNCHER}{link}")
    assert (answer.url, answer.status) == (f"{LAUNCHER}/signed-out", 401)
    assert "You are signed out" in answer.body
    sessions = [name for _, name in visitor.cookies if name.endswith(("_oauth2_proxy", "_oauth2_proxy_workshops"))]
    assert sessions == []
    assert visitor.request("GET", f"{LAUNCHER}/api/v1/me").status == 401
    assert visitor.request("GET", echo[1], PAGE).status == 302


@pytest.mark.parametrize("target", ["https://evil.test/", "//evil.test", "/\\evil.test", "javascript:alert(1)"])
def test_login_does_not_redirect_to_foreign_hosts(chain, target):
    visitor = chain.visitor()
    start = f"{LAUNCHER}/oauth2/start?rd={urllib.parse.quote(target, safe='')}"
    answer = visitor.log_in(start, ALICE)
    assert urllib.parse.urlsplit(answer.url).hostname == "launcher.test", answer.url
