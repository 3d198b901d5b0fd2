"""Tests of the front: its rendered nginx configuration, its Kubernetes objects, and the start script, which adapts nginx to
its pod and its version. No cluster is needed."""

import re
import shutil
import subprocess

import pytest

from chart import RELEASE, render, values_schema
from harness import DEADLINE
from nginx_conf import blocks, directives, http_of, parsed, servers_of, the

HOST, DOMAIN = "launcher.example.org", "workshops.example.net"
FRONT = f"{RELEASE}-front"
AUTH_LOCATION = "/.front/question"
IDENTITY = {
    f"X-{name}"
    for name in (
        "Auth-Request-Email", "Auth-Request-User", "Auth-Request-Groups", "Auth-Request-Preferred-Username",
        "Auth-Request-Access-Token", "Auth-Request-Redirect", "Auth-Request-Proof", "Forwarded-Email",
        "Forwarded-User", "Forwarded-Groups", "Forwarded-Preferred-Username", "Forwarded-Access-Token",
    )
}


@pytest.fixture(scope="module")
def http():
    return http_of(render("any"))


@pytest.fixture(scope="module")
def servers(http):
    return servers_of(http)


WORKSHOP = r"~^(?<front_workshop>[a-z]([a-z0-9-]{0,61}[a-z0-9])?)\.workshops\.example\.net$"


def service(name):
    return f"http://{RELEASE}{name}.launcher.$front_services"


def test_each_nginx_location_has_expected_upstream_and_login_proxy(servers):
    launcher, login, workshops = service(""), service("-login"), service("-workshops-login")
    assert list(servers)[0] == "_"
    found = {
        (server, location): (
            the(block, "proxy_pass"),
            the(block, "auth_request") == AUTH_LOCATION,
            [" ".join(words) for words in directives(block, "error_page")],
        )
        for server, locations in servers.items()
        for location, block in locations.items()
        if the(block, "proxy_pass")
    }
    workshop = "http://$front_workshop.workshops.$front_services"
    assert found == {
        (HOST, "/"): (launcher, True, ["401 = @login"]),
        (HOST, "~ ^/(api|assets|fragments)(/|$)"): (launcher, True, ["401 = @unauthorized"]),
        (HOST, "= /signed-out"): (f"{launcher}/signed-out$is_args$args", False, []),
        (HOST, "~ ^/oauth2(/|$)"): (login, False, []),
        (HOST, f"= {AUTH_LOCATION}"): (f"{login}/oauth2/auth", False, []),
        (HOST, "@login"): (f"{login}/", False, []),
        (f"login.{DOMAIN}", "~ ^/oauth2(/|$)"): (workshops, False, []),
        (WORKSHOP, f"= {AUTH_LOCATION}"): (f"{workshops}/oauth2/auth", False, []),
        (WORKSHOP, "@login"): (f"{workshops}/", False, []),
        (WORKSHOP, "/"): (workshop, True, ["401 = @login", "502 = @gone"]),
        # The bar of a workshop has the workshops' login.
        (WORKSHOP, "^~ /_launcher/class/"): (launcher, True, ["401 = @unauthorized"]),
    }


def workshop_in(pattern, host):
    """Returns the name of the workshop that this server_name of nginx finds in a host, or None."""
    found = re.search(pattern.removeprefix("~").replace("?<", "?P<"), host)
    return found and found["front_workshop"]


def test_nginx_accepts_only_dns_labels_as_workshop_names():
    for name in ("jupyterlab-abcdefghij", "a", "a" * 63):
        assert workshop_in(WORKSHOP, f"{name}.{DOMAIN}") == name
        assert not workshop_in(WORKSHOP, f"{name}.workshops-example.net") and not workshop_in(WORKSHOP, f"{name}.{DOMAIN}.evil")
    for name in ("a" * 64, "", "-a", "a-", "1a", "a.b", "a_b", "a/b", "a%2e"):
        assert not workshop_in(WORKSHOP, f"{name}.{DOMAIN}"), name


