"""Tests of the values that change the pods of the release: labels, placement, security, environment, volumes."""

import json

import pytest

from chart import CHART, RELEASE, SETS, render, values_in, values_of

# {component: (set of values, group of values)}.
PODS = {
    "launcher": ("full", "launcher"),
    "operator": ("full", "operator"),
    "login": ("full", "login"),
    "workshops-login": ("full", "login"),
    "notice": ("traefik", "notice"),
    "front": ("full", "front"),
}
DEFAULT_POD = {
    "runAsNonRoot": True, "runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532,
    "seccompProfile": {"type": "RuntimeDefault"},
}
DEFAULT_CONTAINER = {
    "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
}
DEFAULTS = values_in(CHART / "values.yaml")


@pytest.mark.parametrize("component", PODS)
def test_pod_has_all_configured_values(component):
    name, group = PODS[component]
    found, values = render(name), values_in(values_of(name))[group]
    template, pod, container = (part[component] for part in (found.templates, found.pods, found.containers))
    assert values["podLabels"].items() <= template["metadata"]["labels"].items()
    assert values["podAnnotations"].items() <= template["metadata"]["annotations"].items()
    for field in ("nodeSelector", "tolerations", "affinity", "priorityClassName"):
        assert pod[field] == values[field], field
    assert pod["serviceAccountName"] == values["serviceAccount"]["name"]
    # A topology constraint without a selector selects the pods of its Deployment.
    (deployment,) = (one["spec"] for one in found.named("Deployment").values() if one["spec"]["template"] is template)
    own = {"labelSelector": deployment["selector"]}
    assert pod["topologySpreadConstraints"] == [one | own for one in values["topologySpreadConstraints"]]
    assert container["env"][-2:] == values["extraEnv"]
    assert container["envFrom"] == values["extraEnvFrom"]
    assert container["volumeMounts"][-1:] == values["extraVolumeMounts"]
    assert pod["volumes"][-1:] == values["extraVolumes"]
    # Security contexts are merged over the defaults, and null removes a field.
    context = {key: value for key, value in pod["securityContext"].items() if key != "sysctls"}
    assert context == {key: value for key, value in DEFAULT_POD.items() if key != "fsGroup"} | {"supplementalGroups": [2000]}
    assert ("sysctls" in pod["securityContext"]) is (component == "front")
    assert container["securityContext"] == DEFAULT_CONTAINER | {
        "runAsUser": 1234567, "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
    }


def test_resources_are_merged_over_defaults():
    changes = [f"{group}.resources.limits.cpu=3" for group in ("launcher", "operator", "login", "notice", "front")]
    for component, (name, group) in PODS.items():
        default, found = DEFAULTS[group]["resources"], render(name, *changes).containers[component]["resources"]
        assert found["limits"] == default["limits"] | {"cpu": 3}
        assert found["requests"]["memory"] == default["requests"]["memory"]


def test_values_of_users_replace_defaults():
    constraint = {
        "maxSkew": 2, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"a": "b"}},
    }
    own = f"--set-json=launcher.topologySpreadConstraints=[{json.dumps(constraint)}]"
    found = render("minimal", own, "launcher.securityContext.readOnlyRootFilesystem=false")
    assert found.pods["launcher"]["topologySpreadConstraints"] == [constraint]
    assert found.containers["launcher"]["securityContext"]["readOnlyRootFilesystem"] is False


@pytest.mark.parametrize("name", ["google", "any"])
def test_security_contexts_have_strict_defaults(name):
    for component, pod in render(name).pods.items():
        context = {key: value for key, value in pod["securityContext"].items() if key != "sysctls"}
        assert context == DEFAULT_POD and ("sysctls" in pod["securityContext"]) is (component == "front")
        assert [one["securityContext"] for one in pod["containers"]] == [DEFAULT_CONTAINER]


