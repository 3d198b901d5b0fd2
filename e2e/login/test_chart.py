"""Tests of the chart's values: rendering, refused values, and documentation. No cluster is needed."""

import json
import re
import subprocess

import pytest

from chart import ALL_SETS, CHART, LOGIN, RELEASE, ROOT, defaults, helm, leaves, render, values_of, values_schema
from yaml_files import load


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


def install_notes(name, *settings):
    """Returns what `helm install` prints after an installation with this values file and these values."""
    common = ("--dry-run=client", "--namespace", "launcher", "--values", values_of(name))
    status, printed = helm("install", RELEASE, CHART, *common, *(word for each in settings for word in ("--set", each)))
    assert status == 0, printed
    return printed.split("NOTES:")[1]


@pytest.mark.parametrize(
    "name,settings,warning",
    [
        ("wildcard", [], "WARNING: workshops can act on the launcher in a browser"),
        ("minimal", ["workshops.domain=run.example.org", "host=launcher.example.org"], "look like one site"),
        ("minimal", ["api.adminEmails=null"], "WARNING: no user can manage templates"),
        ("google", ["login.emailDomains={*}"], "WARNING: every google account may log in"),
        ("minimal", ["networkPolicy.enabled=false"], "WARNING: every pod of the cluster can reach the apps"),
        ("minimal", ["proxySecret.enabled=false"], "WARNING: a client that bypasses the edge proxy can claim any identity"),
    ],
)
def test_install_notes_warn_of_insecure_values(name, settings, warning):
    assert warning in install_notes(name, *settings)
    secure = install_notes("minimal")
    assert warning not in secure and "WARNING" not in secure


def test_install_notes_of_one_domain_name_the_documentation():
    assert 'docs/threat-model.md, "One domain"' in install_notes("wildcard")
    assert "One domain" not in install_notes("minimal")


def test_install_notes_warn_of_deprecated_value_names():
    notes = install_notes("minimal", "limits.queued=7")
    assert notes.count("is deprecated") == 1
    assert "limits.queued is deprecated, and overrides limits.maxQueued" in notes


# Groups of values of pods: `COMPONENT` in docs/helm-pods.md.
COMPONENTS = ("launcher", "operator", "login", "front", "notice")


@pytest.mark.parametrize("name", ALL_SETS)
def test_helm_lint_passes(name):
    status, text = helm("lint", CHART, "--strict", "--values", values_of(name))
    assert status == 0, text
    assert "[WARNING]" not in text


