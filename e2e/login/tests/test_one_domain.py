"""Launcher and workshops below one wildcard domain, with Traefik: a suffix distinguishes the hosts of workshops.

To a browser, launcher and workshops are then one site. It sends their cookies with requests of each other's pages, and pages
can set cookies for the whole domain. The imported tests also run in their own files, there with two domains.
"""

import copy
import json

import pytest

from chain import ALICE, INGRESS, WORKSHOPS, cluster_ip, kubectl
from test_browser import run_in_browser
from test_edge_proxy import test_owner_reaches_workshop_despite_forged_header
from test_sessions import (
    test_no_session_cookie_reaches_an_app, test_other_user_gets_403_from_workshop_and_404_from_api,
    test_sign_out_ends_launcher_and_workshop_sessions, test_websocket_opens_only_for_owner,
)
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


def test_hostile_workshop_in_browser(chain):
    run_in_browser(chain, "test-hostile")
