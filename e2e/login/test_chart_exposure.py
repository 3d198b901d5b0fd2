"""Tests of the chart's Ingresses, Gateway, certificates, Traefik middlewares and NetworkPolicies. No cluster is needed."""

import ipaddress
import json
import re

import pytest

from chart import FRONT_SETS, RELEASE, SETS, TRAEFIK_SETS, render

MIDDLEWARES = "traefik.ingress.kubernetes.io/router.middlewares"
PRIORITY = "traefik.ingress.kubernetes.io/router.priority"
LAUNCHER, LOGIN, WORKSHOPS_LOGIN = RELEASE, f"{RELEASE}-login", f"{RELEASE}-workshops-login"
FRONT, NOTICE = f"{RELEASE}-front", f"{RELEASE}-notice"
# The launcher answers below this path on the hosts of workshops.
CLASS_PATH = "/_launcher/class/"
HOST, DOMAIN = "launcher.example.org", "workshops.example.net"
# Host and domain of ci/wildcard-values.yaml.
ONE_DOMAIN = "launcher.apps.example.edu", "apps.example.edu"
SECRET, WORKSHOPS_SECRET = f"{RELEASE}-certificate", f"{RELEASE}-workshops-certificate"
each_traefik_set = pytest.mark.parametrize("name", TRAEFIK_SETS)
every_set = pytest.mark.parametrize("name", SETS)


