"""Each value of the chart reaches the pods that it must reach, and no others. No cluster is needed.

For each value, the test removes it from one of the values files in ci/, and compares the pods: the pod templates with the
ConfigMaps and Secrets that they name.
"""

import copy
import functools

import pytest
import yaml

from chart import ALL_SETS, CHART, RELEASE, helm, leaves, values_of, values_schema
from yaml_files import load, load_all

LAUNCHER, OPERATOR, NOTICE, FRONT = {"launcher"}, {"operator"}, {"notice"}, {"front"}
LOGIN = {"login", "workshops-login"}
PROGRAMS = LAUNCHER | OPERATOR
TRAEFIK = PROGRAMS | LOGIN | NOTICE
# Values that each component has.
OF_PODS = (
    "resources", "podLabels", "podAnnotations", "nodeSelector", "tolerations", "affinity", "topologySpreadConstraints",
    "priorityClassName", "podSecurityContext", "securityContext", "extraEnv", "extraEnvFrom", "extraVolumes",
    "extraVolumeMounts", "serviceAccount.name",
)
COMPONENTS = {"launcher": LAUNCHER, "operator": OPERATOR, "login": LOGIN, "front": FRONT, "notice": NOTICE}
# {value or group of values: components whose pods it must reach}.
REACHES = {
    **{f"{group}.{name}": pods for group, pods in COMPONENTS.items() for name in OF_PODS},
    "nameOverride": TRAEFIK, "fullnameOverride": TRAEFIK - NOTICE, "host": TRAEFIK,
    "workshops.domain": TRAEFIK - NOTICE,
    "api.adminEmails": LAUNCHER, "api.helpURL": LAUNCHER,
    "workshops.namespace": PROGRAMS, "workshops.nameSuffix": OPERATOR, "workshops.startTimeoutSeconds": PROGRAMS, "workshops.podTemplateAllow": PROGRAMS,
    "workshops.imagePullPolicy": OPERATOR, "workshops.imagePullSecrets": OPERATOR, "workshops.roomGraceSeconds": OPERATOR,
    "workshops.runAsUser": OPERATOR, "workshops.userNamespaces": OPERATOR, "workshops.nodeSelector": OPERATOR,
    "workshops.tolerations": OPERATOR, "workshops.storageClass": OPERATOR,
    "workshops.materialProxy.url": OPERATOR, "workshops.materialProxy.noProxy": OPERATOR,
    "limits.maxInstancesPerUser": LAUNCHER, "limits.launchRate": LAUNCHER, "limits.launchBurst": LAUNCHER,
    "limits.maxConcurrentStarts": LAUNCHER, "limits.maxQueued": LAUNCHER, "limits.historyDays": LAUNCHER,
    "limits.volumeRetentionDays": LAUNCHER, "limits.maxStorageGibPerUser": LAUNCHER, "limits.keepDays": LAUNCHER,
    "snapshots.store": LAUNCHER,
    "templates": LAUNCHER,
    "images.launcher": PROGRAMS, "images.sidecar": OPERATOR | NOTICE, "images.material": OPERATOR, "images.oauth2Proxy": LOGIN, "images.front": FRONT,
    "images.pullPolicy": TRAEFIK, "images.pullSecrets": TRAEFIK,
    "login.provider": LOGIN, "login.emailDomains": LOGIN, "login.sessionLifetime": LOGIN,
    "login.secret": {"login"}, "login.workshopsSecret": {"workshops-login"},
    "login.clientID": LOGIN, "login.clientSecret": LOGIN, "login.cookieSecret": {"login"},
    "login.workshopsClientID": {"workshops-login"}, "login.workshopsClientSecret": {"workshops-login"},
    "login.workshopsCookieSecret": {"workshops-login"},
    "login.secretKeys.clientID": LOGIN, "login.secretKeys.clientSecret": LOGIN, "login.secretKeys.cookieSecret": LOGIN,
    "login.signedOutURL": LAUNCHER | {"workshops-login"},
    "login.oidc.issuerURL": LOGIN, "login.oidc.loginURL": LOGIN, "login.oidc.redeemURL": LOGIN, "login.oidc.jwksURL": LOGIN,
    "login.github.org": LOGIN, "login.github.teams": LOGIN,
    "login.ca.configMap": LOGIN, "login.ca.secret": LOGIN, "login.ca.key": LOGIN,
    "login.egressProxy.http": LOGIN, "login.egressProxy.https": LOGIN, "login.egressProxy.noProxy": LOGIN,
    "database.type": LAUNCHER, "database.sqlite.existingClaim": LAUNCHER,
    "database.postgresql.secret": LAUNCHER, "database.postgresql.key": LAUNCHER,
    "database.postgresql.ca.configMap": LAUNCHER, "database.postgresql.ca.secret": LAUNCHER,
    "database.postgresql.ca.key": LAUNCHER,
    "launcher.shutdownDelaySeconds": LAUNCHER, "launcher.shutdownGraceSeconds": LAUNCHER,
    "logLevel": PROGRAMS, "traces.endpoint": PROGRAMS, "traces.headersSecret": PROGRAMS, "traces.headersKey": PROGRAMS,
    "traces.resourceAttributes": PROGRAMS,
    # The front replaces the notice program.
    "ingress.controller": FRONT | NOTICE | OPERATOR,
    "ingress.className": OPERATOR, "ingress.entryPoint": OPERATOR, "ingress.tls.workshopsSecret": OPERATOR,
    "ingress.tls.issuer.name": OPERATOR, "ingress.scheme": TRAEFIK, "ingress.port": TRAEFIK,
    "front.boundSocketBuffers": FRONT,
    "proxySecret.enabled": PROGRAMS,
    # The operator names the Secret, so that the pods of workshops mount it.
    "proxySecret.launcher": PROGRAMS | FRONT, "proxySecret.workshops": PROGRAMS | FRONT,
    "networkPolicy.enabled": OPERATOR, "networkPolicy.waitForIsolation": OPERATOR,
}
# Values that change other objects than pods: numbers of pods, accounts, namespaces, policies, ingresses, monitoring.
ELSEWHERE = {
    *(f"{group}.serviceAccount.{name}" for group in COMPONENTS for name in ("create", "annotations")),
    *(f"{group}.replicas" for group in COMPONENTS if group != "notice"),
    "workshops.createNamespace", "workshops.podSecurity", "database.sqlite.size", "database.sqlite.storageClass",
    "ingress.namespace", "ingress.podLabels", "ingress.annotations", "ingress.gateway.name", "ingress.gateway.namespace",
    "ingress.gateway.launcherListener", "ingress.gateway.workshopsListener", "ingress.gateway.port",
    "ingress.tls.launcherSecret", "ingress.tls.issuer.kind", "ingress.tls.issuer.group",
    "networkPolicy.exceptAlso", "monitoring.namespace", "monitoring.serviceMonitor.enabled",
    "monitoring.serviceMonitor.labels", "monitoring.serviceMonitor.interval", "monitoring.prometheusRule.enabled",
    "monitoring.prometheusRule.labels", "monitoring.prometheusRule.runbooksURL", "monitoring.dashboard.enabled",
    "monitoring.dashboard.labels", "extraObjects", "crds.install",
    # The condition of a parent chart, which this chart does not read.
    "enabled",
}
# Changes for values that the chart requires: {value: (set of values, another value)}.
OTHERS = {
    "workshops.nameSuffix": ("minimal", "-ws"),
    "host": ("minimal", "other.example.org"),
    "workshops.domain": ("minimal", "other.example.net"),
    "images.launcher": ("minimal", "registry.example.org/other:1"),
    "images.sidecar": ("minimal", "registry.example.org/other:1"),
    # The set full has snapshots.store, which requires it.
    "images.material": ("minimal", "registry.example.org/other:1"),
    "login.provider": ("minimal", "google"),
    "login.clientID": ("google", "other"),
    "login.clientSecret": ("google", "other"),
    "login.workshopsClientSecret": ("existing", "other"),
    "login.oidc.issuerURL": ("minimal", "https://other.example.org"),
    "login.oidc.loginURL": ("full", "https://other.example.org"),
    "login.oidc.redeemURL": ("full", "https://other.example.org"),
    "login.oidc.jwksURL": ("full", "https://other.example.org"),
    "login.github.org": ("github", "other"),
    "database.postgresql.secret": ("github", "other"),
    "operator.serviceAccount.name": ("full", "other"),
    "traces.endpoint": ("full", "http://other.tracing:4318"),
}
# Fixed secrets for the sets without these values, because the chart generates different ones at each rendering.
SECRETS = {"launcher": ["secret-of-the-launcher-for-tests-0001"], "workshops": ["secret-of-the-workshops-for-tests-001"]}


