"""Who gets in: Ingresses, middlewares and NetworkPolicies that the chart's values become. No cluster is needed."""

import json
import re

import pytest
import yaml

from chart import RELEASE, ROOT, SETS, containers, objects

MIDDLEWARES = "traefik.ingress.kubernetes.io/router.middlewares"
NGINX = "nginx.ingress.kubernetes.io"
TRAEFIK_SETS = [name for name in SETS if name != "nginx"]
LAUNCHER, LOGIN, WORKSHOPS_LOGIN = RELEASE, f"{RELEASE}-login", f"{RELEASE}-workshops-login"


def routes(name):
    """{(host, path): (Service, annotations)} of the chart's own Ingresses."""
    found = {}
    for ingress in objects(name, "Ingress"):
        for rule in ingress["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                backend = path["backend"]["service"]
                assert backend["port"] == {"name": "http"} and path["pathType"] == "Prefix"
                found[rule["host"], path["path"]] = (backend["name"], ingress["metadata"]["annotations"])
    return found


def workshop_annotations(name):
    """Those that the operator gives each workshop's Ingress."""
    operator = next(container for _, _, container in containers(name) if container["name"] == "operator")
    return json.loads(next(one["value"] for one in operator["env"] if one["name"] == "SERVICE_INGRESS_ANNOTATIONS"))


def middlewares(annotations):
    """The names of the middlewares, in their order."""
    ours = re.compile(f"launcher-{RELEASE}-(.*)@kubernetescrd")
    return [ours.fullmatch(one)[1] for one in annotations[MIDDLEWARES].split(",")]


@pytest.mark.parametrize("name", SETS)
def test_two_hosts_and_what_they_lead_to(name):
    launcher, login = "launcher.example.org", "login.workshops.example.net"
    assert {route: service for route, (service, _) in routes(name).items()} == {
        (launcher, "/"): LAUNCHER,
        (launcher, "/api"): LAUNCHER,
        (launcher, "/assets"): LAUNCHER,
        (launcher, "/fragments"): LAUNCHER,
        (launcher, "/oauth2"): LOGIN,
        (login, "/oauth2"): WORKSHOPS_LOGIN,
    }


@pytest.mark.parametrize("name", SETS)
def test_every_ingress_is_of_the_class_whose_annotations_it_has(name):
    expected = {"nginx": "nginx", "full": "traefik-internal"}.get(name, "traefik")
    assert {ingress["spec"]["ingressClassName"] for ingress in objects(name, "Ingress")} == {expected}
    operator = next(container for _, _, container in containers(name) if container["name"] == "operator")
    assert {"name": "SERVICE_INGRESS_CLASS", "value": expected} in operator["env"]


@pytest.mark.parametrize("name", TRAEFIK_SETS)
def test_traefik_strips_then_asks_the_login_before_everything_but_the_login(name):
    for (_, path), (service, annotations) in routes(name).items():
        gate = [] if service != LAUNCHER else ["pages"] if path == "/" else ["api"]
        assert middlewares(annotations) == ["strip", *gate], path
        assert annotations["traefik.ingress.kubernetes.io/router.tls"] == "true"
    assert middlewares(workshop_annotations(name)) == ["strip", "workshops"]


def test_traefik_asks_the_right_login_and_takes_its_word_alone():
    found = objects("minimal", "Middleware")
    made = {one["metadata"]["name"].removeprefix(f"{RELEASE}-"): one["spec"] for one in found}
    addresses = {name: spec["forwardAuth"]["address"] for name, spec in made.items() if "forwardAuth" in spec}
    assert addresses == {
        "pages": f"http://{LOGIN}.launcher.svc/",
        "api": f"http://{LOGIN}.launcher.svc/oauth2/auth",
        "workshops": f"http://{WORKSHOPS_LOGIN}.launcher.svc/",
    }
    stripped = made["strip"]["headers"]["customRequestHeaders"]
    assert set(stripped.values()) == {""}
    for name in addresses:
        assert made[name]["forwardAuth"]["trustForwardHeader"] is False
        taken = re.compile(made[name]["forwardAuth"]["authResponseHeadersRegex"])
        for header in ("X-Auth-Request-Email", "x_auth_request_email", "X.Auth-Request_User", *stripped):
            assert taken.search(header), header
        for header in ("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Authorization", "Cookie"):
            assert not taken.search(header), header


def test_nginx_asks_the_login_before_everything_but_the_login():
    for (_, path), (service, annotations) in routes("nginx").items():
        asked = annotations.get(f"{NGINX}/auth-url")
        if service != LAUNCHER:
            assert asked is None
            continue
        assert asked == f"http://{LOGIN}.launcher.svc.cluster.local/oauth2/auth"
        assert annotations[f"{NGINX}/auth-response-headers"] == "X-Auth-Request-Email,X-Auth-Request-User"
        assert (f"{NGINX}/auth-signin" in annotations) == (path == "/"), "only pages are sent to the login"
    workshop = workshop_annotations("nginx")
    assert workshop[f"{NGINX}/auth-url"] == f"http://{WORKSHOPS_LOGIN}.launcher.svc.cluster.local/oauth2/auth"
    start = "https://login.workshops.example.net/oauth2/start"
    assert workshop[f"{NGINX}/auth-signin"] == f"{start}?rd=https://$http_host$escaped_request_uri"
    assert not objects("nginx", "Middleware")


@pytest.mark.parametrize("name", SETS)
def test_only_the_controller_reaches_launcher_and_logins_and_only_monitoring_telemetry(name):
    usual = "ingress-nginx" if name == "nginx" else "traefik"
    namespace = "kube-system" if name == "full" else usual
    controller = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "podSelector": {"matchLabels": {"app.kubernetes.io/name": usual}},
    }
    monitoring = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}
    policies = {found["metadata"]["name"]: found["spec"] for found in objects(name, "NetworkPolicy")}

    def rule(peer, port):
        return {"from": [peer], "ports": [{"protocol": "TCP", "port": port}]}

    def telemetry(port):
        return [rule(monitoring, port)] if name == "full" else []

    assert policies[LAUNCHER + "-launcher"]["ingress"] == [rule(controller, 8000), *telemetry(9090)]
    assert policies[LAUNCHER + "-operator"]["ingress"] == telemetry(9091)
    assert policies[LOGIN]["ingress"] == [rule(controller, 4180)]
    assert policies["workshops-ingress"]["ingress"] == [rule(controller, 8080)]
    assert all("Ingress" in spec["policyTypes"] for name, spec in policies.items() if name != "workshops-egress")


@pytest.mark.parametrize("name", SETS)
def test_every_pod_of_the_release_has_a_policy(name):
    ours = [found for found in objects(name, "NetworkPolicy") if found["metadata"]["namespace"] == "launcher"]
    policies = [found["spec"]["podSelector"] for found in ours]

    def selected(selector, labels):
        listed = all(labels[one["key"]] in one["values"] for one in selector.get("matchExpressions", []))
        return listed and selector["matchLabels"].items() <= labels.items()

    for deployment in objects(name, "Deployment"):
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert [selected(selector, labels) for selector in policies].count(True) == 1, deployment["metadata"]["name"]


def test_workshops_reach_what_the_committed_policies_say():
    original = yaml.safe_load_all((ROOT / "deploy/network-policies.yaml").read_text())
    committed = {found["metadata"]["name"]: found["spec"] for found in original}
    rendered = {found["metadata"]["name"]: found for found in objects("minimal", "NetworkPolicy")}
    assert rendered["workshops-egress"]["spec"] == committed["workshops-egress"]
    assert rendered["workshops-ingress"]["spec"]["podSelector"] == committed["workshops-ingress"]["podSelector"]
    assert {rendered[name]["metadata"]["namespace"] for name in committed} == {"workshops"}
