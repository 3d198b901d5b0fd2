"""Tests of the front: its rendered nginx configuration and Kubernetes objects. No cluster is needed."""

import functools
import re

import pytest

from chart import CHART, RELEASE, helm, objects, values_of, values_schema
from nginx_conf import blocks, directives, parsed, the
from yaml_files import load_all

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


def render_any(*words):
    """Renders ci/any-values.yaml with these options of helm. Returns {(kind, name): object}."""
    common = ("--namespace", "launcher", "--kube-version", "1.34", "--values", values_of("any"))
    status, text = helm("template", RELEASE, CHART, *common, *words)
    assert status == 0, text
    return {(one["kind"], one["metadata"]["name"]): one for one in load_all(text) if one}


@functools.cache
def rendered():
    """Returns the objects of the unchanged ci/any-values.yaml: {(kind, name): object}."""
    return render_any()


@pytest.fixture(scope="module")
def http():
    text = rendered()["ConfigMap", FRONT]["data"]["nginx.conf"]
    return blocks(parsed(text), "http")[""]


@pytest.fixture(scope="module")
def servers(http):
    """Returns the servers of nginx: {server_name: {location: block}}. The first server receives all unknown hosts."""
    found = [inner for words, inner in http if words == ("server",)]
    return {the(server, "server_name"): blocks(server, "location") for server in found}


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
    }


@pytest.mark.parametrize(
    "name,matches",
    [
        ("jupyterlab-abcdefghij", True), ("a", True), ("a" * 63, True), ("a" * 64, False), ("", False),
        ("-a", False), ("a-", False), ("1a", False), ("a.b", False), ("a_b", False), ("a/b", False), ("a%2e", False),
    ],
)
def test_nginx_accepts_only_dns_labels_as_workshop_names(name, matches):
    pattern = WORKSHOP.removeprefix("~").replace("?<", "?P<")
    assert bool(re.search(pattern, f"{name}.{DOMAIN}")) is matches
    assert not re.search(pattern, f"{name}.workshops-example.net") and not re.search(pattern, f"{name}.{DOMAIN}.evil")


@pytest.mark.parametrize(
    "host,name",
    [
        ("jupyterlab-abcdefghij-ws", "jupyterlab-abcdefghij"), ("x-ws-ws", "x-ws"), ("a" * 60 + "-ws", "a" * 60),
        ("jupyterlab-abcdefghij", None), ("jupyterlab-abcdefghij-w", None), ("jupyterlab-abcdefghij-wsx", None),
        ("launcher", None), ("login", None), ("-ws", None), ("ws", None), ("a--ws", None), ("a.b-ws", None), ("a-WS", None),
    ],
)
def test_nginx_takes_name_of_workshop_from_host_with_suffix(host, name):
    domain = ("host=launcher.apps.example.edu", "workshops.domain=apps.example.edu", "workshops.nameSuffix=-ws")
    text = render_any("--set", ",".join(domain))["ConfigMap", FRONT]["data"]["nginx.conf"]
    servers = [the(inner, "server_name") for words, inner in blocks(parsed(text), "http")[""] if words == ("server",)]
    *exact, pattern = servers
    assert exact == ["_", "launcher.apps.example.edu", "login.apps.example.edu"]
    found = re.search(pattern.removeprefix("~").replace("?<", "?P<"), f"{host}.apps.example.edu")
    assert (found and found["front_workshop"]) == name


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
            # A location with its own proxy_set_header inherits none from the http block. nginx would then forward the
            # identity headers of the client.
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


def test_nginx_buffers_fit_longest_host_and_largest_cookies(http):
    """The schema limits the length of hosts. Launcher and sidecar limit the size of cookies."""
    longest = len("login.") + values_schema()["properties"]["host"]["maxLength"]
    assert longest < int(the(http, "server_names_hash_bucket_size")) - 24, "the hash bucket is too small"
    assert the(http, "large_client_header_buffers") == "1 64k"


def test_nginx_accepts_large_session_cookies_from_login_proxy(servers):
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


def test_nginx_ignores_internal_redirects_of_apps(http):
    assert {"X-Accel-Redirect", "X-Accel-Limit-Rate"} <= set(the(http, "proxy_ignore_headers").split())
    assert the(http, "proxy_redirect") == "off"


def test_nginx_streams_bodies_and_keeps_idle_connections_for_an_hour(http):
    expected = {
        "client_max_body_size": "0", "proxy_request_buffering": "off", "proxy_buffering": "off",
        "proxy_read_timeout": "3600s", "proxy_send_timeout": "3600s", "client_body_timeout": "3600s",
        "proxy_http_version": "1.1", "access_log": "off",
    }
    assert {name: the(http, name) for name in expected} == expected


