"""Tests of the chart's values: rendering, refused values, images, and documentation. No cluster is needed."""

import functools
import json
import re
import subprocess

import pytest

from chart import (
    ALL_SETS, CHART, COMPONENTS, LOGIN, RELEASE, ROOT, assert_programs_accept, chart_values, helm, refusal, render, value_in,
    values_in, values_of, values_schema,
)
from yaml_files import load

DEFAULTS = values_in(CHART / "values.yaml")
KNOWN = values_schema().keys()
REFERENCE = [value for one in chart_values.read().values() for value in one.rows()]
DIGEST = f"sha256:{'0123456789abcdef' * 4}"


def test_committed_renderings_and_copies_are_up_to_date():
    done = subprocess.run([LOGIN / "render.sh"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["full", "minimal"])
def test_helm_lint_passes(name):
    status, text = helm("lint", CHART, "--strict", "--values", values_of(name))
    assert status == 0 and "[WARNING]" not in text, text


# {set of values without a committed rendering: texts of its rendering that the rendering of minimal lacks}.
DISTINCTIVE = {
    "any": ['ingressClassName: "haproxy"', "name: workshop-launcher-front\n", "kind: AWSPCAIssuer\n"],
    "existing": ['name: "public"', 'claimName: "launcher-data"', "oauth2-proxy:v7.15.3\"\n", 'secretName: "provider-ca"'],
    "github": ['github_org = "example"', 'name: "launcher-database"', "replicas: 3\n"],
    "google": ['provider = "google"', "app.kubernetes.io/name: courses\n", "pod-security.kubernetes.io/enforce: restricted"],
    "traefik": ['ingressClassName: "traefik-internal"', 'storage: "5Gi"', 'serviceAccountName: "notice-account"'],
    "trial": ["http://launcher.localhost", "imagePullPolicy: Never", 'name: "database-ca"'],
    "wildcard": ["launcher.apps.example.edu", "SERVICE_WORKSHOP_NAME_SUFFIX", "*.apps.example.edu"],
}


@pytest.mark.parametrize("name", ALL_SETS)
def test_set_of_values_renders_its_distinctive_objects(name):
    committed = CHART / f"rendered/{name}.yaml"
    text, minimal = render(name).text, render("minimal").text
    assert committed.exists() or [one for one in DISTINCTIVE[name] if one not in text or one in minimal] == []


@functools.cache
def install_notes(name, *changes):
    """Returns what `helm install` prints after an installation with this set of values and these changes."""
    common = ("--dry-run=client", "--namespace", "launcher", "--values", values_of(name))
    status, printed = helm("install", RELEASE, CHART, *common, *(f"--set={one}" for one in changes))
    assert status == 0, printed
    return printed.split("NOTES:")[1]


@pytest.mark.parametrize(
    "name,changes,warning",
    [
        ("wildcard", [], "WARNING: workshops can act on the launcher in a browser"),
        # The documentation of this warning.
        ("wildcard", [], 'docs/threat-model.md, "One domain"'),
        ("minimal", ["workshops.domain=run.example.org", "host=launcher.example.org"], "look like one site"),
        ("minimal", ["api.adminEmails=null"], "WARNING: no user can manage templates"),
        ("google", ["login.emailDomains={*}"], "WARNING: every google account may log in"),
        ("minimal", ["networkPolicy.enabled=false"], "WARNING: every pod of the cluster can reach the apps"),
        ("minimal", ["proxySecret.enabled=false"], "WARNING: a client that bypasses the edge proxy can claim any identity"),
    ],
)
def test_install_notes_warn_of_insecure_values(name, changes, warning):
    assert install_notes(name, *changes).count(warning) == 1
    secure = install_notes("minimal")
    assert warning not in secure and "WARNING" not in secure


ISSUER, GATEWAY = "ingress.tls.issuer.name=internal", "ingress.controller=gateway"
CREATED_GATEWAY, NAMED_GATEWAY = f"{GATEWAY},ingress.className=x", f"{GATEWAY},ingress.gateway.name=public"
CLIENT, SUFFIX = "login.clientID=id,login.clientSecret=hush", "workshops.nameSuffix=-ws"
A, B, C = "a" * 32, "b" * 32, "c" * 32
# Changes of minimal-values.yaml that break a rule in templates/_validate.tpl: (changes, start of the message).
REFUSED = [
    ("host=", "- host is missing"),
    ("workshops.domain=", "- workshops.domain is missing"),
    ("host=run.workshops.example.net", "- host must not lie in workshops.domain"),
    ("host=workshops.example.net", "- host must not lie in workshops.domain"),
    (f"{SUFFIX},host=workshops.example.net", "- host must not lie in workshops.domain"),
    (f"{SUFFIX},host=a.b.workshops.example.net", "- host must be one name before workshops.domain"),
    (f"{SUFFIX},host=a-ws.workshops.example.net", "- host must not end in workshops.nameSuffix before workshops.domain"),
    (f"{SUFFIX},host=login.workshops.example.net", "- host must not be login.workshops.example.net"),
    (f"{SUFFIX},workshops.domain=localhost.localhost,host=a.localhost.localhost,ingress.scheme=http",
     "- ingress.scheme is http, but host lies in workshops.domain"),
    ("workshops.namespace=launcher", "- workshops.namespace must not be the release's own namespace, launcher"),
    ("workshops.classNamespaces[0].name=workshops", "- workshops.classNamespaces must have different names"),
    ("workshops.classNamespaces[0].name=launcher", "- workshops.classNamespaces must not have the release's own namespace"),
    ("workshops.classNamespaces[0].name=class-a,ingress.controller=any", "- workshops.classNamespaces needs ingress.controller"),
    ("images.launcher=", "- images.launcher is missing"),
    ("images.sidecar=", "- images.sidecar is missing"),
    ("images.front=", "- images.front is missing: the reference of an image in your registry"),
    ("snapshots.store=s3://work,images.material=", "- images.material is missing: snapshots.store needs it"),
    ('--set-json=images.launcher={"tag": "2"}', "- images.launcher.repository is missing"),
    ('--set-json=images.material={"tag": "2"}', "- images.material.repository is missing"),
    ('--set-json=images.front={"repository": "r.example/x"}', "- images.front.tag is missing: set it, or images.front.digest"),
    ("login.oidc.issuerURL=", "- login.provider is missing: google, github or oidc"),
    ("host=launcher.test", "- login.emailDomains is missing"),
    ("login.secret=one,login.workshopsSecret=one", "- login.secret and login.workshopsSecret must differ"),
    ("login.provider=oidc,login.oidc.issuerURL=", "- login.oidc.issuerURL is missing"),
    (f"{CLIENT},login.secretKeys.clientID=client-secret", "- login.secretKeys must name three different keys"),
    ("login.clientID=id", "- login.clientSecret is missing: the secret of the client in login.clientID"),
    ("login.clientSecret=hush", "- login.clientID is missing: without it, login.clientSecret has no effect"),
    (f"login.provider=github,{CLIENT}", "- login.workshopsClientID is missing: an OAuth app of GitHub has one redirect address"),
    (f"{CLIENT},login.workshopsClientID=other", "- login.workshopsClientSecret is missing"),
    (f"login.cookieSecret={'a' * 43}=,login.workshopsCookieSecret={'a' * 43}=",
     "- login.cookieSecret and login.workshopsCookieSecret must differ"),
    ("login.oidc.jwksURL=https://a.example.org", "- login.oidc.loginURL, redeemURL and jwksURL go together"),
    ("login.github.teams={staff}", "- login.github.org is missing"),
    ("login.ca.configMap=a,login.ca.secret=b", "- login.ca.configMap and login.ca.secret exclude each other"),
    ("launcher.replicas=2", "- launcher.replicas is 2, but SQLite allows one launcher"),
    ("database.type=postgresql", "- database.postgresql.secret is missing"),
    ("traces.headersSecret=collector-key", "- traces.endpoint is missing"),
    ("monitoring.serviceMonitor.enabled=true", "- monitoring.namespace is missing"),
    ("monitoring.prometheusRule.enabled=true", "- monitoring.serviceMonitor.enabled is missing"),
    (r"login.podLabels.app\.kubernetes\.io/component=x", "- login.podLabels must not have app.kubernetes.io/component"),
    ("front.podAnnotations.checksum/config=x", "- front.podAnnotations must not have checksum/config"),
    ("launcher.extraEnv[0].name=SERVICE_FLEET", "- launcher.extraEnv must not have the name SERVICE_FLEET"),
    ("login.extraEnv[0].name=OAUTH2_PROXY_CLIENT_ID", "- login.extraEnv must not have the name OAUTH2_PROXY_CLIENT_ID"),
    ("launcher.extraVolumes[0].name=data", "- launcher.extraVolumes must not have the name data"),
    ("front.extraVolumeMounts[0].name=own,front.extraVolumeMounts[0].mountPath=/tmp",
     "- front.extraVolumeMounts must not have the mountPath /tmp"),
    ("notice.extraEnv[0].name=A,notice.extraEnv[1].name=A", "- notice.extraEnv must not have the name A: the chart or another"),
    ("operator.serviceAccount.create=false", "- operator.serviceAccount.name is missing: the name of an existing"),
    ("launcher.serviceAccount.name=one,operator.serviceAccount.name=one",
     "- launcher.serviceAccount.name and operator.serviceAccount.name must differ: the launcher has its own permissions"),
    ("notice.serviceAccount.name=workshop-launcher-operator",
     "- operator.serviceAccount.name and notice.serviceAccount.name must differ: the operator has its own permissions"),
    ("login.serviceAccount.create=true,login.serviceAccount.name=one,front.serviceAccount.name=one",
     "- login.serviceAccount.name and front.serviceAccount.name must differ: the chart creates one of the accounts"),
    (r"login.serviceAccount.annotations.example\.org/role=x", "- login.serviceAccount.create is missing: without it"),
    (r"ingress.annotations.traefik\.ingress\.kubernetes\.io/router\.middlewares=none",
     "- ingress.annotations must not have traefik.ingress"),
    (f"{ISSUER},ingress.tls.launcherSecret=one,ingress.tls.workshopsSecret=one",
     "- ingress.tls.launcherSecret and ingress.tls.workshopsSecret must differ"),
    (rf"{ISSUER},ingress.annotations.cert-manager\.io/issuer=other", "- ingress.annotations must not have cert-manager.io/issuer"),
    ("ingress.scheme=http", "- ingress.scheme is http, but host is not below localhost"),
    ("ingress.scheme=http,host=a.localhost", "- ingress.scheme is http, but workshops.domain is not below localhost"),
    ("ingress.scheme=http,ingress.controller=any", "- ingress.scheme is http, but only the controller traefik supports it"),
    (f"ingress.scheme=http,{GATEWAY}", "- ingress.scheme is http, but only the controller traefik supports it"),
    (GATEWAY, "- ingress.className is missing: the GatewayClass of the Gateway"),
    (f"{CREATED_GATEWAY},ingress.gateway.name=public", "- ingress.className and ingress.gateway.name exclude each other"),
    (f"{CREATED_GATEWAY},ingress.tls.workshopsSecret=one", "- ingress.tls.launcherSecret is missing: the listeners of a"),
    (f"{CREATED_GATEWAY},ingress.gateway.workshopsListener=https", "- ingress.gateway.name is missing: without it,"),
    (f"{NAMED_GATEWAY},ingress.gateway.launcherListener=https", "- ingress.gateway.workshopsListener is missing: the name of"),
    (f"{NAMED_GATEWAY},{ISSUER}", "- ingress.tls must be empty, because ingress.gateway.name is set"),
    (f"proxySecret.launcher={{{A},{B}}},proxySecret.workshops={{{B}}}",
     "- proxySecret.launcher and proxySecret.workshops must differ"),
    ("front.resources.limits.memory=32Mi,ingress.controller=any", "- front.resources.limits.memory is less than 64Mi"),
    *((f"front.resources.limits.memory={one},ingress.controller=any", "- front.resources.limits.memory is invalid")
      for one in ("1Ti", "lots", "100m")),
]
# Values that values.schema.json refuses, besides numbers and words: (change, part of the message).
UNFIT = [
    ("workshops.nameSuffix=ws", "at '/workshops/nameSuffix': 'ws' does not match"),
    ("workshops.nameSuffix=-ws-", "at '/workshops/nameSuffix': '-ws-' does not match"),
    (f"workshops.nameSuffix=-{A}", "at '/workshops/nameSuffix': "),
    ("operator.extraEnv[0].value=x", "at '/operator/extraEnv/0': missing property 'name'"),
    ("operator.extraVolumeMounts[0].name=x", "at '/operator/extraVolumeMounts/0': missing property 'mountPath'"),
    ("launcher.securityContext.runAsuser=5", "at '/launcher/securityContext': additional properties 'runAsuser' not"),
    ("launcher.affinity.node=x", "at '/launcher/affinity': additional properties 'node' not allowed"),
    ("fullnameOverride=2026", "at '/fullnameOverride': "),
    ("nameOverride=true", "at '/nameOverride': "),
    ("extraObjects[0].kind=Secret", "at '/extraObjects/0': missing properties 'apiVersion', 'metadata'"),
    ("login.egressProxy.https=http://me:swordfish@proxy", "at '/login/egressProxy/https': "),
    ("workshops.materialProxy.url=http://me:swordfish@proxy", "at '/workshops/materialProxy/url': "),
    ("workshops.materialProxy.noProxy={10.0.0.0/8}", "at '/workshops/materialProxy/noProxy/0': "),
    ("ingress.tls.issuer.kind=cluster-issuer", "at '/ingress/tls/issuer/kind': "),
    ("hots=a.example.org", "additional properties 'hots' not allowed"),
    ("login.token=abc", "at '/login': additional properties 'token' not allowed"),
    ("login.cookieSecret=abc", "at '/login/cookieSecret': 'abc' does not match"),
    ("host=Launcher.Example.org", "at '/host': 'Launcher.Example.org' does not match"),
    ("host=https://launcher.example.org", "at '/host': "),
    ("traces.endpoint=http://me:swordfish@collector", "at '/traces/endpoint': "),
    (r"traces.resourceAttributes.course=a\,b", "at '/traces/resourceAttributes/course': "),
    ("images.sidecar=registry.example.org/sidecar:1@sha256:0123", "at '/images/sidecar': "),
    ('--set-json=images.sidecar={"repository": "r.example/x", "tag": 2}', "at '/images/sidecar/tag': got number, want string"),
    ('--set-json=images.sidecar={"repository": "r.example/x", "digest": "sha256:1"}', "at '/images/sidecar/digest': "),
    ('--set-json=images.sidecar={"name": "r.example/x"}', "at '/images/sidecar': additional properties 'name' not allowed"),
    ('--set-json=images.oauth2Proxy={"repository": "r.example/x:1", "tag": "1"}', "at '/images/oauth2Proxy/repository': "),
    ("launcher.replicas=two", "at '/launcher/replicas': got string, want integer"),
    ("api.adminEmails={ada}", "at '/api/adminEmails/0': 'ada' does not match"),
    ("workshops.podTemplateAllow={hostPath/*}", "at '/workshops/podTemplateAllow/0': 'hostPath/*' does not match"),
    ("networkPolicy.exceptAlso={example.org}", "at '/networkPolicy/exceptAlso/0': "),
    ("proxySecret.launcher={short}", "at '/proxySecret/launcher/0': "),
    (f"proxySecret.workshops={{{'$' * 32}}}", "at '/proxySecret/workshops/0': "),
    (f"proxySecret.launcher={{{A},{B},{C}}}", "at '/proxySecret/launcher': maxItems: got 3, want 2"),
    ("templates[0].name=x", "at '/templates/0': missing properties 'template_id', 'app_type', 'image'"),
]


# Groups of values with rules between them: their cases have separate renderings.
RELATED = {"workshops": "host", "snapshots": "images"} | dict.fromkeys(("launcher", "operator", "login", "notice", "database"), "front")


def batches(cases):
    """Yields the cases in batches whose values are unrelated: Helm reports all values of a rendering that it refuses."""
    while cases:
        taken, batch = set(), []
        for case in cases:
            groups = {RELATED.get(group, group) for group in re.findall(r"(?:^|,|--set-json=)(\w+)", case[0])}
            if not taken & groups:
                taken |= groups
                batch.append(case)
        yield batch
        cases = [case for case in cases if case not in batch]


@pytest.mark.parametrize("batch", [*batches(REFUSED), *batches(UNFIT)], ids=lambda batch: batch[0][1])
def test_values_that_cannot_work_are_refused_with_message(batch):
    text = refusal("minimal", *(changes for changes, _ in batch))
    assert [(changes, message) for changes, message in batch if message not in text] == [], text


def test_numbers_outside_their_range_and_unknown_words_are_refused():
    types = values_schema()
    numbers = {name: one for name, one in types.items() if one.get("type") == "integer"}
    words = {name: one["enum"] for name, one in types.items() if "enum" in one}
    high = [f"--set-json={name}={one['maximum'] + 1}" for name, one in numbers.items()]
    low = [f"--set-json={name}={one['minimum'] - 1}" for name, one in numbers.items()]
    above = refusal("minimal", *high, *(f"{name}=unknown" for name in words))
    below = refusal("minimal", *low)
    place = {name: f"at '/{name.replace('.', '/')}': " for name in types}
    refused = {name: ", ".join(f"'{word}'" for word in known) for name, known in words.items()}
    assert [name for name in numbers if f"{place[name]}maximum: got " not in above] == []
    assert [name for name, one in numbers.items() if f"{place[name]}minimum: got {one['minimum'] - 1}, want" not in below] == []
    assert [name for name, known in refused.items() if f"{place[name]}value must be one of {known}" not in above] == []


def test_all_missing_values_are_reported_together():
    text = refusal(None)
    required = [value.name for value in REFERENCE if re.search(r"\*required\*(?! with)", value.shown)]
    assert sorted(re.findall(r"^- (\S+) is missing", text, re.MULTILINE)) == sorted(required), text
    # Other messages may name a missing value, too.
    assert text.count("is missing") == len(required), text


@pytest.mark.parametrize(
    "image,reference,policy",
    [
        ({"repository": "r.example/x"}, "r.example/x:0.1.0", "IfNotPresent"),
        ({"repository": "r.example/x", "tag": "2"}, "r.example/x:2", "IfNotPresent"),
        ({"repository": "r.example/x", "digest": DIGEST}, f"r.example/x@{DIGEST}", "IfNotPresent"),
        ({"repository": "r:5000/x", "tag": "2", "digest": DIGEST, "pullPolicy": "Never"}, f"r:5000/x:2@{DIGEST}", "Never"),
        (f"r.example/x:2@{DIGEST}", f"r.example/x:2@{DIGEST}", "IfNotPresent"),
    ],
)
def test_image_becomes_reference_and_pull_policy(image, reference, policy, tmp_path):
    """The tag of an own image is by default the version of the chart. A map replaces the default of another image."""
    components = {"launcher", "operator", "notice"}
    names = ["launcher", "sidecar", "material"]
    if image != {"repository": "r.example/x"}:
        components |= {"login", "workshops-login", "front"}
        names += ["oauth2Proxy", "front"]
    changes = [f"--set-json=images.{name}={json.dumps(image)}" for name in names]
    found = render("minimal", *changes)
    used = found.containers | render("minimal", *changes, "ingress.controller=any").containers
    assert {(used[one]["image"], used[one]["imagePullPolicy"]) for one in components} == {(reference, policy)}
    settings = found.env("operator")
    assert settings["SERVICE_SIDECAR_IMAGE"] == settings["SERVICE_MATERIAL_IMAGE"] == reference
    assert_programs_accept(found, tmp_path, "operator")
    assert "SERVICE_MATERIAL_IMAGE" not in render("minimal").env("operator")


def documented():
    """Yields (name of a value, cell with its default) for each value in the documentation.

    A row for `COMPONENT.name` stands for the value `name` of each component.
    """
    for page in ("helm-values.md", "helm-login.md", "helm-pods.md"):
        for name, cell in re.findall(r"^\| `([A-Za-z0-9.]+)` \| ([^|]+) \|", (ROOT / "docs" / page).read_text(), re.MULTILINE):
            components = COMPONENTS if name.startswith("COMPONENT.") else [""]
            yield from ((name.replace("COMPONENT", component), cell) for component in components)


def test_schema_docs_and_defaults_list_the_same_values():
    def names(values, prefix=""):
        for name, value in values.items():
            whole = prefix + name
            yield from [whole] if whole in KNOWN else names(value, f"{whole}.")

    assert set(names(DEFAULTS)) == KNOWN
    assert sorted(name for name, _ in documented()) == sorted(KNOWN)


def test_each_value_is_changed_in_one_of_the_values_files():
    """The condition `enabled` is for charts that have this chart as a dependency: this chart does not read it."""
    sets = [values_in(values_of(name)) for name in ALL_SETS]
    changed = {name for name in KNOWN for one in sets if value_in(one, name) not in (None, value_in(DEFAULTS, name))}
    assert KNOWN - changed == {"enabled"}


def test_documented_defaults_match_values_yaml():
    for name, cell in documented():
        default = re.fullmatch("`([^`]+)`", cell)
        if default and not name.startswith(("ingress.className", "ingress.namespace", "ingress.podLabels")):
            assert load(default[1]) == value_in(DEFAULTS, name), name


def test_schema_and_tables_match_values_yaml_and_api():
    for path, text in chart_values.generated().items():
        assert path.read_text() == text, f"{path} is old: run make generated"


def test_only_values_of_proxy_secret_and_client_contain_secrets():
    of_client = {f"login.{name}" for name in ("clientSecret", "cookieSecret", "workshopsClientSecret", "workshopsCookieSecret")}
    types = {name: one for name, one in values_schema().items() if re.search("secret|password|token", name, re.IGNORECASE)}
    assert of_client | {"proxySecret.launcher", "proxySecret.workshops"} < types.keys()
    for name, one in types.items():
        # All others hold the name of a Secret, or of a key in a Secret.
        names = {f"#/definitions/{kind}" for kind in ("objectName", "key")}
        is_name = one.get("$ref") in names or one.get("items", {}).get("$ref") in names
        assert is_name or name in of_client or name.startswith("proxySecret."), name