def routes(name):
    """Returns the routes of all rendered Ingresses: {(host, path): (name of the Service, annotations)}."""
    found = {}
    for ingress in render(name).named("Ingress").values():
        for rule in ingress["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                backend = path["backend"]["service"]
                assert backend["port"] == {"name": "http"}
                assert path["pathType"] == ("Exact" if path["path"] == "/signed-out" else "Prefix")
                found[rule["host"], path["path"]] = (backend["name"], ingress["metadata"]["annotations"])
    return found


def exposure_settings(name):
    """Returns the settings that tell the operator how to expose workshops: {variable: value}."""
    return {key: value for key, value in render(name).env("operator").items() if "INGRESS" in key or "ELSEWHERE" in key}


def middlewares(annotations):
    """Returns the short names of the middlewares in these annotations, in the order in which Traefik calls them."""
    return re.findall(f"launcher-{RELEASE}-(.*?)@kubernetescrd(?:,|$)", annotations[MIDDLEWARES])


@each_traefik_set
def test_each_route_leads_to_expected_service_and_requires_the_login(name):
    host, domain = ONE_DOMAIN if name == "wildcard" else (HOST, DOMAIN)
    of_launcher = {(host, path): LAUNCHER for path in ("/", "/api", "/assets", "/fragments", "/signed-out")}
    logins = {(host, "/oauth2"): LOGIN, (f"login.{domain}", "/oauth2"): WORKSHOPS_LOGIN}
    found = routes(name)
    of_workshops = {(f"*.{domain}", "/"): NOTICE, (f"*.{domain}", CLASS_PATH): LAUNCHER}
    assert {route: service for route, (service, _) in found.items()} == {**of_launcher, **logins, **of_workshops}
    of_workshops = json.loads(exposure_settings(name)["SERVICE_INGRESS_ANNOTATIONS"])
    assert middlewares(of_workshops) == ["strip", "workshops", "workshops-proof"] and PRIORITY not in of_workshops
    for (host, path), (service, annotations) in found.items():
        assert annotations["traefik.ingress.kubernetes.io/router.tls"] == "true"
        # The bar of a workshop has the workshops' login: a browser sends the launcher's to the launcher's domain only.
        login = {"/": ["pages"], "/oauth2": [], "/signed-out": [], CLASS_PATH: ["workshops"]}.get(path, ["api"])
        # At the addresses of workshops the notice has their login: without a session, all addresses look the same.
        login = ["workshops", "workshops-proof"] if service == NOTICE else [*login, "launcher-proof"] if login else []
        # Traefik strips the identity headers of the client first.
        assert middlewares(annotations) == ["strip", *login], path
        # Without a priority, Traefik takes the length of the rule. Every rule has more than one character, and fewer than 100,000.
        assert annotations.get(PRIORITY) == ("1" if service == NOTICE else "100000" if path == CLASS_PATH else None)


@each_traefik_set
def test_all_ingresses_have_the_configured_class_and_certificates(name):
    expected = {"traefik": "traefik-internal"}.get(name, "traefik")
    ingresses = render(name).named("Ingress")
    assert {ingress["spec"]["ingressClassName"] for ingress in ingresses.values()} == {expected}
    told = exposure_settings(name)
    del told["SERVICE_INGRESS_ANNOTATIONS"]
    secret = {"traefik": "workshops-certificate", "github": WORKSHOPS_SECRET, "wildcard": WORKSHOPS_SECRET}.get(name)
    assert told == {"SERVICE_INGRESS_CLASS": expected} | ({"SERVICE_INGRESS_TLS_SECRET": secret} if secret else {})
    tls = {one: {tls["secretName"] for tls in ingress["spec"].get("tls", [])} for one, ingress in ingresses.items()}
    if name == "traefik":
        # With cert-manager, two Ingresses with one Secret and different hosts would overwrite each other's certificate.
        assert tls[NOTICE] == set()
        assert tls[WORKSHOPS_LOGIN] == {"workshops-certificate"} and tls[LAUNCHER] == {"launcher-certificate"}
    used = {"traefik": {"launcher-certificate"}, "github": {SECRET}}.get(name, set()) | ({secret} if secret else set())
    assert set().union(*tls.values()) == used


def test_configured_priority_does_not_apply_to_routes_of_all_workshops():
    escaped = PRIORITY.replace(".", "\\.")
    found = render("minimal", f"--set-string=ingress.annotations.{escaped}=500,ingress.annotations.other=x").named("Ingress")
    for name, ingress in found.items():
        annotations = ingress["metadata"]["annotations"]
        own = {NOTICE: "1", f"{LAUNCHER}-class": "100000"}
        assert (annotations[PRIORITY], annotations["other"]) == (own.get(name, "500"), "x")


LETSENCRYPT = {"name": "letsencrypt", "kind": "ClusterIssuer", "group": "cert-manager.io"}
OWN_ISSUER = {"name": "internal", "kind": "AWSPCAIssuer", "group": "awspca.cert-manager.io"}
WILDCARD = [f"*.{DOMAIN}"]
# {set of values: (issuer, {(namespace, name of the Secret): hosts of the Certificate})}.
CERTIFICATES = {
    "github": (LETSENCRYPT, {
        ("launcher", SECRET): [HOST], ("launcher", WORKSHOPS_SECRET): WILDCARD, ("workshops", WORKSHOPS_SECRET): WILDCARD,
    }),
    # One certificate is enough for launcher and workshops.
    "wildcard": (LETSENCRYPT, {(space, WORKSHOPS_SECRET): ["*.apps.example.edu"] for space in ("launcher", "workshops")}),
    "full": (LETSENCRYPT, {("launcher", "launcher-certificate"): [HOST], ("launcher", WORKSHOPS_SECRET): WILDCARD}),
    "any": (OWN_ISSUER, {("launcher", "launcher-certificate"): [HOST], ("launcher", "workshops-certificate"): WILDCARD}),
}


@every_set
def test_named_issuer_fills_all_secrets(name):
    found = [(one["metadata"]["namespace"], one["spec"]) for one in render(name).objects if one["kind"] == "Certificate"]
    issuer, hosts = CERTIFICATES.get(name, (None, {}))
    assert {(space, spec["secretName"]): spec["dnsNames"] for space, spec in found} == hosts
    assert all(spec["issuerRef"] == issuer for _, spec in found)


@each_traefik_set
def test_pod_of_notice_has_no_secret_and_connects_to_nothing(name):
    found = render(name)
    pod, container = found.pods["notice"], found.containers["notice"]
    assert (container["image"], container["args"]) == ("registry.example.org/sidecar:0.1.0", ["notice"])
    own = [one for one in container["env"] if not one["name"].startswith("EXTRA")]
    operator = found.env("operator")
    names = [name for name in ("SERVICE_PUBLIC_URL", "SERVICE_WORKSHOP_NAME_SUFFIX") if name in operator]
    assert own == [{"name": name, "value": operator[name]} for name in names]
    assert not [one for one in pod.get("volumes", []) if "configMap" not in one] and pod["automountServiceAccountToken"] is False
    policy = found.named("NetworkPolicy")[NOTICE]["spec"]
    assert (policy["policyTypes"], policy["egress"]) == (["Ingress", "Egress"], [])
    assert [rule["ports"] for rule in policy["ingress"]] == [[{"protocol": "TCP", "port": 8080}]]


def test_traefik_takes_identity_only_from_login_proxy():
    made = {name.removeprefix(f"{RELEASE}-"): one["spec"] for name, one in render("minimal").named("Middleware").items()}
    forward = {name: spec["forwardAuth"] for name, spec in made.items() if "forwardAuth" in spec}
    assert {name: one["address"] for name, one in forward.items()} == {
        "pages": f"http://{LOGIN}.launcher.svc/",
        "api": f"http://{LOGIN}.launcher.svc/oauth2/auth",
        "workshops": f"http://{WORKSHOPS_LOGIN}.launcher.svc/",
    }
    stripped = made["strip"]["headers"]["customRequestHeaders"]
    assert set(stripped.values()) == {""} and "X-Auth-Request-Proof" in stripped
    for one in forward.values():
        assert one["trustForwardHeader"] is False
        taken = re.compile(one["authResponseHeadersRegex"])
        for header in ("X-Auth-Request-Email", "x_auth_request_email", "X.Auth-Request_User", "x.auth_request-PROOF", *stripped):
            assert taken.search(header), header
        for header in ("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Authorization", "Cookie"):
            assert not taken.search(header), header


def in_namespace(name):
    return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}