SUFFIX = ["workshops.nameSuffix=-ws"]
MIDDLEWARES = r"traefik\.ingress\.kubernetes\.io/router\.middlewares"
REFUSED = [
    (["host="], "- host is missing"),
    (["workshops.domain="], "- workshops.domain is missing"),
    (["host=run.workshops.example.net"], "- host must not lie in workshops.domain"),
    (["host=workshops.example.net"], "- host must not lie in workshops.domain"),
    ([*SUFFIX, "host=workshops.example.net"], "- host must not lie in workshops.domain"),
    ([*SUFFIX, "host=a.b.workshops.example.net"], "- host must be one name before workshops.domain"),
    ([*SUFFIX, "host=a-ws.workshops.example.net"], "- host must not end in workshops.nameSuffix before workshops.domain"),
    ([*SUFFIX, "host=login.workshops.example.net"], "- host must not be login.workshops.example.net"),
    (
        [*SUFFIX, "workshops.domain=localhost.localhost", "host=a.localhost.localhost", "ingress.scheme=http"],
        "- ingress.scheme is http, but host lies in workshops.domain",
    ),
    (["workshops.nameSuffix=ws"], "at '/workshops/nameSuffix': 'ws' does not match"),
    (["workshops.nameSuffix=-ws-"], "at '/workshops/nameSuffix': '-ws-' does not match"),
    ([f"workshops.nameSuffix=-{'a' * 32}"], "at '/workshops/nameSuffix': "),
    (["workshops.namespace=launcher"], "- workshops.namespace must not be the release's own namespace, launcher"),
    (["images.launcher="], "- images.launcher is missing"),
    (["images.sidecar="], "- images.sidecar is missing"),
    (["login.oidc.issuerURL="], "- login.provider is missing: google, github or oidc"),
    (["host=launcher.test"], "- login.emailDomains is missing"),
    (["login.secret=one", "login.workshopsSecret=one"], "- login.secret and login.workshopsSecret must differ"),
    (["login.provider=oidc", "login.oidc.issuerURL="], "- login.oidc.issuerURL is missing"),
    (
        ["login.clientID=id", "login.clientSecret=hush", "login.secretKeys.clientID=client-secret"],
        "- login.secretKeys must name three different keys",
    ),
    (["login.clientID=id"], "- login.clientSecret is missing: the secret of the client in login.clientID"),
    (["login.clientSecret=hush"], "- login.clientID is missing: without it, login.clientSecret has no effect"),
    (
        ["login.provider=github", "login.clientID=id", "login.clientSecret=hush"],
        "- login.workshopsClientID is missing: an OAuth app of GitHub has one redirect address",
    ),
    (
        ["login.clientID=id", "login.clientSecret=hush", "login.workshopsClientID=other"],
        "- login.workshopsClientSecret is missing",
    ),
    (
        [f"login.cookieSecret={'a' * 43}=", f"login.workshopsCookieSecret={'a' * 43}="],
        "- login.cookieSecret and login.workshopsCookieSecret must differ",
    ),
    (["login.oidc.jwksURL=https://a.example.org"], "- login.oidc.loginURL, redeemURL and jwksURL go together"),
    (["login.github.teams={staff}"], "- login.github.org is missing"),
    (["launcher.replicas=2"], "- launcher.replicas is 2, but SQLite allows one launcher"),
    (["database.type=postgresql"], "- database.postgresql.secret is missing"),
    ([rf"ingress.annotations.{MIDDLEWARES}=none"], "- ingress.annotations must not have traefik.ingress"),
    (["traces.headersSecret=collector-key"], "- traces.endpoint is missing"),
    (["snapshots.store=s3://work", "images.material="], "- images.material is missing: snapshots.store needs it"),
    (["monitoring.serviceMonitor.enabled=true"], "- monitoring.namespace is missing"),
    (["monitoring.prometheusRule.enabled=true"], "- monitoring.serviceMonitor.enabled is missing"),
    (
        [r"login.podLabels.app\.kubernetes\.io/component=x"],
        "- login.podLabels must not have app.kubernetes.io/component: the chart sets it",
    ),
    (["front.podAnnotations.checksum/config=x"], "- front.podAnnotations must not have checksum/config"),
    (
        ["launcher.extraEnv[0].name=SERVICE_FLEET"],
        "- launcher.extraEnv must not have the name SERVICE_FLEET: the chart or another entry sets it",
    ),
    (
        ["login.extraEnv[0].name=OAUTH2_PROXY_CLIENT_ID"],
        "- login.extraEnv must not have the name OAUTH2_PROXY_CLIENT_ID",
    ),
    (["launcher.extraVolumes[0].name=data"], "- launcher.extraVolumes must not have the name data"),
    (
        ["front.extraVolumeMounts[0].name=own", "front.extraVolumeMounts[0].mountPath=/tmp"],
        "- front.extraVolumeMounts must not have the mountPath /tmp",
    ),
    (
        ["notice.extraEnv[0].name=A", "notice.extraEnv[1].name=A"],
        "- notice.extraEnv must not have the name A: the chart or another entry sets it",
    ),
    (["operator.extraEnv[0].value=x"], "at '/operator/extraEnv/0': missing property 'name'"),
    (["operator.extraVolumeMounts[0].name=x"], "at '/operator/extraVolumeMounts/0': missing property 'mountPath'"),
    (["launcher.securityContext.runAsuser=5"], "at '/launcher/securityContext': additional properties 'runAsuser' not"),
    (["launcher.affinity.node=x"], "at '/launcher/affinity': additional properties 'node' not allowed"),
    (["operator.serviceAccount.create=false"], "- operator.serviceAccount.name is missing: the name of an existing"),
    (
        ["launcher.serviceAccount.name=one", "operator.serviceAccount.name=one"],
        "- launcher.serviceAccount.name and operator.serviceAccount.name must differ",
    ),
    (
        ["notice.serviceAccount.name=workshop-launcher-operator"],
        "- operator.serviceAccount.name and notice.serviceAccount.name must differ: the operator has its own permissions",
    ),
    (
        ["login.serviceAccount.create=true", "login.serviceAccount.name=one", "front.serviceAccount.name=one"],
        "- login.serviceAccount.name and front.serviceAccount.name must differ: the chart creates one of the accounts",
    ),
    ([r"login.serviceAccount.annotations.example\.org/role=x"], "- login.serviceAccount.create is missing: without it"),
    (["fullnameOverride=2026"], "at '/fullnameOverride': "),
    (["nameOverride=true"], "at '/nameOverride': "),
    (["extraObjects[0].kind=Secret"], "at '/extraObjects/0': missing properties 'apiVersion', 'metadata'"),
    (["login.ca.configMap=a", "login.ca.secret=b"], "- login.ca.configMap and login.ca.secret exclude each other"),
    (["login.egressProxy.https=http://me:swordfish@proxy"], "at '/login/egressProxy/https': "),
    (["workshops.materialProxy.url=http://me:swordfish@proxy"], "at '/workshops/materialProxy/url': "),
    (["workshops.materialProxy.noProxy={10.0.0.0/8}"], "at '/workshops/materialProxy/noProxy/0': "),
    (["images.front="], "- images.front is missing: the reference of an image in your registry"),
    (
        ["ingress.tls.issuer.name=internal", "ingress.tls.launcherSecret=one", "ingress.tls.workshopsSecret=one"],
        "- ingress.tls.launcherSecret and ingress.tls.workshopsSecret must differ",
    ),
    (
        ["ingress.tls.issuer.name=internal", r"ingress.annotations.cert-manager\.io/issuer=other"],
        "- ingress.annotations must not have cert-manager.io/issuer, because ingress.tls.issuer.name is set",
    ),
    (["ingress.tls.issuer.kind=cluster-issuer"], "at '/ingress/tls/issuer/kind': "),
    (["hots=a.example.org"], "additional properties 'hots' not allowed"),
    (["login.token=abc"], "at '/login': additional properties 'token' not allowed"),
    (["login.cookieSecret=abc"], "at '/login/cookieSecret': 'abc' does not match"),
    (["host=Launcher.Example.org"], "at '/host': 'Launcher.Example.org' does not match"),
    (["host=https://launcher.example.org"], "at '/host': "),
    (["ingress.scheme=http"], "- ingress.scheme is http, but host is not below localhost"),
    (["ingress.scheme=http", "host=a.localhost"], "- ingress.scheme is http, but workshops.domain is not below localhost"),
    (["ingress.scheme=http", "ingress.controller=any"], "but only the controller traefik supports it"),
    (["ingress.scheme=ftp"], "at '/ingress/scheme': value must be one of 'https', 'http'"),
    (["ingress.scheme=http", "ingress.controller=gateway"], "but only the controller traefik supports it"),
    (["ingress.controller=nginx"], "at '/ingress/controller': value must be one of 'traefik', 'any', 'gateway'"),
    (["ingress.controller=gateway"], "- ingress.className is missing: the GatewayClass of the Gateway"),
    (
        ["ingress.controller=gateway", "ingress.className=x", "ingress.gateway.name=public"],
        "- ingress.className and ingress.gateway.name exclude each other",
    ),
    (
        ["ingress.controller=gateway", "ingress.className=x", "ingress.tls.workshopsSecret=one"],
        "- ingress.tls.launcherSecret is missing: the listeners of a Gateway have no default certificate",
    ),
    (
        ["ingress.controller=gateway", "ingress.className=x", "ingress.gateway.workshopsListener=https"],
        "- ingress.gateway.name is missing: without it, ingress.gateway.workshopsListener has no effect",
    ),
    (
        ["ingress.controller=gateway", "ingress.gateway.name=public", "ingress.gateway.launcherListener=https"],
        "- ingress.gateway.workshopsListener is missing: the name of an HTTPS listener of the Gateway public",
    ),
    (
        ["ingress.controller=gateway", "ingress.gateway.name=public", "ingress.tls.issuer.name=internal"],
        "- ingress.tls must be empty, because ingress.gateway.name is set",
    ),
    (["ingress.gateway.port=0"], "at '/ingress/gateway/port': minimum: got 0, want 1"),
    (["login.provider=okta"], "at '/login/provider': value must be one of"),
    (["database.type=mysql"], "at '/database/type': value must be one of 'sqlite', 'postgresql'"),
    (["traces.endpoint=http://me:swordfish@collector"], "at '/traces/endpoint': "),
    ([r"traces.resourceAttributes.course=a\,b"], "at '/traces/resourceAttributes/course': "),
    (["images.sidecar=registry.example.org/sidecar:1@sha256:0123"], "at '/images/sidecar': "),
    (["launcher.replicas=0"], "at '/launcher/replicas': minimum: got 0, want 1"),
    (["limits.maxQueued=1000000001"], "at '/limits/maxQueued': maximum: got 1.000000001×10⁰⁹, want 1×10⁰⁹"),
    (["launcher.replicas=two"], "at '/launcher/replicas': got string, want integer"),
    (["api.adminEmails={ada}"], "at '/api/adminEmails/0': 'ada' does not match"),
    (["workshops.podTemplateAllow={hostPath/*}"], "at '/workshops/podTemplateAllow/0': 'hostPath/*' does not match"),
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
    # Without the two images, which the packaged chart of a release names, three values are required.
    assert len(re.findall("- images.* is missing", text)) == 2
    assert text.count("is missing") == 5, text


def documented():
    """Yields (name of a value, cell with its default) for each value in the documentation.

    A row for `COMPONENT.name` stands for the value `name` of each component.
    """
    for page in ("helm-values.md", "helm-login.md", "helm-pods.md"):
        for line in (ROOT / "docs" / page).read_text().splitlines():
            if found := re.match(r"\| `([A-Za-z0-9.]+)` \| ([^|]+) \|", line):
                components = COMPONENTS if found[1].startswith("COMPONENT.") else [""]
                yield from ((found[1].replace("COMPONENT", component), found[2]) for component in components)


def test_schema_and_docs_list_the_same_values():
    schema = values_schema()
    known = set(leaves(schema))
    assert set(defaults(load((CHART / "values.yaml").read_text()), schema)) == known
    assert sorted(name for name, _ in documented()) == sorted(known)


def value_of(values, name):
    """Returns the value with this dotted name, or None."""
    for word in name.split("."):
        values = values.get(word, {})
    return None if values == {} else values


def test_each_value_is_changed_in_one_of_the_rendered_sets():
    """The condition `enabled` is for charts that have this chart as a dependency: this chart does not read it."""
    values = load((CHART / "values.yaml").read_text())
    sets = [load(values_of(name).read_text()) for name in ALL_SETS]
    known = set(leaves(values_schema())) - {"enabled"}
    assert {name for name in known if all(value_of(one, name) in (None, value_of(values, name)) for one in sets)} == set()


def test_documented_defaults_match_values_yaml():
    values = load((CHART / "values.yaml").read_text())
    for name, cell in documented():
        default = re.fullmatch("`([^`]+)`", cell)
        if default and not name.startswith(("ingress.className", "ingress.namespace", "ingress.podLabels")):
            value = values
            for word in name.split("."):
                value = value[word]
            assert load(default[1]) == value, name


def test_seed_template_fields_in_schema_match_api():
    document = json.loads((ROOT / "docs/openapi.json").read_text())
    api = document["components"]["schemas"]["WorkshopTemplateBody"]["properties"]
    chart = values_schema()["properties"]["templates"]["items"]["properties"]
    assert set(chart) == set(api) | {"template_id"}
    assert set(chart["resources"]["properties"]) == set(api["resources"]["properties"])


def test_only_values_of_proxy_secret_and_client_contain_secrets():
    of_secrets = re.compile("secret|password|token", re.IGNORECASE)
    of_client = {f"login.{name}" for name in ("clientSecret", "cookieSecret", "workshopsClientSecret", "workshopsCookieSecret")}
    named = {path for path in leaves(values_schema()) if of_secrets.search(path)}
    names = {path for path in named - of_client if "proxySecret." not in path}
    # These values hold the name of a Secret, or of a key in a Secret, but no secret.
    of_objects = {"pullSecrets", "imagePullSecrets", "secret", "workshopsSecret", "launcherSecret", "headersSecret"}
    of_keys = {"clientID", "clientSecret", "cookieSecret"}
    assert {path.rpartition(".")[2] for path in names} == of_objects | of_keys