def test_nginx_takes_name_of_workshop_from_host_with_suffix():
    changes = "host=launcher.apps.example.edu,workshops.domain=apps.example.edu,workshops.nameSuffix=-ws"
    *exact, pattern = servers_of(http_of(render("any", changes)))
    assert exact == ["_", "launcher.apps.example.edu", "login.apps.example.edu"]
    for name in ("jupyterlab-abcdefghij", "x-ws", "a" * 60):
        assert workshop_in(pattern, f"{name}-ws.apps.example.edu") == name
    without = ("jupyterlab-abcdefghij", "jupyterlab-abcdefghij-w", "jupyterlab-abcdefghij-wsx", "launcher", "login")
    for name in (*without, "-ws", "ws", "a--ws", "a.b-ws", "a-WS"):
        assert not workshop_in(pattern, f"{name}.apps.example.edu"), name


def test_identity_headers_come_only_from_login_proxy(http, servers):
    sent = dict((name, value) for name, value in directives(http, "proxy_set_header"))
    said = {"X-Auth-Request-Email": "$front_email", "X-Auth-Request-User": "$front_user"}
    said["X-Auth-Request-Proof"] = "$front_proof"
    assert {name: sent[name] for name in IDENTITY} == dict.fromkeys(IDENTITY, "") | said
    assert sent["Host"] == sent["X-Forwarded-Host"] == "$http_host"
    assert (sent["X-Forwarded-Proto"], sent["X-Forwarded-Uri"]) == ("https", "$request_uri")
    assert (the(http, "ignore_invalid_headers"), the(http, "underscores_in_headers")) == ("on", "off")
    for server, locations in servers.items():
        for location, block in locations.items():
            if location in (f"= {AUTH_LOCATION}", "@login"):
                continue
            # A location with its own proxy_set_header inherits none from the http block, and forwards the client's identity.
            assert not directives(block, "proxy_set_header"), (server, location)
            told = directives(block, "auth_request_set")
            if the(block, "auth_request"):
                assert set(told) == {
                    ("$front_email", "$upstream_http_x_auth_request_email"),
                    ("$front_user", "$upstream_http_x_auth_request_user"),
                }
            else:
                assert not told, (server, location)


def test_login_proxy_receives_only_listed_headers(servers):
    named = {f"X-Forwarded-{name}" for name in ("Proto", "Host", "Uri", "Method")}
    named |= {"Connection", "Cookie", "Accept", "User-Agent", "X-Real-Ip"}
    for server in (HOST, WORKSHOP):
        question, login = servers[server][f"= {AUTH_LOCATION}"], servers[server]["@login"]
        assert directives(question, "internal") == [()]
        assert the(question, "proxy_pass_request_body") == "off"
        for block in (question, login):
            assert (the(block, "proxy_method"), the(block, "proxy_pass_request_headers")) == ("GET", "off")
            assert {words[0] for words in directives(block, "proxy_set_header")} == named


def test_nginx_buffers_fit_longest_host_and_largest_cookies(http, servers):
    """The schema limits the length of hosts. Launcher and sidecar limit the size of cookies."""
    longest = len("login.") + values_schema()["host"]["maxLength"]
    assert longest < int(the(http, "server_names_hash_bucket_size")) - 24, "the hash bucket is too small"
    assert the(http, "large_client_header_buffers") == "1 64k"
    # Session cookies from the login proxy.
    places = [
        block for locations in servers.values() for name, block in locations.items()
        if name in (f"= {AUTH_LOCATION}", "@login", "~ ^/oauth2(/|$)")
    ]
    assert len(places) == 6 and {the(block, "proxy_buffer_size") for block in places} == {"64k"}


