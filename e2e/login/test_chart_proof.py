"""Tests of the chart's proxy secrets: which objects contain, send or accept each secret. No cluster is needed."""

import base64
import re

import pytest
import yaml

from chart import CHART, FRONT_SETS, RELEASE, SETS, TRAEFIK_SETS, containers, helm, objects, values_of
from nginx_conf import blocks, directives, parsed, the
from yaml_files import load_all

SECRET, FRONT = f"{RELEASE}-proxy-secret", f"{RELEASE}-front"
PROOF = "X-Auth-Request-Proof"
MOUNT = "/etc/workshop-launcher-proxy"
EXAMPLES = {one: f"example-of-a-proxy-secret-for-the-{one}" for one in ("launcher", "workshops")}
NONE = ("--set", "proxySecret.launcher=null", "--set", "proxySecret.workshops=null")


def with_values(name, *words):
    """Renders a set of values with these options of helm. Returns {(kind, namespace, name): object}."""
    common = ("--namespace", "launcher", "--kube-version", "1.34", "--values", values_of(name))
    status, text = helm("template", RELEASE, CHART, *common, *words)
    assert status == 0, text
    found = [one for one in load_all(text) if one]
    return {(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]): one for one in found}


def plain(secret):
    """Returns the decoded data of a Secret."""
    return {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}


def secrets_of(found):
    """Returns the proxy secrets that the launcher and the workshops accept: {audience: [secret]}."""
    own = plain(found["Secret", "launcher", SECRET])
    other = [plain(one) for (kind, namespace, _), one in found.items() if kind == "Secret" and namespace != "launcher"]
    assert other == [{"secrets": own["workshops"]}]
    return {audience: text.split("\n") for audience, text in own.items()}


def sent_by_traefik(found):
    """Returns the proxy secrets that the Traefik middlewares send: {audience: secret}."""
    made = {name: one["spec"] for (kind, _, name), one in found.items() if kind == "Middleware"}
    headers = {audience: made[f"{RELEASE}-{audience}-proof"]["headers"] for audience in EXAMPLES}
    assert all(list(one) == ["customRequestHeaders"] and list(one["customRequestHeaders"]) == [PROOF] for one in headers.values())
    return {audience: one["customRequestHeaders"][PROOF] for audience, one in headers.items()}


def sent_by_front(found):
    """Returns the proxy secrets that the front sends: {audience: secret}."""
    files = plain(found["Secret", "launcher", FRONT])
    assert set(files) == {f"{audience}.conf" for audience in EXAMPLES}
    pattern = r'auth_request_set \$front_proof "([A-Za-z0-9._~+/=-]{32,256})";\n'
    return {audience: re.fullmatch(pattern, files[f"{audience}.conf"])[1] for audience in EXAMPLES}


def sent(name, found):
    return sent_by_front(found) if name in FRONT_SETS else sent_by_traefik(found)


@pytest.mark.parametrize("name", SETS)
def test_edge_proxy_sends_first_proxy_secret_and_all_are_accepted(name):
    found = with_values(name)
    assert sent(name, found) == EXAMPLES
    accepted = secrets_of(found)
    assert {audience: lines[0] for audience, lines in accepted.items()} == EXAMPLES
    assert {len(lines) for lines in accepted.values()} == {2 if name == "full" else 1}


@pytest.mark.parametrize("name", ["minimal", "any"])
def test_generated_proxy_secrets_are_equal_in_all_objects(name):
    """Helm cannot look up an existing Secret here, so each rendering generates new secrets."""
    first, second = (with_values(name, *NONE) for _ in range(2))
    accepted = secrets_of(first)
    assert {audience: [one] for audience, one in sent(name, first).items()} == accepted
    assert all(re.fullmatch("[A-Za-z0-9]{48}", lines[0]) for lines in accepted.values())
    assert accepted["launcher"] != accepted["workshops"]
    assert not {*accepted["launcher"], *accepted["workshops"]} & {line for one in secrets_of(second).values() for line in one}


