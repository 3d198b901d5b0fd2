"""With Traefik, every address without a workshop of the caller gives one answer: a page with a link to the launcher.

The answer is the same for a workshop of another user, for an ended workshop and for a name that never existed. The tests
compare answers as bytes, so that a difference that a user could notice makes them fail.
"""

import json
import urllib.parse

import pytest

from chain import ALICE, BOB, LAUNCHER, WORKSHOP_DOMAIN, settled
from harness import wait_for
from visitor import PAGE

JSON = {"Accept": "application/json", "Content-Type": "application/json"}
FORM = {**PAGE, "Content-Type": "application/x-www-form-urlencoded"}
# {language: direction of its script}
LANGUAGES = {"ar": "rtl", "de": "ltr", "en": "ltr", "es": "ltr", "fr": "ltr", "zh": "ltr"}
# (method, path, headers, body)
REQUESTS = [
    *(("GET", "/lab?x=1", {**PAGE, "Accept-Language": language}, None) for language in LANGUAGES),
    ("GET", "/", {}, None),
    ("GET", "/", JSON, None),
    ("HEAD", "/", PAGE, None),
    ("OPTIONS", "/", {}, None),
    ("DELETE", "/api/kernels/1", JSON, None),
    ("POST", "/", FORM, "a=b"),
    ("PUT", "/api/contents/x", JSON, "{}"),
    ("GET", "/_launcher/frame", PAGE, None),
    ("GET", "/_launcher/status", JSON, None),
    ("GET", "/healthz", PAGE, None),
    ("GET", "/oauth2/userinfo", PAGE, None),
]


@pytest.fixture(scope="module")
def bob(chain):
    """A browser profile in which Bob is logged in at the launcher."""
    return chain.signed_in(BOB)


@pytest.fixture(scope="module")
def addresses(chain, echo, bob):
    """URLs that lead Bob to no workshop: {kind: URL}. Bob is logged in at the workshops' domain."""
    name, ended = chain.launched(bob)
    assert bob.log_in(ended, BOB).status == 200
    assert bob.request("DELETE", f"{LAUNCHER}/api/v1/instances/{name}", JSON).status < 300
    # While the pod terminates, its sidecar still answers.
    wait_for(f"{ended} to lead to no workshop", lambda: settled(lambda: bob.request("GET", ended, PAGE).status == 403), 60)
    return {"another user's": echo[1], "ended": ended, "unknown": f"https://nothing-abcdefghij.{WORKSHOP_DOMAIN}/"}


def answer_of(visitor, url, request):
    """Returns what a client can observe: status, headers without the date, and body."""
    method, path, headers, body = request
    answer = visitor.request(method, urllib.parse.urljoin(url, path), headers, body)
    return answer.status, sorted((name, value) for name, value in answer.headers.items() if name != "Date"), answer.body


def named(request):
    method, path, headers, _ = request
    return f"{method} {path} {headers.get('Accept-Language', headers.get('Accept', ''))[:16]}"


@pytest.mark.parametrize("request_of_bob", REQUESTS, ids=named)
def test_user_gets_same_answer_at_foreign_ended_and_unknown_workshop(bob, addresses, request_of_bob):
    answers = {kind: answer_of(bob, url, request_of_bob) for kind, url in addresses.items()}
    status, headers, _ = answers["unknown"]
    assert status == 403, answers
    assert ("Cache-Control", "no-store") in headers, headers
    assert answers["ended"] == answers["unknown"] == answers["another user's"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_answer_is_styled_page_with_link_to_launcher(bob, addresses, language):
    answer = bob.request("GET", addresses["unknown"], {**PAGE, "Accept-Language": language})
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "style-src 'sha256-" in answer.headers["Content-Security-Policy"]
    assert f'<html lang="{language}" dir="{LANGUAGES[language]}">' in answer.body
    assert "<style>" in answer.body and f'<a href="{LAUNCHER}/" target="_top">' in answer.body


def test_owner_still_reaches_own_workshop(chain, echo):
    """The Ingress of a workshop precedes the Ingress with the wildcard."""
    alice = chain.visitor()
    answer = alice.log_in(echo[1], ALICE)
    assert (answer.status, json.loads(answer.body)["app"]) == (200, "http")


def without_random_values(location):
    """Returns (redirect to the provider without its random values, URL to return to after the login)."""
    parts = urllib.parse.urlsplit(location)
    query = dict(urllib.parse.parse_qsl(parts.query))
    # A random value, a colon and the URL.
    state = query.pop("state")
    kept = {name: value for name, value in query.items() if name not in ("nonce", "code_challenge")}
    return (parts.netloc, parts.path, kept), state.partition(":")[2]


def test_visitor_without_session_is_redirected_to_login_in_the_same_way(chain, addresses):
    answers = {kind: chain.visitor().request("GET", f"{url}lab?x=1", PAGE) for kind, url in addresses.items()}
    assert {kind: answer.status for kind, answer in answers.items()} == dict.fromkeys(addresses, 302)
    redirects = {kind: without_random_values(answer.location) for kind, answer in answers.items()}
    assert {kind: url for kind, (_, url) in redirects.items()} == {kind: f"{url}lab?x=1" for kind, url in addresses.items()}
    (redirect,) = {json.dumps(redirect) for redirect, _ in redirects.values()}
    assert "dex.test" in redirect
    assert len({tuple(sorted(answer.headers.keys())) for answer in answers.values()}) == 1


@pytest.mark.parametrize(
    "request_of_visitor",
    [("GET", "/api/kernels", PAGE, None), ("GET", "/", JSON, None), ("DELETE", "/api/x", JSON, None)],
    ids=named,
)
def test_request_without_session_gets_same_401(chain, addresses, request_of_visitor):
    found = {kind: answer_of(chain.visitor(), url, request_of_visitor) for kind, url in addresses.items()}
    assert found["unknown"][0] == 401
    assert found["ended"] == found["unknown"] == found["another user's"]


def test_session_of_launcher_is_refused_at_unknown_workshop(chain, addresses):
    alice = chain.signed_in(ALICE)
    stolen = chain.visitor()
    for (_, name), (value, path, _) in alice.cookies.items():
        stolen.cookies[(WORKSHOP_DOMAIN, name)] = (value, path, False)
    assert stolen.request("GET", addresses["unknown"], PAGE).status == 302


def test_forged_identity_gets_same_answer_at_unknown_workshop(bob, addresses):
    forged = {**PAGE, "X-Auth-Request-Email": ALICE, "X_Auth_Request_Email": ALICE, "X-Auth-Request-Proof": "x" * 32}
    request = ("GET", "/", forged, None)
    assert answer_of(bob, addresses["unknown"], request) == answer_of(bob, addresses["another user's"], request)


def test_launcher_answers_at_no_address_of_workshops(bob, addresses):
    for path in ("/", "/api/v1/me", "/assets/app.css", "/signed-out"):
        answer = bob.request("GET", urllib.parse.urljoin(addresses["unknown"], path), PAGE)
        assert answer.status == 403 and BOB not in answer.body, (path, answer.status, answer.body)
