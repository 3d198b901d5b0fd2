"""A login provider that keeps its own session: one login for two domains, sign-out, users with many groups."""

import json
import re
import urllib.parse

import pytest

from chain import ALICE, ANY, BOB, ECHO, LAUNCHER, WORKSHOP_DOMAIN, settled
from harness import wait_for
from test_browser import run_in_browser
from visitor import PAGE

SSO = "http://sso.test:5557"
MANY = "many@example.org"
SIGNED_OUT = f"{LAUNCHER}/signed-out"
WITH_SSO = ("--set", f"login.oidc.issuerURL={SSO}")
DEEP = f"{LAUNCHER}/launch/{ECHO}?from=a%2Fb+c&x=%C3%BC"
COOKIES = {"launcher.test": "__Host-_oauth2_proxy", WORKSHOP_DOMAIN: "__Secure-_oauth2_proxy_workshops"}


def install(chain, workshop, provider, *words):
    """Installs the release with these options. Waits until launcher and workshop redirect only to this provider."""
    chain.install(*words)

    def all_redirect_to_provider():
        # Send several requests: after an upgrade, the ingress briefly alternates between old and new login proxies.
        answers = [chain.visitor().request("GET", url, PAGE) for url in (f"{LAUNCHER}/", workshop) * 4]
        return {urllib.parse.urlsplit(answer.location or "").hostname for answer in answers} == {provider}

    wait_for(f"launcher and workshop to redirect to {provider}", lambda: settled(all_redirect_to_provider), 60)
    chain.until_old_pods_are_gone()


@pytest.fixture(scope="module")
def sso(chain, echo):
    """The release with the provider that keeps a session. Afterwards the usual release is installed again."""
    try:
        install(chain, echo[1], "sso.test", *WITH_SSO)
        yield
    finally:
        install(chain, echo[1], "dex.test")


@pytest.fixture
def provider_sign_out(chain, echo, sso):
    """The release, configured so that a sign-out at the launcher also ends the session at the provider."""
    back = urllib.parse.quote(SIGNED_OUT, safe="")
    url = f"{SSO}/session/end?client_id=launcher&post_logout_redirect_uri={back}"
    try:
        install(chain, echo[1], "sso.test", *WITH_SSO, "--set-string", f"login.signedOutURL={url}")
        yield
    finally:
        install(chain, echo[1], "sso.test", *WITH_SSO)


def logged_in_to_both(chain, email, workshop):
    """Returns a browser profile that has one session at the launcher and one at the workshops."""
    visitor = chain.signed_in(email)
    visitor.open(workshop)
    assert set(sessions(visitor)) == set(COOKIES), "expected a launcher and a workshop session before the sign-out"
    return visitor


def sessions(visitor):
    """Returns the session cookies of both login proxies: {domain: {cookie name: bytes of name and value}}."""
    found = {}
    for (domain, name), (value, _, _) in visitor.cookies.items():
        if re.fullmatch(rf"{re.escape(COOKIES.get(domain, '-'))}(_\d+)?", name):
            found.setdefault(domain, {})[name] = len(name) + len(value)
    return found


def sign_out(visitor):
    """Follows the sign-out link of the launcher's start page."""
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
    assert answer.is_login_form and answer.url.startswith(SSO)
    assert sessions(visitor) == {}


def test_login_at_launcher_also_opens_workshop(chain, echo, sso):
    alice = chain.visitor()
    answer = alice.log_in(DEEP, ALICE)
    assert (answer.status, answer.url) == (200, DEEP)
    workshop = f"{echo[1]}lab?x=1&from=a%2Fb+c"
    answer = alice.open(workshop)
    assert (answer.status, answer.url) == (200, workshop), answer.body
    assert json.loads(answer.body)["path"] == "/lab?x=1&from=a%2Fb+c"
    assert set(sessions(alice)) == set(COOKIES), "expected separate sessions for launcher and workshops"
    assert alice.forms == 1


def test_login_at_workshop_also_opens_launcher(chain, echo, sso):
    alice = chain.visitor()
    assert alice.log_in(f"{echo[1]}lab?x=1", ALICE).status == 200
    answer = alice.open(DEEP)
    assert (answer.status, answer.url) == (200, DEEP)
    assert ALICE in answer.body
    assert alice.forms == 1


def test_other_user_gets_403_from_workshop_after_login_at_launcher(chain, echo, sso):
    bob = chain.signed_in(BOB)
    answer = bob.open(echo[1])
    assert (answer.status, answer.url) == (403, echo[1])
    assert '"app"' not in answer.body
    assert bob.forms == 1


def test_sign_out_ends_launcher_and_workshop_sessions_but_not_provider_session(chain, echo, sso):
    """The provider keeps its session: the next user of the same browser is logged in as Alice without a password."""
    alice = logged_in_to_both(chain, ALICE, echo[1])
    answer = sign_out(alice)
    assert (answer.url, answer.is_login_form) == (SIGNED_OUT, False)
    assert_signed_out(alice, echo[1])
    assert ALICE in alice.open(f"{LAUNCHER}/").body
    assert alice.forms == 1


def test_sign_out_ends_provider_session_if_configured(chain, echo, provider_sign_out):
    alice = logged_in_to_both(chain, ALICE, echo[1])
    answer = sign_out(alice)
    assert answer.url.startswith(f"{SSO}/session/end?"), "expected the provider to ask for confirmation"
    assert alice.submit(answer, logout="yes").url == SIGNED_OUT
    assert_signed_out(alice, echo[1])
    for url in (f"{LAUNCHER}/", echo[1]):
        assert alice.open(url).is_login_form, f"{url} opened without a password after the sign-out"


@pytest.fixture(params=["traefik", "front"])
def edge_proxy(chain, echo, sso, request):
    """The edge proxy of the release: Traefik with the chart's middlewares, or the front."""
    if request.param == "traefik":
        yield request.param
        return
    try:
        install(chain, echo[1], "sso.test", *WITH_SSO, *ANY)
        yield request.param
    finally:
        install(chain, echo[1], "sso.test", *WITH_SSO)


def test_session_split_over_cookies_opens_launcher_and_workshop(chain, edge_proxy):
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
        assert max(sizes.values()) < 4096, "browsers refuse cookies of 4096 bytes or more"
    received = answer.body.lower()
    assert "oauth2" not in received and "x-auth-request" not in received, "expected no part of the session at the app"
    sign_out(many)
    assert_signed_out(many, url)


def test_single_sign_on_works_in_browser(chain, sso):
    run_in_browser(chain, "test-single-sign-on")