@functools.cache
def values_file(name):
    """Returns the values of a set."""
    values = load(values_of(name).read_text())
    values["proxySecret"] = SECRETS | values.get("proxySecret", {})
    return values


def value_in(values, name):
    """Returns the value with this dotted name, or None."""
    for word in name.split("."):
        values = values.get(word) if isinstance(values, dict) else None
    return values


def changed(values, name, other):
    """Returns a copy of the values with another value. None removes the value, so that the chart uses its default."""
    values = copy.deepcopy(values)
    *groups, last = name.split(".")
    group = functools.reduce(lambda found, word: found.setdefault(word, {}), groups, values)
    if other is None:
        del group[last]
    else:
        group[last] = other
    return values


def pods(values, folder):
    """Renders the chart with these values. Returns {component: (pod template, data that it names)}, or None if the chart
    refuses the values. The checksums of the templates are left out: they only repeat the data."""
    file = folder / "values.yaml"
    file.write_text(yaml.safe_dump(values))
    words = ("--namespace", "launcher", "--kube-version", "1.34", "--values", file)
    status, text = helm("template", RELEASE, CHART, *words)
    if status != 0:
        return None
    objects = [one for one in load_all(text) if one]
    stored = [
        one for one in objects
        if one["kind"] in ("ConfigMap", "Secret") and one["metadata"].get("namespace") == "launcher"
    ]
    found = {}
    for one in objects:
        if one["kind"] == "Deployment":
            template = one["spec"]["template"]
            notes = template["metadata"].get("annotations", {})
            template["metadata"]["annotations"] = {key: notes[key] for key in notes if not key.startswith("checksum/")}
            named = set(words_of(template["spec"]))
            used = [kept for kept in stored if kept["metadata"]["name"] in named]
            data = {(kept["kind"], kept["metadata"]["name"]): kept["data"] for kept in used}
            found[one["spec"]["selector"]["matchLabels"]["app.kubernetes.io/component"]] = template, data
    return found