def selected(selector, labels):
    """Returns True if a selector of pods selects these labels."""
    listed = all(labels[one["key"]] in one["values"] for one in selector.get("matchExpressions", []))
    return listed and selector["matchLabels"].items() <= labels.items()


@every_set
def test_ingress_policies_allow_only_edge_proxy_and_monitoring(name):
    found = render(name)
    objects = found.named("NetworkPolicy")
    policies = {one: each["spec"] for one, each in objects.items()}
    space = {**dict.fromkeys(FRONT_SETS, "launcher"), "traefik": "kube-system"}.get(name, "traefik")
    instance = {f"app.kubernetes.io/{key}": RELEASE for key in ("name", "instance")} | {"app.kubernetes.io/component": "front"}
    labels = instance if name in FRONT_SETS else {"app.kubernetes.io/name": "traefik"}
    controller = in_namespace(space) | {"podSelector": {"matchLabels": labels}}

    def rule(peer, *ports):
        return {"from": [peer], "ports": [{"protocol": "TCP", "port": port} for port in ports]}

    telemetry = (lambda port: [rule(in_namespace("monitoring"), port)]) if name == "full" else (lambda port: [])
    # Only the launcher reaches the containers that send files.
    of_launcher = policies["workshop-downloads"]["ingress"][0]["from"][0]
    assert of_launcher == in_namespace("launcher") | {"podSelector": of_launcher["podSelector"]}
    templates = {component: one["metadata"]["labels"] for component, one in found.templates.items()}
    assert [one for one, labels in templates.items() if selected(of_launcher["podSelector"], labels)] == ["launcher"]
    expected = {
        f"{LAUNCHER}-launcher": [rule(controller, 8000), *telemetry(9090)], f"{LAUNCHER}-operator": telemetry(9091),
        LOGIN: [rule(controller, 4180)], "workshops-ingress": [rule(controller, 8080)], NOTICE: [rule(controller, 8080)],
        "workshop-downloads": [rule(of_launcher, 8080)], "workshop-snapshots": [rule(of_launcher, 8082, 8083)],
    }
    # test_chart_front.py tests the policy of the front, which replaces the notice program.
    other = {"workshops-egress", NOTICE if name in FRONT_SETS else FRONT}
    assert {one: policies[one]["ingress"] for one in policies.keys() - {FRONT, "workshops-egress"}} == {
        one: rules for one, rules in expected.items() if one not in other
    }
    assert all("Ingress" in spec["policyTypes"] for one, spec in policies.items() if one != "workshops-egress")
    # Each pod of the release is selected by one policy.
    ours = [each["spec"]["podSelector"] for each in objects.values() if each["metadata"]["namespace"] == "launcher"]
    assert [one for one, labels in templates.items() if [selected(each, labels) for each in ours].count(True) != 1] == []
    blocks = [peer["ipBlock"] for rule in policies["workshops-egress"]["egress"] for peer in rule["to"] if "ipBlock" in peer]
    assert blocks
    for address in ("169.254.169.254", "100.100.100.200", "168.63.129.16"):
        for block in blocks:
            assert any(ipaddress.ip_address(address) in ipaddress.ip_network(one) for one in block["except"]), address


