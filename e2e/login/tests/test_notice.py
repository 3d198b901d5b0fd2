"""With Traefik, every address without a workshop of the caller gives one answer: a page with a link to the launcher.

The answer is the same for a workshop of another user, for an ended workshop and for a name that never existed. The tests
compare answers as bytes, so that a difference that a user could notice makes them fail.
"""

import json
import urllib.parse

import pytest

from chain import ALICE, BOB, JSON, LAUNCHER, WORKSHOP_DOMAIN, until
from harness import ROOT
from visitor import PAGE

LANGUAGES = sorted(path.name for path in (ROOT / "crates/launcher-api/locales").iterdir())
FORGED = {**PAGE, "X-Auth-Request-Email": ALICE, "X_Auth_Request_Email": ALICE, "X-Auth-Request-Proof": "x" * 32}
# (method, path, headers, body)
REQUESTS = [
    *(("GET", "/lab?x=1", {**PAGE, "Accept-Language": language}, None) for language in LANGUAGES),
    ("GET", "/", JSON, None),
    ("GET", "/", FORGED, None),
    ("HEAD", "/", PAGE, None),
    ("OPTIONS", "/", {}, None),
    ("DELETE", "/api/kernels/1", JSON, None),
    ("POST", "/", {**PAGE, "Content-Type": "application/x-www-form-urlencoded"}, "a=b"),
    ("PUT", "/api/contents/x", JSON, "{}"),
    # Paths of the sidecar, of the login proxy and of the launcher.
    *(("GET", path, PAGE, None) for path in ("/_launcher/frame", "/healthz", "/oauth2/userinfo", "/api/v1/me", "/signed-out")),
]


@pytest.fixture(scope="module")
def addresses(chain, echo, bob):
    """URLs that lead Bob to no workshop: {kind: URL}. Bob is logged in at the workshops' domain. All names have the same length."""
    name, ended = chain.launched(bob)
    assert chain.api(bob, "DELETE", f"/instances/{name}")[0] == 202
    # While the pod terminates, its sidecar still answers.
    until(f"{ended} to lead to no workshop", lambda: bob.request("GET", ended, PAGE).status == 403)
    return {"another user's": echo[1], "ended": ended, "unknown": f"https://{name[:-10]}abcdefghij.{WORKSHOP_DOMAIN}/"}


def name_in(url):
    return urllib.parse.urlsplit(url).hostname.split(".")[0]


def answers_of(visitor, addresses, request):
    """Returns what a client can observe at each address: status, headers without the date, and body without the requested name."""
    method, path, headers, body = request
    found = []
    for url in addresses.values():
        answer = visitor.request(method, urllib.parse.urljoin(url, path), headers, body)
        headers_without_date = sorted(pair for pair in answer.headers.items() if pair[0] != "Date")
        found.append((answer.status, headers_without_date, answer.body.replace(name_in(url), "NAME")))
    return found


def test_user_gets_same_answer_at_foreign_ended_and_unknown_workshop(bob, addresses):
    for request in REQUESTS:
        first, *others = answers_of(bob, addresses, request)
        assert first[0] == 403 and ("Cache-Control", "no-store") in first[1] and BOB not in first[2], (request, first)
        assert others == [first] * 2, request


def test_answer_is_page_in_the_users_language_with_link_to_launcher(bob, addresses):
    answer = bob.request("GET", addresses["unknown"], {**PAGE, "Accept-Language": "ar"})
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert '<html lang="ar" dir="rtl">' in answer.body
    for path in "", f"instances/{name_in(addresses['unknown'])}":
        assert f'<a href="{LAUNCHER}/{path}" target="_top">' in answer.body, answer.body


def test_only_owner_learns_from_the_launcher_why_workshop_does_not_run(bob, addresses):
    def stopped(kind):
        path = f"/_launcher/class/{name_in(addresses[kind])}/stopped"
        return bob.request("GET", urllib.parse.urljoin(addresses[kind], path), JSON)

    assert json.loads(stopped("ended").body)["state"] in ("terminating", "terminated")
    assert [stopped(kind).status for kind in ("another user's", "unknown")] == [404, 404]


def without_random_values(location):
    """Returns (redirect to the provider without its random values, URL to return to after the login)."""
    parts = urllib.parse.urlsplit(location)
    query = dict(urllib.parse.parse_qsl(parts.query))
    # A random value, a colon and the URL.
    state = query.pop("state")
    kept = {name: value for name, value in query.items() if name not in ("nonce", "code_challenge")}
    return json.dumps((parts.netloc, parts.path, kept)), state.partition(":")[2]


def test_visitor_without_session_is_redirected_to_login_in_the_same_way(chain, addresses):
    pages = [f"{url}lab?x=1" for url in addresses.values()]
    answers = [chain.visitor().request("GET", page, PAGE) for page in pages]
    assert [answer.status for answer in answers] == [302] * 3
    redirects, returns = zip(*(without_random_values(answer.location) for answer in answers))
    assert list(returns) == pages
    assert len(set(redirects)) == 1 and "dex.test" in redirects[0]
    assert len({tuple(sorted(answer.headers.keys())) for answer in answers}) == 1


def test_request_without_session_gets_same_401(chain, addresses):
    for request in ("GET", "/api/kernels", PAGE, None), ("GET", "/", JSON, None), ("DELETE", "/api/x", JSON, None):
        first, *others = answers_of(chain.visitor(), addresses, request)
        assert first[0] == 401 and others == [first] * 2, request
