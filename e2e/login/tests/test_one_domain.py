"""Launcher and workshops below one wildcard domain, with Traefik: a suffix distinguishes the hosts of workshops.

To a browser, launcher and workshops are then one site. It sends their cookies with requests of each other's pages, and pages
can set cookies for the whole domain.
"""

import copy
import json

import pytest

from chain import ALICE, BOB, INGRESS, WORKSHOPS, cluster_ip, kubectl
from test_browser import run_in_browser
from test_sessions import test_no_session_cookie_reaches_an_app
from visitor import PAGE

HOST, DOMAIN = "launcher.apps.example.test", "apps.example.test"
LAUNCHER_COOKIE, WORKSHOPS_COOKIE = "__Host-_oauth2_proxy", "__Secure-_oauth2_proxy_workshops"


@pytest.fixture(scope="module")
def chain(platform):
    one = copy.copy(platform)
    one.launcher, one.domain = f"https://{HOST}", DOMAIN
    one.addresses = platform.addresses | dict.fromkeys((HOST, f".{DOMAIN}"), cluster_ip(INGRESS, "traefik"))
    one.ensure("--set", f"host={HOST},workshops.domain={DOMAIN},workshops.nameSuffix=-ws")
    return one


@pytest.fixture(scope="module")
def echo(chain):
    """Alice's workshop, whose app echoes requests: (name, url)."""
    return chain.launched(chain.signed_in(ALICE))


def test_workshop_has_host_with_suffix_and_objects_without(echo, alice):
    name, url = echo
    assert url == f"https://{name}-ws.{DOMAIN}/"
    assert json.loads(alice.request("GET", url, PAGE).body)["host_header"] == f"{name}-ws.{DOMAIN}"
    words = ("--namespace", WORKSHOPS, "get", "pod,service,ingress", "--output", "name")
    objects = [path.split("/")[0] for path in kubectl(*words).split() if path.endswith(f"/{name}")]
    assert objects == ["pod", "service", "ingress.networking.k8s.io"]


def test_other_host_below_the_domain_is_no_workshop(echo, alice):
    for host in (echo[0], f"{echo[0]}-w", "nothing", "nothing-abcdefghij-ws"):
        answer = alice.request("GET", f"https://{host}.{DOMAIN}/", PAGE)
        assert answer.status == 403 and '"app"' not in answer.body, (host, answer)


def test_other_user_gets_403(chain, echo):
    assert chain.signed_in(BOB).log_in(echo[1], BOB).status == 403


def test_launcher_cookie_is_host_only_and_workshops_cookie_is_another_one(alice):
    assert set(alice.sessions()) == {(HOST, LAUNCHER_COOKIE), (DOMAIN, WORKSHOPS_COOKIE)}
    assert [alice.cookies[HOST, LAUNCHER_COOKIE][2], alice.cookies[DOMAIN, WORKSHOPS_COOKIE][2]] == [True, False]


@pytest.mark.parametrize("cookie", [LAUNCHER_COOKIE, WORKSHOPS_COOKIE])
def test_session_of_one_login_proxy_is_refused_by_the_other(chain, echo, alice, cookie):
    """Workshops get only the cookie of their own session, and the launcher gets both. Here each has each name."""
    (value,) = [value for (_, name), (value, _, _) in alice.cookies.items() if name == cookie]
    stolen = chain.visitor()
    for name in (LAUNCHER_COOKIE, WORKSHOPS_COOKIE):
        stolen.cookies[DOMAIN, name] = (value, "/", False)
    launcher = chain.api(stolen, "GET", "/me")[0]
    workshop = stolen.request("GET", echo[1], PAGE).status
    assert (launcher, workshop) == ((200, 302) if cookie == LAUNCHER_COOKIE else (401, 200))


@pytest.mark.parametrize("site,origin,status", [
    ("same-origin", "https://{launcher}", 200), ("same-site", "https://{workshop}", 403), ("same-site", None, 403),
    (None, "https://{workshop}", 403),
])
def test_launcher_refuses_changes_of_same_site_pages(chain, echo, alice, site, origin, status):
    origin = origin and origin.format(launcher=HOST, workshop=echo[1].split("/")[2])
    headers = {name: value for name, value in {"Sec-Fetch-Site": site, "Origin": origin}.items() if value}
    found, body = chain.api(alice, "POST", f"/instances/{echo[0]}/extend", "{}", **headers)
    assert found == status, body


def test_sign_out_ends_both_sessions(chain, echo):
    alice = chain.signed_in(ALICE, echo[1])
    answer = alice.sign_out(chain.launcher)
    assert (answer.url, answer.status) == (f"{chain.launcher}/signed-out", 401)
    assert chain.api(alice, "GET", "/me")[0] == 401
    assert alice.request("GET", echo[1], PAGE).status == 302


def test_hostile_workshop_in_browser(chain):
    run_in_browser(chain, "test-hostile")
