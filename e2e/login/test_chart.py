"""Tests of the chart's values: rendering, refused values, and documentation. No cluster is needed."""

import json
import re
import subprocess

import pytest
import yaml

from chart import CHART, LOGIN, RELEASE, ROOT, SETS, defaults, helm, leaves, render, values_of, values_schema


def test_committed_renderings_and_copies_are_up_to_date():
    done = subprocess.run([LOGIN / "render.sh"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_deprecated_limit_names_render_like_current_names():
    deprecated = "instancesPerUser=0", "launchesPerMinute=5", "concurrentStarts=1000000", "queued=201"
    present = "maxInstancesPerUser=0", "launchRate=5", "maxConcurrentStarts=1000000", "maxQueued=201"
    rendered = [
        render("full", *(word for limit in limits for word in ("--set", f"limits.{limit}")))
        for limits in (deprecated, present)
    ]
    assert rendered[0] == rendered[1] != render("full")


def test_install_notes_warn_of_deprecated_value_names():
    common = ("--dry-run=client", "--namespace", "launcher", "--values", values_of("minimal"))
    status, notes = helm("install", RELEASE, CHART, *common, "--set", "limits.queued=7")
    assert status == 0, notes
    assert notes.count("is deprecated") == 1
    assert "limits.queued is deprecated, and overrides limits.maxQueued" in notes


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
    (["launcher.replicas=2"], "- launcher.replicas is 2, but SQLite allows one launcher"),
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
    (["limits.maxQueued=1000000001"], "at '/limits/maxQueued': maximum: got 1.000000001×10⁰⁹, want 1×10⁰⁹"),
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
    assert status != 0, "helm accepted invalid values"
    assert message in text


def test_all_missing_values_are_reported_together():
    status, text = helm("template", RELEASE, CHART)
    assert status != 0
    assert text.count("is missing") == 8, text


def test_schema_and_docs_list_the_same_values():
    schema = values_schema()
    known = set(leaves(schema))
    assert set(defaults(yaml.safe_load((CHART / "values.yaml").read_text()), schema)) == known
    lines = (ROOT / "docs/helm-values.md").read_text().splitlines()
    named = [found[1] for line in lines if (found := re.match(r"\| `([A-Za-z0-9.]+)` \|", line))]
    assert sorted(named) == sorted(known)


def test_documented_defaults_match_values_yaml():
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    for line in (ROOT / "docs/helm-values.md").read_text().splitlines():
        found = re.match(r"\| `([A-Za-z0-9.]+)` \| `([^`]+)` \|", line)
        if found and not found[1].startswith(("ingress.className", "ingress.namespace", "ingress.podLabels")):
            value = values
            for word in found[1].split("."):
                value = value[word]
            assert yaml.safe_load(found[2]) == value, found[1]


def test_seed_template_fields_in_schema_match_api():
    document = json.loads((ROOT / "docs/openapi.json").read_text())
    api = document["components"]["schemas"]["WorkshopTemplateBody"]["properties"]
    chart = values_schema()["properties"]["templates"]["items"]["properties"]
    assert set(chart) == set(api) | {"template_id"}
    assert set(chart["resources"]["properties"]) == set(api["resources"]["properties"])


def test_only_proxy_secret_values_contain_secrets():
    of_secrets = re.compile("secret|password|token", re.IGNORECASE)
    names = {path for path in leaves(values_schema()) if of_secrets.search(path) and "proxySecret." not in path}
    # These values hold the name of a Secret, or of a key in a Secret, but no secret.
    of_objects = {"pullSecrets", "imagePullSecrets", "secret", "workshopsSecret", "launcherSecret", "headersSecret"}
    of_keys = {"clientID", "clientSecret", "cookieSecret"}
    assert {path.rpartition(".")[2] for path in names} == of_objects | of_keys