def test_unauthenticated_requests_are_rate_limited_and_their_bodies_refused(http, servers):
    assert directives(http, "limit_req_zone") == [("$nginx_version", "zone=front_strangers:64k", "rate=300r/s")]
    for server, locations in servers.items():
        for name, block in locations.items():
            is_public = the(block, "proxy_pass") and not the(block, "auth_request") and name != f"= {AUTH_LOCATION}"
            waits = directives(block, "limit_req") == [("zone=front_strangers", "burst=5000")]
            assert waits is bool(is_public or name == "@unauthorized"), (server, name)
            assert bool([words for words in block if "$front_body" in str(words)]) is bool(is_public), (server, name)


def test_nginx_ignores_internal_redirects_of_apps(http, servers):
    said = ("Redirect", "Expires", "Limit-Rate", "Buffering", "Charset")
    assert set(the(http, "proxy_ignore_headers").split()) == {f"X-Accel-{name}" for name in said}
    assert the(http, "proxy_redirect") == "off"
    # A directive of the same name in a location would replace these.
    for server, locations in servers.items():
        for location, block in locations.items():
            assert not directives(block, "proxy_ignore_headers") + directives(block, "proxy_redirect"), (server, location)


def test_nginx_streams_bodies_and_keeps_idle_connections_for_an_hour(http, servers):
    expected = {
        "client_max_body_size": "0", "proxy_request_buffering": "off", "proxy_buffering": "off",
        "proxy_read_timeout": "3600s", "proxy_send_timeout": "3600s", "client_body_timeout": "3600s",
        "proxy_http_version": "1.1", "access_log": "off",
    }
    assert {name: the(http, name) for name in expected} == expected
    of_workshops = servers[WORKSHOP]["/"]
    assert {name: the(of_workshops, name) for name in expected} == dict.fromkeys(expected)


def test_bad_gateway_page_refreshes_only_if_workshop_exists(http, servers):
    assert ("Refresh", "$front_again", "always") in directives(servers[WORKSHOP]["/.front/notices/"], "add_header")
    assert blocks(http, "map")["$upstream_addr $front_again"] == [(("", ""), None), (("default", "2"), None)]


def test_nginx_bounds_the_time_of_requests_without_session(http, servers):
    """Requests with a session may take an hour. A client without one must not occupy a connection for so long."""
    assert the(http, "client_header_timeout") == "15s"
    found = {}
    for server, locations in servers.items():
        for name, block in locations.items():
            if the(block, "proxy_pass") and not the(block, "auth_request"):
                found[server, name] = the(block, "proxy_read_timeout")
    asks = {(server, name) for server, name in found if name in (f"= {AUTH_LOCATION}", "@login")}
    assert len(asks) == 4 and len(found) == 7
    assert found == {key: "15s" if key in asks else "60s" for key in found}


def test_nginx_keeps_idle_connections_longer_than_load_balancers(http):
    """If nginx closed an idle connection first, a load balancer could send its next request there, and answer it with 502. The
    idle timeouts of clouds are up to 600 seconds."""
    assert int(the(http, "keepalive_timeout").removesuffix("s")) > 600


def test_nginx_ends_before_kubernetes_kills_it():
    """The pause before the stop and the shutdown of the worker, which waits for WebSockets, fit into the grace period."""
    found = render("any")
    pod, container = found.pods["front"], found.containers["front"]
    shutdown = the(parsed(found.data(FRONT)["nginx.conf"]), "worker_shutdown_timeout")
    pause = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pause + int(shutdown.removesuffix("s")) + 5 <= pod["terminationGracePeriodSeconds"]


def test_nginx_adds_the_headers_of_notices_to_their_errors(servers):
    """Without `always`, nginx adds no header to an answer with 404 or 502, the statuses of the notices."""
    found = {words[0]: words[2:] for words in directives(servers[WORKSHOP]["/.front/notices/"], "add_header")}
    names = ("Refresh", "Cache-Control", "Content-Security-Policy", "Vary", "X-Content-Type-Options")
    assert found == dict.fromkeys(names, ("always",))


