"""The chart's values: rendered output, refused values, and their reference. No cluster is needed."""

import json
import re
import subprocess

import pytest
import yaml

from chart import CHART, LOGIN, RELEASE, ROOT, SETS, defaults, helm, leaves, values_of, values_schema


def test_rendered_output_and_copies_are_committed():
    done = subprocess.run([LOGIN / "render.sh"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", SETS)
def test_helm_lint_passes(name):
    status, text = helm("lint", CHART, "--strict", "--values", values_of(name))
    assert status == 0, text
    assert "[WARNING]" not in text


MIDDLEWARES = r"traefik\.ingress\.kubernetes\.io/router\.middlewares"
REFUSED = [
    (["host="], "- host is missing"),
    (["workshops.domain="], "- workshops.domain is missing"),
    (["host=run.workshops.example.net"], "- host must not lie in workshops.domain"),
    (["host=workshops.example.net"], "- host must not lie in workshops.domain"),
    (["workshops.namespace=launcher"], "- workshops.namespace must not be the release's own namespace, launcher"),
    (["images.launcher="], "- images.launcher is missing"),
    (["images.sidecar="], "- images.sidecar is missing"),
    (["login.provider="], "- login.provider is missing: google, github or oidc"),
    (["login.emailDomains=null"], "- login.emailDomains is missing"),
    (["login.secret="], "- login.secret is missing"),
    (["login.workshopsSecret="], "- login.workshopsSecret is missing"),
    (["login.workshopsSecret=launcher-login"], "- login.secret and login.workshopsSecret must differ"),
    (["login.oidc.issuerURL="], "- login.oidc.issuerURL is missing"),
    (["login.oidc.jwksURL=https://a.example.org"], "- login.oidc.loginURL, redeemURL and jwksURL go together"),
    (["login.github.teams={staff}"], "- login.github.org is missing"),
    (["launcher.replicas=2"], "- launcher.replicas is 2, but SQLite takes one launcher"),
    (["database.type=postgresql"], "- database.postgresql.secret is missing"),
    ([rf"ingress.annotations.{MIDDLEWARES}=none"], "- ingress.annotations must not have traefik.ingress"),
    (["traces.headersSecret=collector-key"], "- traces.endpoint is missing"),
    (["monitoring.serviceMonitor.enabled=true"], "- monitoring.namespace is missing"),
    (["monitoring.prometheusRule.enabled=true"], "- monitoring.serviceMonitor.enabled is missing"),
    (["hots=a.example.org"], "additional properties 'hots' not allowed"),
    (["login.cookieSecret=abc"], "at '/login': additional properties 'cookieSecret' not allowed"),
    (["host=Launcher.Example.org"], "at '/host': 'Launcher.Example.org' does not match"),
    (["host=https://launcher.example.org"], "at '/host': "),
    (["ingress.controller=nginx"], "at '/ingress/controller': value must be one of 'traefik', 'any'"),
    (["login.provider=okta"], "at '/login/provider': value must be one of"),
    (["database.type=mysql"], "at '/database/type': value must be one of 'sqlite', 'postgresql'"),
    (["traces.endpoint=http://me:swordfish@collector"], "at '/traces/endpoint': "),
    ([r"traces.resourceAttributes.course=a\,b"], "at '/traces/resourceAttributes/course': "),
    (["images.sidecar=registry.example.org/sidecar:1@sha256:0123"], "at '/images/sidecar': "),
    (["launcher.replicas=0"], "at '/launcher/replicas': minimum: got 0, want 1"),
    (["limits.queued=1000000001"], "at '/limits/queued': maximum: got 1.000000001×10⁰⁹, want 1×10⁰⁹"),
    (["launcher.replicas=two"], "at '/launcher/replicas': got string, want integer"),
    (["api.adminEmails={ada}"], "at '/api/adminEmails/0': 'ada' does not match"),
    (["networkPolicy.exceptAlso={example.org}"], "at '/networkPolicy/exceptAlso/0': "),
    (["proxySecret.launcher={short}"], "at '/proxySecret/launcher/0': "),
    ([f"proxySecret.workshops={{{'$' * 32}}}"], "at '/proxySecret/workshops/0': "),
    ([f"proxySecret.launcher={{{'a' * 32},{'b' * 32},{'c' * 32}}}"], "at '/proxySecret/launcher': maxItems: got 3, want 2"),
    (
        [f"proxySecret.launcher={{{'a' * 32},{'b' * 32}}}", f"proxySecret.workshops={{{'b' * 32}}}"],
        "- proxySecret.launcher and proxySecret.workshops must differ",
    ),
    (["templates[0].name=x"], "at '/templates/0': missing properties 'template_id', 'app_type', 'image'"),
]


@pytest.mark.parametrize("changes,message", REFUSED)
def test_invalid_values_are_refused_with_message(changes, message):
    settings = [word for change in changes for word in ("--set", change)]
    common = ("--namespace", "launcher", "--values", values_of("minimal"))
    status, text = helm("template", RELEASE, CHART, *common, *settings)
    assert status != 0, "it was accepted"
    assert message in text


def test_all_missing_values_are_reported_together():
    status, text = helm("template", RELEASE, CHART)
    assert status != 0
    assert text.count("is missing") == 8, text


def test_values_schema_and_reference_list_same_names():
    schema = values_schema()
    known = set(leaves(schema))
    assert set(defaults(yaml.safe_load((CHART / "values.yaml").read_text()), schema)) == known
    lines = (ROOT / "docs/helm-values.md").read_text().splitlines()
    named = [found[1] for line in lines if (found := re.match(r"\| `([A-Za-z0-9.]+)` \|", line))]
    assert sorted(named) == sorted(known)


def test_reference_defaults_match_values():
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    for line in (ROOT / "docs/helm-values.md").read_text().splitlines():
        found = re.match(r"\| `([A-Za-z0-9.]+)` \| `([^`]+)` \|", line)
        if found and not found[1].startswith(("ingress.className", "ingress.namespace", "ingress.podLabels")):
            value = values
            for word in found[1].split("."):
                value = value[word]
            assert yaml.safe_load(found[2]) == value, found[1]


def test_seed_template_fields_match_api():
    document = json.loads((ROOT / "docs/openapi.json").read_text())
    api = document["components"]["schemas"]["WorkshopTemplateBody"]["properties"]
    chart = values_schema()["properties"]["templates"]["items"]["properties"]
    assert set(chart) == set(api) | {"template_id"}
    assert set(chart["resources"]["properties"]) == set(api["resources"]["properties"])


def test_only_proxy_secret_values_hold_secrets():
    of_secrets = re.compile("secret|password|token", re.IGNORECASE)
    names = {path for path in leaves(values_schema()) if of_secrets.search(path) and "proxySecret." not in path}
    # Names of Secrets, and in login.secretKeys names of their keys.
    of_objects = {"pullSecrets", "imagePullSecrets", "secret", "workshopsSecret", "launcherSecret", "headersSecret"}
    of_keys = {"clientID", "clientSecret", "cookieSecret"}
    assert {path.rpartition(".")[2] for path in names} == of_objects | of_keys