def test_bad_gateway_page_refreshes_only_if_workshop_exists(http, servers):
    added = directives(servers[WORKSHOP]["/.front/notices/"], "add_header")
    assert ("Refresh", "$front_again", "always") in added
    assert blocks(http, "map")["$upstream_addr $front_again"] == [(("", ""), None), (("default", "2"), None)]


def test_nginx_pods_restart_only_if_configuration_changes():
    pods = [
        render_any(*words)["Deployment", FRONT]["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
        for words in ((), ("--set", "host=other.example.org"), ("--set", "front.replicas=3"))
    ]
    assert pods[0] != pods[1] and pods[0] == pods[2]


def test_one_ingress_routes_launcher_and_workshop_hosts_to_nginx():
    found = objects("any", "Ingress")
    assert len(found) == 1 and "annotations" not in found[0]["metadata"]
    spec = found[0]["spec"]
    path = {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": FRONT, "port": {"name": "http"}}}}
    hosts = (HOST, f"*.{DOMAIN}")
    assert spec["ingressClassName"] == "haproxy"
    assert {rule["host"]: rule["http"]["paths"] for rule in spec["rules"]} == dict.fromkeys(hosts, [path])
    secrets = {host: one["secretName"] for one in spec["tls"] for host in one["hosts"]}
    assert secrets == {HOST: "launcher-certificate", f"*.{DOMAIN}": "workshops-certificate"}
    assert not objects("any", "Middleware")


def test_ingress_has_configured_annotations():
    given = render_any("--set-string", r"ingress.annotations.haproxy\.org/timeout-tunnel=1h")
    assert given["Ingress", FRONT]["metadata"]["annotations"] == {"haproxy.org/timeout-tunnel": "1h"}


def test_empty_ingress_class_renders_no_ingress():
    found = render_any("--set", "ingress.className=")
    assert not [kind for kind, _ in found if kind == "Ingress"]
    assert found["Service", FRONT]["spec"]["ports"] == [{"name": "http", "port": 80, "targetPort": "http"}]


def test_operator_creates_no_ingress_if_front_is_installed():
    container = rendered()["Deployment", f"{RELEASE}-operator"]["spec"]["template"]["spec"]["containers"][0]
    told = {one["name"]: one["value"] for one in container["env"]}
    assert told["SERVICE_WORKSHOPS_ROUTED_ELSEWHERE"] == "true"
    assert not [name for name in told if "INGRESS" in name]


def test_nginx_pods_have_strict_security_context():
    fields = ("podSecurityContext", "securityContext", "extraVolumes", "extraVolumeMounts")
    made = render_any(*(word for field in fields for word in ("--set", f"front.{field}=null")))
    pod = made["Deployment", FRONT]["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    own = pod["containers"][0]
    assert own["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }
    assert {one["mountPath"]: one.get("readOnly", False) for one in own["volumeMounts"]} == {
        "/etc/workshop-launcher": True, "/etc/workshop-launcher-proxy": True, "/tmp": False,
    }
    assert own["livenessProbe"]["httpGet"] == own["readinessProbe"]["httpGet"] == {"path": "/healthz", "port": "http"}
    assert ("PodDisruptionBudget", FRONT) in rendered()


PEERS = {
    (): [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "haproxy-controller"}},
          "podSelector": {"matchLabels": {"app.kubernetes.io/name": "kubernetes-ingress"}}}],
    ("--set", "ingress.podLabels=null"): [
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "haproxy-controller"}}}
    ],
    ("--set", "ingress.namespace="): [
        {"namespaceSelector": {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "Exists"}]},
         "podSelector": {"matchLabels": {"app.kubernetes.io/name": "kubernetes-ingress"}}}
    ],
    ("--set", "ingress.podLabels=null", "--set", "ingress.namespace="): None,
}


@pytest.mark.parametrize("words", PEERS, ids=["namespace-and-labels", "namespace", "labels", "all"])
def test_front_ingress_policy_allows_configured_peers_or_all(words):
    rules = render_any(*words)["NetworkPolicy", FRONT]["spec"]["ingress"]
    expected = {"ports": [{"protocol": "TCP", "port": 8080}]}
    assert rules == [expected | ({"from": PEERS[words]} if PEERS[words] else {})]


def test_front_egress_policy_allows_only_dns_launcher_login_proxies_and_workshops():
    spec = rendered()["NetworkPolicy", FRONT]["spec"]
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
