"""A provider with its own session: one form for two domains, signing out, users with many groups."""

import json
import re
import urllib.parse

import pytest

from chain import ALICE, ANY, BOB, ECHO, LAUNCHER, WORKSHOP_DOMAIN
from harness import wait_for
from test_browser import in_a_browser
from visitor import PAGE

SSO = "http://sso.test:5557"
MANY = "many@example.org"
SIGNED_OUT = f"{LAUNCHER}/signed-out"
WITH_SSO = ("--set", f"login.oidc.issuerURL={SSO}")
DEEP = f"{LAUNCHER}/launch/{ECHO}?from=a%2Fb+c&x=%C3%BC"
COOKIES = {"launcher.test": "__Host-_oauth2_proxy", WORKSHOP_DOMAIN: "__Secure-_oauth2_proxy_workshops"}


def install(chain, workshop, provider, *words):
    """Installs the release with these options, and waits until both hosts redirect to this provider only."""
    chain.install(*words)

    def all_lead_there():
        # Several requests, because the ingress briefly alternates between the old and the new login proxies.
        answers = [chain.visitor().request("GET", url, PAGE) for url in (f"{LAUNCHER}/", workshop) * 4]
        return {urllib.parse.urlsplit(answer.location or "").hostname for answer in answers} == {provider}

    wait_for(f"both doors to lead to {provider}", all_lead_there, 60)


@pytest.fixture(scope="module")
def sso(chain, echo):
    """The release with the provider that keeps a session; afterwards the usual release is installed again."""
    try:
        install(chain, echo[1], "sso.test", *WITH_SSO)
        yield
    finally:
        install(chain, echo[1], "dex.test")


@pytest.fixture
def signing_out_everywhere(chain, echo, sso):
    """The same release, with the provider's own sign-out at the end of the launcher's."""
    back = urllib.parse.quote(SIGNED_OUT, safe="")
    url = f"{SSO}/session/end?client_id=launcher&post_logout_redirect_uri={back}"
    try:
        install(chain, echo[1], "sso.test", *WITH_SSO, "--set-string", f"login.signedOutURL={url}")
        yield
    finally:
        install(chain, echo[1], "sso.test", *WITH_SSO)


def in_both(chain, email, workshop):
    """Returns a profile that has a session on both domains."""
    visitor = chain.signed_in(email)
    visitor.open(workshop)
    assert set(sessions(visitor)) == set(COOKIES), "there is something to sign out of"
    return visitor


def sessions(visitor):
    """Returns the session cookies of the two login proxies: {domain: {name: bytes of name and value}}."""
    found = {}
    for (domain, name), (value, _, _) in visitor.cookies.items():
        if re.fullmatch(rf"{re.escape(COOKIES.get(domain, '-'))}(_\d+)?", name):
            found.setdefault(domain, {})[name] = len(name) + len(value)
    return found


def sign_out(visitor):
    """Follows the page's sign-out link."""
    home = visitor.request("GET", f"{LAUNCHER}/", PAGE).body
    link = next(part for part in home.split('"') if part.startswith("/oauth2/sign_out")).replace("&amp;", "&")
    return visitor.open(f"{LAUNCHER}{link}")


def assert_signed_out(visitor, workshop):
    assert sessions(visitor) == {}
    assert visitor.request("GET", f"{LAUNCHER}/api/v1/me").status == 401
    assert visitor.request("GET", workshop, PAGE).status == 302


def test_wrong_password_is_refused(chain, sso):
    visitor = chain.visitor()
    answer = visitor.log_in(DEEP, ALICE, "wrong")
    assert answer.asks and answer.url.startswith(SSO)
    assert sessions(visitor) == {}


def test_one_login_opens_both_domains(chain, echo, sso):
    alice = chain.visitor()
    answer = alice.log_in(DEEP, ALICE)
    assert (answer.status, answer.url) == (200, DEEP)
    workshop = f"{echo[1]}lab?x=1&from=a%2Fb+c"
    answer = alice.open(workshop)
    assert (answer.status, answer.url) == (200, workshop), answer.body
    assert json.loads(answer.body)["path"] == "/lab?x=1&from=a%2Fb+c"
    assert set(sessions(alice)) == set(COOKIES), "each domain has a session of its own"
    assert alice.forms == 1


def test_one_login_at_workshop_opens_both_domains(chain, echo, sso):
    alice = chain.visitor()
    assert alice.log_in(f"{echo[1]}lab?x=1", ALICE).status == 200
    answer = alice.open(DEEP)
    assert (answer.status, answer.url) == (200, DEEP)
    assert ALICE in answer.body
    assert alice.forms == 1


def test_other_user_gets_403_after_one_login(chain, echo, sso):
    bob = chain.signed_in(BOB)
    answer = bob.open(echo[1])
    assert (answer.status, answer.url) == (403, echo[1])
    assert '"app"' not in answer.body
    assert bob.forms == 1


def test_signing_out_ends_both_sessions_but_not_provider_session(chain, echo, sso):
    """The provider keeps its session, so the browser's next user is logged in without a password."""
    alice = in_both(chain, ALICE, echo[1])
    answer = sign_out(alice)
    assert (answer.url, answer.asks) == (SIGNED_OUT, False)
    assert_signed_out(alice, echo[1])
    assert ALICE in alice.open(f"{LAUNCHER}/").body
    assert alice.forms == 1


def test_signing_out_can_end_provider_session(chain, echo, signing_out_everywhere):
    alice = in_both(chain, ALICE, echo[1])
    answer = sign_out(alice)
    assert answer.url.startswith(f"{SSO}/session/end?"), "the provider asks whether that is what she wants"
    assert alice.submit(answer, logout="yes").url == SIGNED_OUT
    assert_signed_out(alice, echo[1])
    for url in (f"{LAUNCHER}/", echo[1]):
        assert alice.open(url).asks, f"{url} let her in without a password"


@pytest.fixture(params=["traefik", "front"])
def way_in(chain, echo, sso, request):
    """The same release with Traefik's middlewares, and with the release's own nginx."""
    if request.param == "traefik":
        yield request.param
        return
    try:
        install(chain, echo[1], "sso.test", *WITH_SSO, *ANY)
        yield request.param
    finally:
        install(chain, echo[1], "sso.test", *WITH_SSO)


def test_session_in_several_cookies_opens_both_domains(chain, way_in):
    many = chain.signed_in(MANY)
    url = f"{chain.launched(many)[1]}lab?x=1"
    answer = many.open(url)
    assert (answer.status, answer.url) == (200, url), answer.body
    assert json.loads(many.request("GET", f"{LAUNCHER}/api/v1/me").body)["email"] == MANY
    assert many.forms == 1
    kept = sessions(many)
    assert set(kept) == set(COOKIES)
    for domain, name in COOKIES.items():
        sizes = kept[domain]
        assert {f"{name}_0", f"{name}_1"} <= set(sizes), sizes
        assert sum(sizes.values()) > 8 * 1024, sizes
        assert max(sizes.values()) < 4096, "no browser keeps a larger cookie"
    received = answer.body.lower()
    assert "oauth2" not in received and "x-auth-request" not in received, "all parts stay outside of the app"
    sign_out(many)
    assert_signed_out(many, url)


def test_single_sign_on_in_browser(chain, sso):
    in_a_browser(chain, "test-single-sign-on")