def test_nginx_pods_restart_only_if_configuration_changes():
    pods = [
        render("any", *changes).templates["front"]["metadata"]["annotations"]["checksum/config"]
        for changes in ((), ("host=other.example.org",), ("front.replicas=3",))
    ]
    assert pods[0] != pods[1] and pods[0] == pods[2]


def test_one_ingress_routes_launcher_and_workshop_hosts_to_nginx():
    found = render("any")
    ((name, ingress),) = found.named("Ingress").items()
    path = {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": FRONT, "port": {"name": "http"}}}}
    hosts = (HOST, f"*.{DOMAIN}")
    assert name == FRONT and ingress["spec"]["ingressClassName"] == "haproxy" and "annotations" not in ingress["metadata"]
    assert {rule["host"]: rule["http"]["paths"] for rule in ingress["spec"]["rules"]} == dict.fromkeys(hosts, [path])
    secrets = {host: one["secretName"] for one in ingress["spec"]["tls"] for host in one["hosts"]}
    assert secrets == {HOST: "launcher-certificate", f"*.{DOMAIN}": "workshops-certificate"}
    assert not found.named("Middleware")
    given = render("any", r"--set-string=ingress.annotations.haproxy\.org/timeout-tunnel=1h").named("Ingress")[FRONT]
    assert given["metadata"]["annotations"] == {"haproxy.org/timeout-tunnel": "1h"}
    without = render("any", "ingress.className=")
    assert not without.named("Ingress")
    assert without.named("Service")[FRONT]["spec"]["ports"] == [{"name": "http", "port": 80, "targetPort": "http"}]
    # The operator creates no Ingress either.
    told = found.env("operator")
    assert told["SERVICE_WORKSHOPS_ROUTED_ELSEWHERE"] == "true" and not [name for name in told if "INGRESS" in name]


NAMESPACE = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "haproxy-controller"}}}
ANY_NAMESPACE = {"namespaceSelector": {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "Exists"}]}}
LABELS = {"podSelector": {"matchLabels": {"app.kubernetes.io/name": "kubernetes-ingress"}}}
# {change of the values: peers that may connect to the front}.
PEERS = {
    "": [NAMESPACE | LABELS], "ingress.podLabels=null": [NAMESPACE], "ingress.namespace=": [ANY_NAMESPACE | LABELS],
    "ingress.podLabels=null,ingress.namespace=": None,
}


def test_front_ingress_policy_allows_configured_peers_or_all():
    for change, peers in PEERS.items():
        rules = render("any", *filter(None, [change])).named("NetworkPolicy")[FRONT]["spec"]["ingress"]
        assert rules == [{"ports": [{"protocol": "TCP", "port": 8080}]} | ({"from": peers} if peers else {})], change