# Changes of ci/full-values.yaml: an existing Gateway instead of one that the chart creates.
EXISTING = (
    "ingress.className=,ingress.tls.launcherSecret=,ingress.tls.issuer.name=,ingress.gateway.name=public",
    "ingress.gateway.namespace=gateways,ingress.gateway.launcherListener=https,ingress.gateway.workshopsListener=wild",
)


@pytest.mark.parametrize("changes,parents", [
    ((), [{"name": RELEASE, "sectionName": name} for name in ("launcher", "workshops")]),
    (EXISTING, [{"name": "public", "namespace": "gateways", "sectionName": name} for name in ("https", "wild")]),
], ids=["own-gateway", "existing-gateway"])
def test_each_host_has_one_route_from_gateway_to_nginx(changes, parents):
    found = render("full", *changes)
    rule = {"backendRefs": [{"name": FRONT, "port": 80}], "timeouts": {"request": "0s"}}
    assert {name: one["spec"] for name, one in found.named("HTTPRoute").items()} == {
        name: {"parentRefs": [parent], "hostnames": [host], "rules": [rule]}
        for name, parent, host in zip((RELEASE, f"{RELEASE}-workshops"), parents, (HOST, f"*.{DOMAIN}"), strict=True)
    }
    notes = [one["metadata"]["annotations"] for one in found.named("HTTPRoute").values()]
    assert notes == [{"external-dns.alpha.kubernetes.io/ttl": "300"}] * 2
    assert {"name": "http", "port": 80, "targetPort": "http"} in found.named("Service")[FRONT]["spec"]["ports"]
    assert not found.named("Ingress", "Middleware") and bool(found.named("Gateway")) is (changes == ())


def test_launcher_in_workshops_domain_shares_listener_with_workshops():
    """The certificate of one listener is valid for the hosts of both, so browsers send both over one connection."""
    hosts = "host=launcher.apps.example.edu,workshops.domain=apps.example.edu,workshops.nameSuffix=-ws"
    found = render("full", hosts, "ingress.tls.launcherSecret=")
    (listener,) = found.named("Gateway")[RELEASE]["spec"]["listeners"]
    assert (listener["name"], listener["hostname"]) == ("workshops", "*.apps.example.edu")
    assert listener["tls"]["certificateRefs"] == [{"name": WORKSHOPS_SECRET}]
    routes = [one["spec"] for one in found.named("HTTPRoute").values()]
    assert {one["parentRefs"][0]["sectionName"] for one in routes} == {"workshops"}
    assert [one["hostnames"] for one in routes] == [["launcher.apps.example.edu"], ["*.apps.example.edu"]]
    certificates = [one["spec"] for one in found.named("Certificate").values()]
    assert [(one["secretName"], one["dnsNames"]) for one in certificates] == [(WORKSHOPS_SECRET, ["*.apps.example.edu"])]


def test_all_other_objects_of_gateway_equal_those_of_controller_any():
    """Tests of the front with the controller any thus hold for gateway, too."""
    ours = {key: one for key, one in render("full").keyed.items() if key[0] not in ("Gateway", "HTTPRoute")}
    assert render("full", "ingress.controller=any,ingress.className=").keyed == ours
