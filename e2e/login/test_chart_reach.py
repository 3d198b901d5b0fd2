"""Each value of the chart reaches the pods that it must reach, and no others. No cluster is needed.

For each value, the test removes it from one of the values files in ci/, and compares the pods: the pod templates with the
ConfigMaps and Secrets that they name.
"""

import copy
import functools
import json

import pytest

from chart import ALL_SETS, CHART, Rendering, leaves, template, value_in, values_in, values_of, values_schema

LAUNCHER, OPERATOR, NOTICE, FRONT = {"launcher"}, {"operator"}, {"notice"}, {"front"}
LOGIN = {"login", "workshops-login"}
PROGRAMS = LAUNCHER | OPERATOR
TRAEFIK = PROGRAMS | LOGIN | NOTICE
# {group of values: (set of values with them, components whose pods they must reach)}.
COMPONENTS = {
    "launcher": ("full", LAUNCHER), "operator": ("full", OPERATOR), "login": ("full", LOGIN), "front": ("full", FRONT),
    "notice": ("traefik", NOTICE),
}
# Values of each group. test_chart_pods.py tests that each of them reaches the pods of its group.
OF_PODS = (
    "resources podLabels podAnnotations nodeSelector tolerations affinity topologySpreadConstraints priorityClassName "
    "podSecurityContext securityContext extraEnv extraEnvFrom extraVolumes extraVolumeMounts serviceAccount.name"
).split()
# All other values that change pods: components whose pods they must reach, and values.
REACHES = {
    name: components
    for components, names in (
        (
            LAUNCHER,
            "api.adminEmails api.helpURL limits.maxInstancesPerUser limits.launchRate limits.launchBurst "
            "limits.maxConcurrentStarts limits.maxQueued limits.historyDays limits.volumeRetentionDays "
            "limits.maxStorageGibPerUser limits.keepDays snapshots.store templates database.type "
            "database.sqlite.existingClaim database.postgresql.secret database.postgresql.key "
            "database.postgresql.ca.configMap database.postgresql.ca.secret database.postgresql.ca.key "
            "launcher.shutdownDelaySeconds launcher.shutdownGraceSeconds",
        ),
        (
            OPERATOR,
            "workshops.nameSuffix workshops.imagePullPolicy workshops.imagePullSecrets workshops.roomGraceSeconds "
            "workshops.runAsUser workshops.userNamespaces workshops.nodeSelector workshops.tolerations workshops.storageClass "
            "workshops.materialProxy.url workshops.materialProxy.noProxy images.material ingress.className ingress.entryPoint "
            "ingress.tls.workshopsSecret ingress.tls.issuer.name networkPolicy.enabled networkPolicy.waitForIsolation",
        ),
        (
            PROGRAMS,
            "workshops.startTimeoutSeconds workshops.podTemplateAllow images.launcher logLevel traces.endpoint "
            "traces.headersSecret traces.headersKey traces.resourceAttributes proxySecret.enabled",
        ),
        (
            LOGIN,
            "images.oauth2Proxy login.provider login.emailDomains login.sessionLifetime login.clientID login.clientSecret "
            "login.secretKeys.clientID login.secretKeys.clientSecret login.secretKeys.cookieSecret login.oidc.issuerURL "
            "login.oidc.loginURL login.oidc.redeemURL login.oidc.jwksURL login.github.org login.github.teams "
            "login.ca.configMap login.ca.secret login.ca.key login.egressProxy.http login.egressProxy.https "
            "login.egressProxy.noProxy",
        ),
        ({"login"}, "login.secret login.cookieSecret"),
        (
            {"workshops-login"},
            "login.workshopsSecret login.workshopsClientID login.workshopsClientSecret login.workshopsCookieSecret",
        ),
        (LAUNCHER | {"workshops-login"}, "login.signedOutURL"),
        (FRONT, "images.front front.boundSocketBuffers"),
        (OPERATOR | NOTICE, "images.sidecar"),
        # The operator names the Secret, so that the pods of workshops mount it.
        (PROGRAMS | FRONT, "workshops.namespace proxySecret.launcher proxySecret.workshops"),
        # The front replaces the notice program.
        (FRONT | NOTICE | OPERATOR, "ingress.controller"),
        (TRAEFIK, "nameOverride host images.pullPolicy ingress.scheme"),
        (TRAEFIK | FRONT, "images.pullSecrets ingress.port"),
        (TRAEFIK - NOTICE, "fullnameOverride workshops.domain"),
    )
    for name in names.split()
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
    "traces.endpoint": ("full", "http://other.tracing:4318"),
}
# Fixed secrets for the sets without these values, because the chart generates different ones at each rendering.
SECRETS = {"launcher": ["secret-of-the-launcher-for-tests-0001"], "workshops": ["secret-of-the-workshops-for-tests-001"]}