@pytest.mark.parametrize("name", SETS)
def test_launcher_mounts_proxy_secrets_as_updatable_file(name):
    pod, container = next((pod, one) for _, pod, one in containers(name) if one["name"] == "launcher")
    told = {one["name"]: one.get("value") for one in container["env"]}
    assert told["SERVICE_PROXY_SECRET_FILE"] == f"{MOUNT}/secrets"
    mount = next(one for one in container["volumeMounts"] if one["mountPath"] == MOUNT)
    # The kubelet never updates a mount with a subPath, so a rotated secret would not arrive.
    assert mount == {"name": "proxy-secret", "mountPath": MOUNT, "readOnly": True}
    volume = next(one for one in pod["volumes"] if one["name"] == "proxy-secret")["secret"]
    assert volume == {"secretName": SECRET, "defaultMode": 0o440, "items": [{"key": "launcher", "path": "secrets"}]}


@pytest.mark.parametrize("name", SETS)
def test_operator_and_login_proxies_mount_no_proxy_secret(name):
    told = {container["name"]: {one["name"]: one.get("value") for one in container["env"]}
            for _, _, container in containers(name) if container["name"] != "nginx"}
    assert told["operator"]["SERVICE_PROXY_SECRET_NAME"] == SECRET
    for deployment, pod, container in containers(name):
        if container["name"] in ("operator", "oauth2-proxy"):
            assert not [one for one in pod.get("volumes", []) if "secret" in one], deployment


@pytest.mark.parametrize("name", SETS)
def test_configmaps_and_environments_contain_no_proxy_secret(name):
    for found in objects(name, "ConfigMap", "Deployment"):
        assert "example-of-a-proxy-secret" not in yaml.safe_dump(found), found["metadata"]["name"]


def test_nginx_sends_proxy_secret_only_after_auth_request():
    found = with_values("any")
    http = blocks(parsed(found["ConfigMap", "launcher", FRONT]["data"]["nginx.conf"]), "http")[""]
    for words, server in http:
        if words != ("server",):
            continue
        host = the(server, "server_name")
        for location, block in blocks(server, "location").items():
            included = [words[0] for words in directives(block, "include")]
            audience = "workshops" if "front_workshop" in host else "launcher"
            expected = [f"{MOUNT}/{audience}.conf"] if the(block, "auth_request") else []
            assert included == expected, (host, location)


def test_changed_proxy_secret_restarts_nginx_but_not_launcher():
    def checksums(*words):
        found = with_values("any", *words)
        pods = {name: one["spec"]["template"] for (kind, _, name), one in found.items() if kind == "Deployment"}
        return pods[FRONT]["metadata"]["annotations"]["checksum/config"], pods[RELEASE]

    (front, launcher), (other_front, other_launcher) = checksums(), checksums("--set", f"proxySecret.workshops={{{'x' * 32}}}")
    assert front != other_front and launcher == other_launcher


@pytest.mark.parametrize("name", SETS)
def test_edge_proxy_still_removes_proof_header_if_proxy_secret_is_disabled(name):
    found = with_values(name, "--set", "proxySecret.enabled=false")
    assert not [key for key in found if key[0] == "Secret" and not key[2].endswith("login")]
    text = yaml.safe_dump_all(found.values())
    assert "proxy-secret" not in text and "PROXY_SECRET" not in text and "-proof" not in text and "front_proof" not in text
    if name in FRONT_SETS:
        http = blocks(parsed(found["ConfigMap", "launcher", FRONT]["data"]["nginx.conf"]), "http")[""]
        assert dict(directives(http, "proxy_set_header"))[PROOF] == ""
    else:
        strip = found["Middleware", "launcher", f"{RELEASE}-strip"]["spec"]["headers"]["customRequestHeaders"]
        assert strip[PROOF] == ""
