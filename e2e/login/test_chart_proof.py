"""Tests of the chart's proxy secrets: which objects contain, send or accept each secret. No cluster is needed."""

import base64
import json
import re

import pytest

from chart import FRONT_SETS, RELEASE, SETS, render
from nginx_conf import directives, http_of, servers_of, the

SECRET, FRONT = f"{RELEASE}-proxy-secret", f"{RELEASE}-front"
PROOF = "X-Auth-Request-Proof"
MOUNT = "/etc/workshop-launcher-proxy"
EXAMPLES = {one: f"example-of-a-proxy-secret-for-the-{one}" for one in ("launcher", "workshops")}
NONE = "proxySecret.launcher=null,proxySecret.workshops=null"


def plain(secret):
    """Returns the decoded data of a Secret."""
    return {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}


def secrets_of(found):
    """Returns the proxy secrets that the launcher and the workshops accept: {audience: [secret]}."""
    own = plain(found.keyed["Secret", "launcher", SECRET])
    other = [plain(one) for (kind, namespace, _), one in found.keyed.items() if kind == "Secret" and namespace != "launcher"]
    # One in each namespace of workshops.
    assert other and all(one == {"secrets": own["workshops"]} for one in other)
    return {audience: text.split("\n") for audience, text in own.items()}


def sent_by_traefik(found):
    """Returns the proxy secrets that the Traefik middlewares send: {audience: secret}."""
    made = found.named("Middleware")
    headers = {audience: made[f"{RELEASE}-{audience}-proof"]["spec"]["headers"]["customRequestHeaders"] for audience in EXAMPLES}
    assert all(list(one) == [PROOF] for one in headers.values())
    return {audience: one[PROOF] for audience, one in headers.items()}


def sent_by_front(found):
    """Returns the proxy secrets that the front sends: {audience: secret}."""
    files = plain(found.keyed["Secret", "launcher", FRONT])
    assert set(files) == {f"{audience}.conf" for audience in EXAMPLES}
    pattern = r'auth_request_set \$front_proof "([A-Za-z0-9._~+/=-]{32,256})";\n'
    return {audience: re.fullmatch(pattern, files[f"{audience}.conf"])[1] for audience in EXAMPLES}


def sent(name, found):
    return sent_by_front(found) if name in FRONT_SETS else sent_by_traefik(found)


@pytest.mark.parametrize("name", SETS)
def test_edge_proxy_sends_first_proxy_secret_and_only_accepting_programs_know_it(name):
    found = render(name)
    assert sent(name, found) == EXAMPLES
    accepted = secrets_of(found)
    assert {audience: lines[0] for audience, lines in accepted.items()} == EXAMPLES
    assert {len(lines) for lines in accepted.values()} == {2 if name == "full" else 1}
    assert found.env("launcher")["SERVICE_PROXY_SECRET_FILE"] == f"{MOUNT}/secrets"
    (mount,) = (one for one in found.containers["launcher"]["volumeMounts"] if one["mountPath"] == MOUNT)
    # The kubelet never updates a mount with a subPath, so a rotated secret would not arrive.
    assert mount == {"name": "proxy-secret", "mountPath": MOUNT, "readOnly": True}
    (volume,) = (one["secret"] for one in found.pods["launcher"]["volumes"] if one["name"] == "proxy-secret")
    assert volume == {"secretName": SECRET, "defaultMode": 0o440, "items": [{"key": "launcher", "path": "secrets"}]}
    assert found.env("operator")["SERVICE_PROXY_SECRET_NAME"] == SECRET
    for component in ("operator", "login", "workshops-login"):
        assert not [one for one in found.pods[component].get("volumes", []) if "secret" in one], component
    public = [one for one in found.objects if one["kind"] in ("ConfigMap", "Deployment")]
    assert public and "example-of-a-proxy-secret" not in json.dumps(public)


@pytest.mark.parametrize("name", ["minimal", "any"])
def test_generated_proxy_secrets_are_equal_in_all_objects(name):
    """Helm cannot look up an existing Secret here, so each rendering generates new secrets."""
    first, second = (render(name, NONE, again=again) for again in (False, True))
    accepted = secrets_of(first)
    assert {audience: [one] for audience, one in sent(name, first).items()} == accepted
    assert all(re.fullmatch("[A-Za-z0-9]{48}", lines[0]) for lines in accepted.values())
    assert accepted["launcher"] != accepted["workshops"]
    assert not {*accepted["launcher"], *accepted["workshops"]} & {line for one in secrets_of(second).values() for line in one}


def test_nginx_sends_proxy_secret_only_after_auth_request():
    for host, locations in servers_of(http_of(render("any"))).items():
        for location, block in locations.items():
            included = [words[0] for words in directives(block, "include")]
            is_workshop = "front_workshop" in host and "/_launcher/class/" not in location
            audience = "workshops" if is_workshop else "launcher"
            expected = [f"{MOUNT}/{audience}.conf"] if the(block, "auth_request") else []
            assert included == expected, (host, location)


def test_changed_proxy_secret_restarts_nginx_but_not_launcher():
    first, other = (render("any", *changes).templates for changes in ((), (f"proxySecret.workshops={{{'x' * 32}}}",)))
    before, after = (one["front"]["metadata"]["annotations"]["checksum/config"] for one in (first, other))
    assert before != after and first["launcher"] == other["launcher"]


@pytest.mark.parametrize("name", ["minimal", "full"])
def test_edge_proxy_still_removes_proof_header_if_proxy_secret_is_disabled(name):
    found = render(name, "proxySecret.enabled=false")
    assert not [one for one in found.named("Secret") if not one.endswith("login")]
    code = "\n".join(line for line in found.text.splitlines() if not line.lstrip().startswith("#"))
    assert [word for word in ("proxy-secret", "PROXY_SECRET", "-proof", "front_proof") if word in code] == []
    if name in FRONT_SETS:
        assert dict(directives(http_of(found), "proxy_set_header"))[PROOF] == ""
    else:
        strip = found.named("Middleware")[f"{RELEASE}-strip"]["spec"]["headers"]["customRequestHeaders"]
        assert strip[PROOF] == ""