def test_front_egress_policy_allows_only_dns_launcher_login_proxies_and_workshops():
    spec = render("any").named("NetworkPolicy")[FRONT]["spec"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    names, *others = spec["egress"]
    assert "to" not in names and {one["port"] for one in names["ports"]} == {53, 1053, 5353}
    component = "app.kubernetes.io/component"
    reached = {}
    for rule in others:
        (peer,), (port,) = rule["to"], rule["ports"]
        labels = peer["podSelector"]["matchLabels"]
        listed = peer["podSelector"].get("matchExpressions", [{"values": [labels.get(component, labels.get("app"))]}])
        reached |= {what: (port["port"], peer.get("namespaceSelector")) for what in listed[0]["values"]}
    workshops = {"matchLabels": {"kubernetes.io/metadata.name": "workshops"}}
    assert reached == {
        "launcher": (8000, None), "login": (4180, None), "workshops-login": (4180, None), "workshop": (8080, workshops),
    }


RESOLV = {
    "nameserver 10.96.0.10\nsearch launcher.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n": (
        "10.96.0.10", "svc.cluster.local",
    ),
    "search a.svc.corp.example svc.corp.example corp.example svc.other\nnameserver fd00::a\nnameserver 10.0.0.1\n": (
        "[fd00::a] 10.0.0.1", "svc.corp.example",
    ),
    "nameserver 10.0.0.1\n": ("10.0.0.1", "svc.cluster.local"),
}


def started(folder, resolv=next(iter(RESOLV)), addresses=None, status=0):
    """Runs the start script with a fake nginx, whose configuration test exits with `status`.

    `resolv` replaces /etc/resolv.conf, and `addresses` are the lines of /proc/net/if_inet6. Returns the lines of each
    file that the script writes.
    """
    (folder / "resolv.conf").write_text(resolv)
    (folder / "nginx").write_text(f'#!/bin/sh\necho "$@" >>{folder}/started\n[ "$1" = -e ] || exit {status}\n')
    (folder / "nginx").chmod(0o755)
    start = render("any").data(FRONT)["start.sh"].replace("/tmp/", f"{folder}/")
    if addresses is not None:
        (folder / "if_inet6").write_text("".join(f"{address}\n" for address in addresses))
    for path in ("/etc/resolv.conf", "/proc/net/if_inet6"):
        start = start.replace(path, str(folder / path.rpartition("/")[2]))
    (folder / "start.sh").write_text(start)
    # The PATH contains only awk and the fake nginx, so the script fails if it uses another program.
    (folder / "awk").symlink_to(shutil.which("awk"))
    subprocess.run(["/bin/sh", folder / "start.sh"], env={"PATH": str(folder)}, check=True, timeout=DEADLINE)
    return {name: (folder / f"{name}.conf").read_text().splitlines() for name in ("resolver", "listen", "listen-once", "heads")}


@pytest.mark.parametrize("text", RESOLV, ids=["default-domain", "other-domain-and-two-servers", "no-search-domain"])
def test_nginx_uses_name_servers_and_domain_of_its_pod(text, tmp_path):
    servers, domain = RESOLV[text]
    assert started(tmp_path, text)["resolver"] == [
        f"resolver {servers} valid=5s ipv6=off;", f"map $host $front_services {{ default {domain}; }}",
    ]


LOOPBACK, LOCAL, GLOBAL = (
    f"{address} {number} 80 {scope} 80 {name}"
    for address, number, scope, name in (
        ("00000000000000000000000000000001", "01", "10", "lo"), ("fe800000000000000000000000000001", "02", "20", "eth0"),
        ("fd000000000000000000000000000005", "02", "00", "eth0"),
    )
)
# {case: (lines of /proc/net/if_inet6, nginx listens on IPv6, nginx resolves IPv6 addresses)}.
FAMILIES = {
    "ipv6-disabled": (None, False, "off"), "no-address": ([], False, "off"), "loopback": ([LOOPBACK], True, "off"),
    "link-local": ([LOOPBACK, LOCAL], True, "off"), "global": ([LOOPBACK, LOCAL, GLOBAL], True, "on"),
}


@pytest.mark.parametrize("case", FAMILIES)
def test_nginx_uses_address_families_of_its_pod(case, tmp_path):
    addresses, both, names = FAMILIES[case]
    found = started(tmp_path, addresses=addresses)
    listeners = ["8080", "[::]:8080"] if both else ["8080"]
    assert found["listen"] == [f"listen {listener};" for listener in listeners]
    assert found["listen-once"] == [f"listen {listener} rcvbuf=16k sndbuf=16k;" for listener in listeners]
    assert f" ipv6={names};" in found["resolver"][0]


@pytest.mark.parametrize("status,lines", [(0, ["max_headers 128;"]), (1, [])], ids=["supported", "not-supported"])
def test_nginx_starts_with_and_without_max_headers_support(status, lines, tmp_path):
    assert started(tmp_path, status=status)["heads"] == lines
    assert (tmp_path / "started").read_text().splitlines()[-1] == f"-e stderr -c {tmp_path}/nginx.conf"