@functools.cache
def values_file(name):
    """Returns the values of a set. The caller must not change them."""
    values = values_in(values_of(name))
    return values | {"proxySecret": SECRETS | values.get("proxySecret", {})}


def changed(values, **others):
    """Returns a copy of the values with other values. None removes a value, so that the chart uses its default."""
    values = copy.deepcopy(values)
    for name, other in others.items():
        *groups, last = name.split(".")
        group = functools.reduce(lambda found, word: found.setdefault(word, {}), groups, values)
        if other is None:
            group.pop(last, None)
        else:
            group[last] = other
    return values


def pods(values):
    """Renders the chart with these values. Returns {component: (pod template, data that it names)}, or None if the chart
    refuses the values. The checksums of the templates are left out: they only repeat the data."""
    status, text = template(None, "--values=-", stdin=json.dumps(values))
    if status != 0:
        return None
    rendering, found = Rendering(text), {}
    for component, one in rendering.templates.items():
        notes = {key: value for key, value in one["metadata"].get("annotations", {}).items() if not key.startswith("checksum/")}
        spec = json.dumps(one["spec"])
        used = {
            key: stored["data"] for key, stored in rendering.keyed.items()
            if key[0] in ("ConfigMap", "Secret") and key[1] == "launcher" and f'"{key[2]}"' in spec
        }
        found[component] = one["metadata"]["labels"], notes, spec, used
    return found


unchanged = functools.cache(lambda name: pods(values_file(name)))


def reached(name, **others):
    """Returns the components whose pods change with these other values, or None if the chart refuses them."""
    before, after = unchanged(name), pods(changed(values_file(name), **others))
    return after and {component for component in {*before, *after} if before.get(component) != after.get(component)}


@pytest.mark.parametrize("name", REACHES)
def test_value_reaches_expected_pods_only(name):
    default, found = value_in(values_in(CHART / "values.yaml"), name), set()
    sets = [case for case in ALL_SETS if value_in(values_file(case), name) not in (None, default)]
    for case, other in [OTHERS[name]] if name in OTHERS else [(case, None) for case in sets]:
        found |= reached(case, **{name: other}) or set()
        if found == REACHES[name]:
            break
    assert found == REACHES[name]


@pytest.mark.parametrize("group", COMPONENTS)
def test_values_of_a_group_reach_only_its_pods(group):
    name, components = COMPONENTS[group]
    others = dict.fromkeys((f"{group}.{value}" for value in OF_PODS)) | {f"{group}.resources.limits.memory": "3Gi"}
    assert reached(name, **others | {f"{group}.serviceAccount.name": "other"}) == components


@pytest.mark.parametrize("name", ["full", "traefik"])
def test_all_other_values_reach_no_pod(name):
    """They change other objects: numbers of pods, accounts, namespaces, policies, ingresses, monitoring."""
    of_pods = {f"{group}.{value}" for group in COMPONENTS for value in OF_PODS}
    known = set(leaves(values_schema()))
    assert {*REACHES, *of_pods} <= known
    assert reached(name, **dict.fromkeys(known - {*REACHES, *of_pods})) == set()