def test_several_replicas_are_spread_over_nodes_by_default():
    spread = {component: pod.get("topologySpreadConstraints", []) for component, pod in render("github").pods.items()}
    assert not spread.pop("notice")
    assert {one["topologyKey"] for (one,) in spread.values()} == {"kubernetes.io/hostname"}


def differing(one, other):
    """Returns the fields in which these objects differ."""
    return {field for field in one.keys() | other.keys() if one.get(field) != other.get(field)}


@pytest.mark.parametrize("name", SETS)
def test_helm_test_runs_doctor_with_settings_and_on_node_of_launcher(name):
    found = render(name)
    (doctor,) = found.named("Pod").values()
    assert doctor["metadata"]["annotations"]["helm.sh/hook"] == "test"
    of_doctor, of_launcher = doctor["spec"], found.pods["launcher"]
    (container,), (program,) = of_doctor["containers"], of_launcher["containers"]
    assert container["args"] == ["doctor", "--listen-addr=127.0.0.1:0"]
    probes = {f"{kind}Probe" for kind in ("startup", "readiness", "liveness")}
    assert differing(container, program) == {"name", "args", "ports", *probes}
    own = {"containers", "restartPolicy", "affinity", "topologySpreadConstraints", "terminationGracePeriodSeconds"}
    assert differing(of_doctor, of_launcher) <= own
    assert of_doctor["restartPolicy"] == "Never" and "topologySpreadConstraints" not in of_doctor
    # SQLite's volume may be attached to one node only.
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": found.named("Deployment")[RELEASE]["spec"]["selector"]}
    own = {} if name in ("full", "github") else {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    assert of_doctor.get("affinity", {}) == of_launcher.get("affinity", {}) | own
    # The pod of `helm test` gets no requests.
    labels = doctor["metadata"]["labels"]
    for service in found.named("Service").values():
        assert not service["spec"]["selector"].items() <= labels.items(), service["metadata"]["name"]


@pytest.mark.parametrize("delay,grace", [(0, 5), (40, 100)])
def test_launcher_is_killed_only_after_its_shutdown_delay_and_grace(delay, grace):
    values = f"launcher.shutdownDelaySeconds={delay},launcher.shutdownGraceSeconds={grace}"
    found = render("minimal", values)
    own = found.env("launcher")
    assert (own["SERVICE_SHUTDOWN_DELAY"], own["SERVICE_SHUTDOWN_GRACE"]) == (str(delay), str(grace))
    assert found.pods["launcher"]["terminationGracePeriodSeconds"] >= delay + grace + 5


# Components without permissions: {group of values: (set of values without an account of the group, its components)}.
WITHOUT_PERMISSIONS = {
    "login": ("minimal", ["login", "workshops-login"]), "front": ("any", ["front"]), "notice": ("minimal", ["notice"]),
}


@pytest.mark.parametrize("group", WITHOUT_PERMISSIONS)
def test_component_without_permissions_has_only_configured_service_account(group):
    name, components = WITHOUT_PERMISSIONS[group]

    def accounts(*changes):
        """Returns (names of the component's ServiceAccounts, accounts of its pods)."""
        found = render(name, *changes)
        own = {"app.kubernetes.io/component": group}.items()
        made = [one for one in found.named("ServiceAccount").values() if own <= one["metadata"]["labels"].items()]
        assert not any(one["automountServiceAccountToken"] for one in (*made, *(found.pods[each] for each in components)))
        return [one["metadata"]["name"] for one in made], {found.pods[one].get("serviceAccountName") for one in components}

    values = f"{group}.serviceAccount"
    assert accounts() == ([], {None})
    assert accounts(f"{values}.create=true") == ([f"{RELEASE}-{group}"], {f"{RELEASE}-{group}"})
    assert accounts(f"{values}.create=true", f"--set-string={values}.name=2026") == (["2026"], {"2026"})
    # These components may share an existing account.
    assert accounts(*(f"{one}.serviceAccount.name=shared" for one in WITHOUT_PERMISSIONS)) == ([], {"shared"})
