"""Tests of the chart's Ingresses, Traefik middlewares and NetworkPolicies. No cluster is needed."""

import ipaddress
import json
import re

import pytest
import yaml

from chart import FRONT_SETS, RELEASE, ROOT, SETS, TRAEFIK_SETS, containers, objects, render
from yaml_files import load_all

MIDDLEWARES = "traefik.ingress.kubernetes.io/router.middlewares"
PRIORITY = "traefik.ingress.kubernetes.io/router.priority"
LAUNCHER, LOGIN, WORKSHOPS_LOGIN = RELEASE, f"{RELEASE}-login", f"{RELEASE}-workshops-login"
FRONT, NOTICE = f"{RELEASE}-front", f"{RELEASE}-notice"
HOST, DOMAIN = "launcher.example.org", "workshops.example.net"
# Host and domain of ci/wildcard-values.yaml.
ONE_DOMAIN = "launcher.apps.example.edu", "apps.example.edu"


def routes(name):
    """Returns the routes of all rendered Ingresses: {(host, path): (name of the Service, annotations)}."""
    found = {}
    for ingress in objects(name, "Ingress"):
        for rule in ingress["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                backend = path["backend"]["service"]
                assert backend["port"] == {"name": "http"}
                assert path["pathType"] == ("Exact" if path["path"] == "/signed-out" else "Prefix")
                found[rule["host"], path["path"]] = (backend["name"], ingress["metadata"]["annotations"])
    return found


def exposure_settings(name):
    """Returns the settings that tell the operator how to expose workshops: {variable: value}."""
    operator = next(container for _, _, container in containers(name) if container["name"] == "operator")
    told = {one["name"]: one["value"] for one in operator["env"] if "value" in one}
    return {name: value for name, value in told.items() if "INGRESS" in name or "ELSEWHERE" in name}


def workshop_annotations(name):
    """Returns the annotations that the operator sets on each workshop's Ingress."""
    return json.loads(exposure_settings(name)["SERVICE_INGRESS_ANNOTATIONS"])


def middlewares(annotations):
    """Returns the short names of the middlewares in these annotations, in the order in which Traefik calls them."""
    ours = re.compile(f"launcher-{RELEASE}-(.*)@kubernetescrd")
    return [ours.fullmatch(one)[1] for one in annotations[MIDDLEWARES].split(",")]


@pytest.mark.parametrize("name", TRAEFIK_SETS)
def test_each_host_and_path_routes_to_expected_service(name):
    host, domain = ONE_DOMAIN if name == "wildcard" else (HOST, DOMAIN)
    assert {route: service for route, (service, _) in routes(name).items()} == {
        (host, "/"): LAUNCHER,
        (host, "/api"): LAUNCHER,
        (host, "/assets"): LAUNCHER,
        (host, "/fragments"): LAUNCHER,
        (host, "/signed-out"): LAUNCHER,
        (host, "/oauth2"): LOGIN,
        (f"login.{domain}", "/oauth2"): WORKSHOPS_LOGIN,
        (f"*.{domain}", "/"): NOTICE,
    }


@pytest.mark.parametrize("name", TRAEFIK_SETS)
def test_all_ingresses_have_the_configured_class(name):
    expected = {"full": "traefik-internal"}.get(name, "traefik")
    assert {ingress["spec"]["ingressClassName"] for ingress in objects(name, "Ingress")} == {expected}
    told = exposure_settings(name)
    assert told.pop("SERVICE_INGRESS_CLASS") == expected
    issued = dict.fromkeys(("github", "wildcard"), f"{RELEASE}-workshops-certificate")
    secrets = {"full": "workshops-certificate", **issued}
    assert told.pop("SERVICE_INGRESS_TLS_SECRET", None) == secrets.get(name)
    assert list(told) == ["SERVICE_INGRESS_ANNOTATIONS"]


@pytest.mark.parametrize("name", TRAEFIK_SETS)
def test_traefik_strips_identity_headers_before_authentication(name):
    for (host, path), (_, annotations) in routes(name).items():
        assert annotations["traefik.ingress.kubernetes.io/router.tls"] == "true"
        if host.startswith("*."):
            # The same login as for workshops: a visitor without a session cannot tell which addresses have a workshop.
            assert middlewares(annotations) == middlewares(workshop_annotations(name))
            continue
        login = {"/": ["pages"], "/oauth2": [], "/signed-out": []}.get(path, ["api"])
        login += ["launcher-proof"] if login else []
        assert middlewares(annotations) == ["strip", *login], path
    assert middlewares(workshop_annotations(name)) == ["strip", "workshops", "workshops-proof"]


@pytest.mark.parametrize("name", TRAEFIK_SETS)
def test_every_route_precedes_route_of_notice(name):
    """Without a priority, Traefik takes the length of the rule. Every rule is longer than one character."""
    priorities = {service: annotations.get(PRIORITY) for service, annotations in routes(name).values()}
    assert priorities.pop(NOTICE) == "1"
    assert set(priorities.values()) == {None} and PRIORITY not in workshop_annotations(name)


def test_configured_priority_does_not_apply_to_notice():
    escaped = PRIORITY.replace(".", "\\.")
    text = render("minimal", "--set-string", f"ingress.annotations.{escaped}=500,ingress.annotations.other=x")
    found = [one for one in load_all(text) if one and one["kind"] == "Ingress"]
    annotations = {one["metadata"]["name"]: one["metadata"]["annotations"] for one in found}
    assert {(one[PRIORITY], one["other"]) for one in [annotations.pop(NOTICE)]} == {("1", "x")}
    assert annotations and {(one[PRIORITY], one["other"]) for one in annotations.values()} == {("500", "x")}


def test_ingress_of_notice_names_no_certificate():
    """With cert-manager, two Ingresses with one Secret and different hosts would overwrite each other's certificate."""
    tls = {one["metadata"]["name"]: one["spec"].get("tls") for one in objects("full", "Ingress")}
    assert tls[NOTICE] is None
    assert tls[WORKSHOPS_LOGIN] == [{"hosts": [f"login.{DOMAIN}"], "secretName": "workshops-certificate"}]
    assert tls[LAUNCHER] == [{"hosts": [HOST], "secretName": "launcher-certificate"}]


def certificates(name):
    """Returns the rendered Certificates: {(namespace, name of the Secret): (hosts, issuer)}."""
    found = ((one["metadata"]["namespace"], one["spec"]) for one in objects(name, "Certificate"))
    return {(space, spec["secretName"]): (spec["dnsNames"], spec["issuerRef"]) for space, spec in found}


def test_named_issuer_fills_secrets_of_all_ingresses():
    issuer = {"name": "letsencrypt", "kind": "ClusterIssuer", "group": "cert-manager.io"}
    one, all_others = f"{RELEASE}-certificate", f"{RELEASE}-workshops-certificate"
    assert certificates("github") == {
        ("launcher", one): ([HOST], issuer),
        ("launcher", all_others): ([f"*.{DOMAIN}"], issuer),
        ("workshops", all_others): ([f"*.{DOMAIN}"], issuer),
    }
    used = {tls["secretName"] for ingress in objects("github", "Ingress") for tls in ingress["spec"].get("tls", [])}
    assert used == {one, all_others}


def test_one_wildcard_certificate_is_enough_for_launcher_and_workshops():
    issuer = {"name": "letsencrypt", "kind": "ClusterIssuer", "group": "cert-manager.io"}
    secret, wildcard = f"{RELEASE}-workshops-certificate", "*.apps.example.edu"
    assert certificates("wildcard") == dict.fromkeys((("launcher", secret), ("workshops", secret)), ([wildcard], issuer))
    ingresses = {one["metadata"]["name"]: one["spec"] for one in objects("wildcard", "Ingress")}
    used = {tls["secretName"] for spec in ingresses.values() for tls in spec.get("tls", [])}
    hosts = {rule["host"] for spec in ingresses.values() for rule in spec["rules"]}
    assert (used, hosts) == ({secret}, {"launcher.apps.example.edu", "login.apps.example.edu", wildcard})


def test_named_issuer_fills_secrets_of_gateway():
    issuer = {"name": "letsencrypt", "kind": "ClusterIssuer", "group": "cert-manager.io"}
    assert certificates("gateway") == {
        ("launcher", "launcher-certificate"): ([HOST], issuer),
        ("launcher", f"{RELEASE}-workshops-certificate"): ([f"*.{DOMAIN}"], issuer),
    }


def test_named_issuer_fills_configured_secrets_of_front():
    issuer = {"name": "internal", "kind": "AWSPCAIssuer", "group": "awspca.cert-manager.io"}
    assert certificates("any") == {
        ("launcher", "launcher-certificate"): ([HOST], issuer),
        ("launcher", "workshops-certificate"): ([f"*.{DOMAIN}"], issuer),
    }


def test_no_certificate_without_issuer():
    assert not certificates("minimal") and not certificates("full")


@pytest.mark.parametrize("name", TRAEFIK_SETS)
def test_pod_of_notice_has_no_secret_and_connects_to_nothing(name):
    (deployment,) = [one for one in objects(name, "Deployment") if one["metadata"]["name"] == NOTICE]
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert (container["image"], container["args"]) == ("registry.example.org/sidecar:0.1.0", ["notice"])
    launcher = next(other for _, _, other in containers(name) if other["name"] == "launcher")
    public_url = next(one["value"] for one in launcher["env"] if one["name"] == "SERVICE_PUBLIC_URL")
    own = [one for one in container["env"] if not one["name"].startswith("EXTRA")]
    assert own == [{"name": "SERVICE_PUBLIC_URL", "value": public_url}]
    assert not [one for one in pod.get("volumes", []) if "configMap" not in one] and pod["automountServiceAccountToken"] is False
    policy = next(one for one in objects(name, "NetworkPolicy") if one["metadata"]["name"] == NOTICE)["spec"]
    assert (policy["policyTypes"], policy["egress"]) == (["Ingress", "Egress"], [])
    assert [rule["ports"] for rule in policy["ingress"]] == [[{"protocol": "TCP", "port": 8080}]]


@pytest.mark.parametrize("name", FRONT_SETS)
def test_front_needs_no_program_for_notice(name):
    assert not [one for one in objects(name) if one["metadata"]["name"] == NOTICE]


def test_traefik_takes_identity_only_from_login_proxy():
    found = objects("minimal", "Middleware")
    made = {one["metadata"]["name"].removeprefix(f"{RELEASE}-"): one["spec"] for one in found}
    addresses = {name: spec["forwardAuth"]["address"] for name, spec in made.items() if "forwardAuth" in spec}
    assert addresses == {
        "pages": f"http://{LOGIN}.launcher.svc/",
        "api": f"http://{LOGIN}.launcher.svc/oauth2/auth",
        "workshops": f"http://{WORKSHOPS_LOGIN}.launcher.svc/",
    }
    stripped = made["strip"]["headers"]["customRequestHeaders"]
    assert set(stripped.values()) == {""} and "X-Auth-Request-Proof" in stripped
    for name in addresses:
        assert made[name]["forwardAuth"]["trustForwardHeader"] is False
        taken = re.compile(made[name]["forwardAuth"]["authResponseHeadersRegex"])
        for header in ("X-Auth-Request-Email", "x_auth_request_email", "X.Auth-Request_User", "x.auth_request-PROOF", *stripped):
            assert taken.search(header), header
        for header in ("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Authorization", "Cookie"):
            assert not taken.search(header), header


@pytest.mark.parametrize("name", SETS)
def test_ingress_policies_allow_only_edge_proxy_and_monitoring(name):
    labels = {f"app.kubernetes.io/{key}": RELEASE for key in ("name", "instance")}
    namespace, pods = {
        **dict.fromkeys(FRONT_SETS, ("launcher", {**labels, "app.kubernetes.io/component": "front"})),
        "full": ("kube-system", {"app.kubernetes.io/name": "traefik"}),
    }.get(name, ("traefik", {"app.kubernetes.io/name": "traefik"}))
    controller = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "podSelector": {"matchLabels": pods},
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
    assert name in FRONT_SETS or policies[NOTICE]["ingress"] == [rule(controller, 8080)]
    assert all("Ingress" in spec["policyTypes"] for name, spec in policies.items() if name != "workshops-egress")


@pytest.mark.parametrize("name", SETS)
def test_each_release_pod_is_selected_by_one_network_policy(name):
    ours = [found for found in objects(name, "NetworkPolicy") if found["metadata"]["namespace"] == "launcher"]
    policies = [found["spec"]["podSelector"] for found in ours]

    def selected(selector, labels):
        listed = all(labels[one["key"]] in one["values"] for one in selector.get("matchExpressions", []))
        return listed and selector["matchLabels"].items() <= labels.items()

    for deployment in objects(name, "Deployment"):
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert [selected(selector, labels) for selector in policies].count(True) == 1, deployment["metadata"]["name"]


def test_workshop_network_policies_match_committed_file():
    original = load_all((ROOT / "deploy/network-policies.yaml").read_text())
    committed = {found["metadata"]["name"]: found["spec"] for found in original}
    rendered = {found["metadata"]["name"]: found for found in objects("minimal", "NetworkPolicy")}
    assert rendered["workshops-egress"]["spec"] == committed["workshops-egress"]
    assert rendered["workshops-ingress"]["spec"]["podSelector"] == committed["workshops-ingress"]["podSelector"]
    assert {rendered[name]["metadata"]["namespace"] for name in committed} == {"workshops"}
    for name in ("workshop-downloads", "workshop-snapshots"):
        assert {**rendered[name]["spec"], "ingress": None} == {**committed[name], "ingress": None}
    found = rendered["workshop-downloads"]["spec"]
    assert (found["egress"], found["policyTypes"]) == ([], ["Ingress", "Egress"])


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("policy, ports", [("workshop-downloads", [8080]), ("workshop-snapshots", [8082, 8083])])
def test_only_the_launcher_reaches_containers_that_send_files(name, policy, ports):
    policy = next(one for one in objects(name, "NetworkPolicy") if one["metadata"]["name"] == policy)
    (rule,) = policy["spec"]["ingress"]
    (peer,) = rule["from"]
    assert rule["ports"] == [{"protocol": "TCP", "port": port} for port in ports]
    assert peer["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": "launcher"}}
    selected = [
        one["metadata"]["name"]
        for one in objects(name, "Deployment")
        if peer["podSelector"]["matchLabels"].items() <= one["spec"]["template"]["metadata"]["labels"].items()
    ]
    assert selected == [LAUNCHER]


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("address", ["169.254.169.254", "100.100.100.200", "168.63.129.16"])
def test_workshop_egress_policy_excludes_cloud_metadata(name, address):
    egress = next(one for one in objects(name, "NetworkPolicy") if one["metadata"]["name"] == "workshops-egress")["spec"]
    blocks = [peer["ipBlock"] for rule in egress["egress"] for peer in rule["to"] if "ipBlock" in peer]
    assert blocks
    for block in blocks:
        assert any(ipaddress.ip_address(address) in ipaddress.ip_network(one) for one in block["except"])
