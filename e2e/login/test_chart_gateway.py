"""Tests of the chart's Gateway and HTTPRoutes. No cluster is needed."""

import pytest

from chart import RELEASE, render
from yaml_files import load_all

HOST, DOMAIN = "launcher.example.org", "workshops.example.net"
FRONT = f"{RELEASE}-front"
# Values for an existing Gateway instead of one that the chart creates.
EXISTING = (
    "className=", "tls.launcherSecret=", "tls.issuer.name=", "gateway.name=public", "gateway.namespace=gateways",
    "gateway.launcherListener=https", "gateway.workshopsListener=wild",
)


def rendered(*changes):
    """Renders ci/gateway-values.yaml with these changes of values below ingress. Returns {(kind, name): object}."""
    text = render("gateway", *(word for change in changes for word in ("--set", f"ingress.{change}")))
    return {(one["kind"], one["metadata"]["name"]): one for one in load_all(text) if one}


def test_gateway_has_one_https_listener_for_each_host():
    gateway = rendered()["Gateway", RELEASE]
    assert gateway["spec"]["gatewayClassName"] == "example"
    names = {"launcher": (HOST, "launcher-certificate"), "workshops": (f"*.{DOMAIN}", f"{RELEASE}-workshops-certificate")}
    assert gateway["spec"]["listeners"] == [
        {
            "name": name, "hostname": host, "port": 8443, "protocol": "HTTPS",
            "tls": {"mode": "Terminate", "certificateRefs": [{"name": secret}]},
            "allowedRoutes": {"namespaces": {"from": "Same"}},
        }
        for name, (host, secret) in names.items()
    ]


@pytest.mark.parametrize("changes,parents", [
    ((), [{"name": RELEASE, "sectionName": name} for name in ("launcher", "workshops")]),
    (EXISTING, [{"name": "public", "namespace": "gateways", "sectionName": name} for name in ("https", "wild")]),
], ids=["own-gateway", "existing-gateway"])
def test_each_host_has_one_route_from_gateway_to_nginx(changes, parents):
    found = rendered(*changes)
    routes = {name: one["spec"] for (kind, name), one in found.items() if kind == "HTTPRoute"}
    rule = {"backendRefs": [{"name": FRONT, "port": 80}], "timeouts": {"request": "0s"}}
    assert routes == {
        name: {"parentRefs": [parent], "hostnames": [host], "rules": [rule]}
        for name, parent, host in zip((RELEASE, f"{RELEASE}-workshops"), parents, (HOST, f"*.{DOMAIN}"), strict=True)
    }
    assert {"name": "http", "port": 80, "targetPort": "http"} in found["Service", FRONT]["spec"]["ports"]
    kinds = {kind for kind, _ in found}
    assert not kinds & {"Ingress", "Middleware"} and ("Gateway" in kinds) is (changes == ())


def test_launcher_in_workshops_domain_shares_listener_with_workshops():
    """The certificate of one listener is valid for the hosts of both, so browsers send both over one connection."""
    values = ("host=launcher.apps.example.edu", "workshops.domain=apps.example.edu", "workshops.nameSuffix=-ws")
    text = render("gateway", *(word for value in (*values, "ingress.tls.launcherSecret=") for word in ("--set", value)))
    found = {(one["kind"], one["metadata"]["name"]): one["spec"] for one in load_all(text) if one and "spec" in one}
    (listener,) = found["Gateway", RELEASE]["listeners"]
    secret = f"{RELEASE}-workshops-certificate"
    assert (listener["name"], listener["hostname"]) == ("workshops", "*.apps.example.edu")
    assert listener["tls"]["certificateRefs"] == [{"name": secret}]
    routes = {name: one for (kind, name), one in found.items() if kind == "HTTPRoute"}
    assert {one["parentRefs"][0]["sectionName"] for one in routes.values()} == {"workshops"}
    assert [one["hostnames"] for one in routes.values()] == [["launcher.apps.example.edu"], ["*.apps.example.edu"]]
    certificates = [one for (kind, _), one in found.items() if kind == "Certificate"]
    assert [(one["secretName"], one["dnsNames"]) for one in certificates] == [(secret, ["*.apps.example.edu"])]


def test_gateway_and_routes_have_configured_annotations():
    found = {key: one["metadata"].get("annotations") for key, one in rendered().items()}
    annotated = [key for key, annotations in found.items() if annotations == {"external-dns.alpha.kubernetes.io/ttl": "300"}]
    assert annotated == [("Gateway", RELEASE), ("HTTPRoute", RELEASE), ("HTTPRoute", f"{RELEASE}-workshops")]


def test_all_other_objects_equal_those_of_controller_any():
    """Tests of the front with the controller any thus hold for gateway, too."""
    ours = {key: one for key, one in rendered().items() if key[0] not in ("Gateway", "HTTPRoute")}
    assert rendered("controller=any", "className=") == ours
