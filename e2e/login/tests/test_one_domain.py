"""Launcher and workshops below one wildcard domain: a suffix distinguishes the hosts of workshops.

To a browser, launcher and workshops are then one site. It sends their cookies with requests of each other's pages, and pages
can set cookies for the whole domain. The tests run with Traefik, and without the browser with the front.
"""

import copy
import json

import pytest

from chain import ALICE, ANY, BOB, INGRESS, ONE_DOMAIN, ONE_HOST, WILDCARD, WORKSHOPS, cluster_ip, kubectl
from test_browser import run_in_browser
from test_sessions import test_no_session_cookie_reaches_an_app
from visitor import PAGE

JSON = {"Accept": "application/json", "Content-Type": "application/json"}
LAUNCHER_COOKIE, WORKSHOPS_COOKIE = "__Host-_oauth2_proxy", "__Secure-_oauth2_proxy_workshops"


@pytest.fixture(scope="module")
def chain(chain):
    """The chain with one domain. Afterwards the usual release is installed again."""
    one = copy.copy(chain)
    one.launcher, one.domain = f"https://{ONE_HOST}", ONE_DOMAIN
    one.addresses = chain.addresses | dict.fromkeys((ONE_HOST, f".{ONE_DOMAIN}"), cluster_ip(INGRESS, "traefik"))
    try:
        yield one
    finally:
        chain.install()


@pytest.fixture(scope="module", params=["traefik", "front"], autouse=True)
def edge_proxy(chain, request):
    """The release with one domain and one of the edge proxies: its name."""
    chain.install(*WILDCARD, *(ANY if request.param == "front" else ()))
    chain.until_old_pods_are_gone()
    return request.param


@pytest.fixture(scope="module")
def echo(chain, edge_proxy):
    """Alice's workshop, whose app echoes requests: (name, url)."""
    return chain.launched(chain.signed_in(ALICE))


@pytest.fixture(scope="module")
def alice(chain, echo):
    """A browser profile in which Alice is logged in at launcher and workshops."""
    alice = chain.signed_in(ALICE)
    assert alice.log_in(echo[1], ALICE).status == 200
    return alice


def test_workshop_has_host_with_suffix_and_objects_without(edge_proxy, echo, alice):
    name, url = echo
    assert url == f"https://{name}-ws.{ONE_DOMAIN}/"
    assert json.loads(alice.request("GET", url, PAGE).body)["host_header"] == f"{name}-ws.{ONE_DOMAIN}"
    words = ("--namespace", WORKSHOPS, "get", "pod,service,ingress", "--output", "name")
    objects = [path.split("/")[0] for path in kubectl(*words).split() if path.endswith(f"/{name}")]
    assert objects == ["pod", "service", "ingress.networking.k8s.io"][: 2 if edge_proxy == "front" else 3]


@pytest.mark.parametrize("host,status", [
    ("{name}", 421), ("{name}-w", 421), ("nothing", 421), ("{name}-ws-ws", 404), ("nothing-abcdefghij-ws", 404),
])
def test_other_host_below_the_domain_is_no_workshop(edge_proxy, echo, alice, host, status):
    """The front answers with this status. With Traefik, the notice program gives one answer at all addresses."""
    answer = alice.request("GET", f"https://{host.format(name=echo[0])}.{ONE_DOMAIN}/", PAGE)
    assert answer.status == (status if edge_proxy == "front" else 403) and '"app"' not in answer.body, answer


def test_other_user_gets_403(chain, echo):
    assert chain.signed_in(BOB).log_in(echo[1], BOB).status == 403


def test_launcher_cookie_is_host_only_and_workshops_cookie_is_another_one(alice):
    cookies = {name: (domain, host_only) for (domain, name), (_, _, host_only) in alice.cookies.items()}
    sessions = {name: found for name, found in cookies.items() if name.endswith(("_oauth2_proxy", "_oauth2_proxy_workshops"))}
    assert sessions == {LAUNCHER_COOKIE: (ONE_HOST, True), WORKSHOPS_COOKIE: (ONE_DOMAIN, False)}


@pytest.mark.parametrize("cookie", [LAUNCHER_COOKIE, WORKSHOPS_COOKIE])
def test_session_of_one_login_proxy_is_refused_by_the_other(chain, echo, alice, cookie):
    """Workshops get only the cookie of their own session, and the launcher gets both. Here each has each name."""
    (value,) = [value for (_, name), (value, _, _) in alice.cookies.items() if name == cookie]
    stolen = chain.visitor()
    for name in (LAUNCHER_COOKIE, WORKSHOPS_COOKIE):
        stolen.cookies[ONE_DOMAIN, name] = (value, "/", False)
    launcher = stolen.request("GET", f"{chain.launcher}/api/v1/me", JSON).status
    workshop = stolen.request("GET", echo[1], PAGE).status
    assert (launcher, workshop) == ((200, 302) if cookie == LAUNCHER_COOKIE else (401, 200))


@pytest.mark.parametrize("site,origin,status", [
    ("same-origin", "https://{launcher}", 200),
    ("same-site", "https://{workshop}", 403),
    ("same-site", "https://{launcher}", 403),
    ("same-origin", "https://{workshop}", 403),
    (None, "https://{workshop}", 403),
    ("same-site", None, 403),
])
def test_launcher_refuses_changes_of_same_site_pages(chain, echo, alice, site, origin, status):
    origin = origin and origin.format(launcher=ONE_HOST, workshop=echo[1].split("/")[2])
    headers = {name: value for name, value in {"Sec-Fetch-Site": site, "Origin": origin}.items() if value}
    answer = alice.request("POST", f"{chain.launcher}/api/v1/instances/{echo[0]}/extend", JSON | headers, "{}")
    assert answer.status == status, answer.body


def test_sign_out_ends_both_sessions(chain, echo):
    visitor = chain.signed_in(ALICE)
    visitor.log_in(echo[1], ALICE)
    home = visitor.request("GET", f"{chain.launcher}/", PAGE).body
    link = next(part for part in home.split('"') if part.startswith("/oauth2/sign_out")).replace("&amp;", "&")
    answer = visitor.open(f"{chain.launcher}{link}")
    assert (answer.url, answer.status) == (f"{chain.launcher}/signed-out", 401)
    assert visitor.request("GET", f"{chain.launcher}/api/v1/me").status == 401
    assert visitor.request("GET", echo[1], PAGE).status == 302


@pytest.mark.parametrize("edge_proxy", ["traefik"], indirect=True)
def test_hostile_workshop_in_browser(chain, edge_proxy):
    run_in_browser(chain, "test-hostile")