def words_of(part):
    """Yields all texts in a part of an object."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, (dict, list)):
        for below in part.values() if isinstance(part, dict) else part:
            yield from words_of(below)


def candidates(name):
    """Yields (set of values, other value) for each rendered case of a value."""
    if name in OTHERS:
        yield OTHERS[name]
        return
    default = value_in(load((CHART / "values.yaml").read_text()), name)
    for case in ALL_SETS:
        if value_in(values_file(case), name) not in (None, default):
            yield case, None


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """Returns the pods of a set of values, each rendered once."""
    return functools.cache(lambda case: pods(values_file(case), tmp_path_factory.mktemp("values")))


@pytest.mark.parametrize("name", REACHES)
def test_value_reaches_expected_pods_only(name, rendered, tmp_path):
    reached = set()
    for case, other in candidates(name):
        before, after = rendered(case), pods(changed(values_file(case), name, other), tmp_path)
        if after is not None:
            reached |= {component for component in {*before, *after} if before.get(component) != after.get(component)}
        if reached == REACHES[name]:
            break
    assert reached == REACHES[name]


def test_every_value_has_a_case():
    """A new value belongs into REACHES, or into ELSEWHERE if it changes no pod."""
    assert {*REACHES, *ELSEWHERE} == set(leaves(values_schema()))
    assert not REACHES.keys() & ELSEWHERE
