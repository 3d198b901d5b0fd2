"""Tests of the values that change the pods of the release: labels, placement, security, environment, volumes."""

import pytest

from chart import CHART, RELEASE, SETS, configurations, objects, render, values_of
from yaml_files import load, load_all

# {name of a Deployment: (set of values, group of values)}.
PODS = {
    RELEASE: ("full", "launcher"),
    f"{RELEASE}-operator": ("full", "operator"),
    f"{RELEASE}-login": ("full", "login"),
    f"{RELEASE}-workshops-login": ("full", "login"),
    f"{RELEASE}-notice": ("full", "notice"),
    f"{RELEASE}-front": ("any", "front"),
}
DEFAULT_POD = {
    "runAsNonRoot": True, "runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532,
    "seccompProfile": {"type": "RuntimeDefault"},
}
DEFAULT_CONTAINER = {
    "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
}
every_pod = pytest.mark.parametrize("deployment", PODS)


def template_of(deployment, *words):
    """Returns the pod template of a Deployment, rendered with these options of helm."""
    found = load_all(render(PODS[deployment][0], *words))
    made = {one["metadata"]["name"]: one for one in found if one and one["kind"] == "Deployment"}
    return made[deployment]["spec"]["template"]


def configured(deployment):
    """Returns the values of the Deployment's group in its values file."""
    name, group = PODS[deployment]
    return load(values_of(name).read_text())[group]


@every_pod
def test_pod_has_configured_metadata_and_placement(deployment):
    template, values = template_of(deployment), configured(deployment)
    assert values["podLabels"].items() <= template["metadata"]["labels"].items()
    assert values["podAnnotations"].items() <= template["metadata"]["annotations"].items()
    for field in ("nodeSelector", "tolerations", "affinity", "priorityClassName"):
        assert template["spec"][field] == values[field], field


@every_pod
def test_topology_constraint_without_selector_selects_pods_of_its_deployment(deployment):
    (found,) = [one for one in objects(PODS[deployment][0], "Deployment") if one["metadata"]["name"] == deployment]
    (constraint,) = found["spec"]["template"]["spec"]["topologySpreadConstraints"]
    assert constraint.pop("labelSelector") == found["spec"]["selector"]
    assert [constraint] == configured(deployment)["topologySpreadConstraints"]


def test_topology_constraint_keeps_its_own_selector():
    constraint = '[{"maxSkew":2,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"a":"b"}}}]'
    template = template_of(RELEASE, "--set-json", f"launcher.topologySpreadConstraints={constraint}")
    assert template["spec"]["topologySpreadConstraints"] == load(constraint)


def test_several_replicas_are_spread_over_nodes_by_default():
    spread = {
        one["metadata"]["name"]: one["spec"]["template"]["spec"].get("topologySpreadConstraints", [])
        for one in objects("github", "Deployment")
    }
    assert not spread.pop(f"{RELEASE}-notice")
    assert {one["topologyKey"] for (one,) in spread.values()} == {"kubernetes.io/hostname"}


@every_pod
def test_security_contexts_are_merged_over_defaults_and_null_removes_a_field(deployment):
    spec = template_of(deployment)["spec"]
    pod, (container,) = spec["securityContext"], spec["containers"]
    assert {name: value for name, value in pod.items() if name != "sysctls"} == {
        name: value for name, value in DEFAULT_POD.items() if name != "fsGroup"
    } | {"supplementalGroups": [2000]}
    assert ("sysctls" in pod) is (deployment == f"{RELEASE}-front")
    assert container["securityContext"] == DEFAULT_CONTAINER | {
        "runAsUser": 1234567, "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
    }


def test_security_contexts_have_strict_defaults():
    for deployment in objects("google", "Deployment"):
        spec = deployment["spec"]["template"]["spec"]
        assert spec["securityContext"] == DEFAULT_POD
        assert [one["securityContext"] for one in spec["containers"]] == [DEFAULT_CONTAINER]


def test_security_default_is_replaced_by_false():
    template = template_of(RELEASE, "--set", "launcher.securityContext.readOnlyRootFilesystem=false")
    assert template["spec"]["containers"][0]["securityContext"]["readOnlyRootFilesystem"] is False


@every_pod
def test_container_has_configured_variables_and_mounts(deployment):
    spec, values = template_of(deployment)["spec"], configured(deployment)
    (container,) = spec["containers"]
    assert container["env"][-2:] == values["extraEnv"]
    assert container["envFrom"] == values["extraEnvFrom"]
    assert container["volumeMounts"][-1:] == values["extraVolumeMounts"]
    assert spec["volumes"][-1:] == values["extraVolumes"]


def settings(template):
    (container,) = template["spec"]["containers"]
    return {one["name"]: one.get("value") for one in container["env"]}


def file_of(template, name, path):
    """Returns the source of the file ca.crt that a volume of this name mounts at this path."""
    (container,) = template["spec"]["containers"]
    assert {"name": name, "mountPath": path, "readOnly": True} in container["volumeMounts"]
    (volume,) = [one for one in template["spec"]["volumes"] if one["name"] == name]
    return {field: value for field, value in volume.items() if field != "name"}


@pytest.mark.parametrize("proxy", ["login", "workshops-login"])
def test_login_proxies_trust_private_ca_besides_public_ones(proxy):
    template = template_of(f"{RELEASE}-{proxy}")
    source = {"name": "provider-ca", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    assert file_of(template, "provider-ca", "/etc/oauth2-proxy-ca") == {"configMap": source}
    lines = configurations("full")[f"{RELEASE}-{proxy}"].splitlines()
    assert 'provider_ca_files = ["/etc/oauth2-proxy-ca/ca.crt"]' in lines and "use_system_trust_store = true" in lines
    assert "provider_ca_files" not in configurations("minimal")[f"{RELEASE}-{proxy}"]


@pytest.mark.parametrize("proxy", ["login", "workshops-login"])
def test_only_login_proxies_use_egress_proxy(proxy):
    variables = settings(template_of(f"{RELEASE}-{proxy}"))
    assert variables["HTTP_PROXY"] == variables["HTTPS_PROXY"] == "http://proxy.example.org:3128"
    assert variables["NO_PROXY"] == ".svc,10.0.0.0/8"
    assert "HTTPS_PROXY" not in settings(template_of(RELEASE))


def test_launcher_verifies_database_server_with_private_ca():
    (launcher,) = [one for one in objects("github", "Deployment") if one["metadata"]["name"] == RELEASE]
    template = launcher["spec"]["template"]
    source = {"secretName": "database-ca", "items": [{"key": "root.pem", "path": "ca.crt"}]}
    assert file_of(template, "database-ca", "/etc/workshop-launcher-database") == {"secret": source}
    variables = settings(template)
    assert variables["PGSSLROOTCERT"] == "/etc/workshop-launcher-database/ca.crt"
    assert variables["PGSSLMODE"] == "verify-full"
    assert "PGSSLMODE" not in settings(template_of(RELEASE))


def doctor(name):
    """Returns the pod of `helm test`."""
    (pod,) = objects(name, "Pod")
    assert pod["metadata"]["annotations"]["helm.sh/hook"] == "test"
    return pod


@pytest.mark.parametrize("name", SETS)
def test_helm_test_runs_doctor_with_settings_of_launcher(name):
    (launcher,) = [one for one in objects(name, "Deployment") if one["metadata"]["name"] == RELEASE]
    of_launcher, of_doctor = launcher["spec"]["template"]["spec"], doctor(name)["spec"]
    (container,), (program,) = of_doctor["containers"], of_launcher["containers"]
    assert container["args"] == ["doctor", "--listen-addr=127.0.0.1:0"]
    for field in ("image", "imagePullPolicy", "env", "envFrom", "resources", "securityContext", "volumeMounts"):
        assert container.get(field) == program.get(field), field
    for field in ("serviceAccountName", "securityContext", "volumes", "nodeSelector", "tolerations", "imagePullSecrets"):
        assert of_doctor.get(field) == of_launcher.get(field), field
    assert of_doctor["restartPolicy"] == "Never" and "topologySpreadConstraints" not in of_doctor


@pytest.mark.parametrize("name", SETS)
def test_helm_test_with_sqlite_runs_on_node_of_launcher(name):
    (launcher,) = [one for one in objects(name, "Deployment") if one["metadata"]["name"] == RELEASE]
    affinity = dict(doctor(name)["spec"].get("affinity", {}))
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": launcher["spec"]["selector"]}
    expected = None if name == "github" else {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    assert affinity.pop("podAffinity", None) == expected
    assert affinity == launcher["spec"]["template"]["spec"].get("affinity", {})


@pytest.mark.parametrize("name", SETS)
def test_pod_of_helm_test_gets_no_requests(name):
    labels = doctor(name)["metadata"]["labels"]
    for service in objects(name, "Service"):
        assert not service["spec"]["selector"].items() <= labels.items(), service["metadata"]["name"]


# Components without permissions: {group of values: (set of values without an account of the group, its Deployments)}.
WITHOUT_PERMISSIONS = {
    "login": ("minimal", {f"{RELEASE}-login", f"{RELEASE}-workshops-login"}),
    "front": ("gateway", {f"{RELEASE}-front"}),
    "notice": ("minimal", {f"{RELEASE}-notice"}),
}
every_group_without_permissions = pytest.mark.parametrize("group", WITHOUT_PERMISSIONS)


def accounts_of(group, *words):
    """Returns (ServiceAccounts of the component, account of each pod of the component), with these options of helm."""
    name, deployments = WITHOUT_PERMISSIONS[group]
    found = [one for one in load_all(render(name, *words)) if one]
    component = "app.kubernetes.io/component"
    accounts = [one for one in found if one["kind"] == "ServiceAccount" and one["metadata"]["labels"][component] == group]
    pods = {one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in found if one["kind"] == "Deployment"}
    assert not any(pods[deployment]["automountServiceAccountToken"] for deployment in deployments)
    return accounts, [pods[deployment].get("serviceAccountName") for deployment in sorted(deployments)]


@every_group_without_permissions
def test_component_without_permissions_has_no_service_account_by_default(group):
    accounts, used = accounts_of(group)
    assert accounts == [] and set(used) == {None}


@every_group_without_permissions
def test_created_service_account_is_named_like_component_and_has_no_token(group):
    (account,), used = accounts_of(group, "--set", f"{group}.serviceAccount.create=true")
    assert account["metadata"]["name"] == f"{RELEASE}-{group}" and "annotations" not in account["metadata"]
    assert account["automountServiceAccountToken"] is False
    assert set(used) == {f"{RELEASE}-{group}"}


@every_group_without_permissions
def test_created_service_account_has_configured_name(group):
    values = f"{group}.serviceAccount"
    (account,), used = accounts_of(group, "--set", f"{values}.create=true", "--set-string", f"{values}.name=2026")
    assert account["metadata"]["name"] == "2026" and set(used) == {"2026"}


def test_components_without_permissions_may_share_an_existing_service_account():
    words = [word for group in WITHOUT_PERMISSIONS for word in ("--set", f"{group}.serviceAccount.name=shared")]
    for group in WITHOUT_PERMISSIONS:
        accounts, used = accounts_of(group, *words)
        assert accounts == [] and set(used) == {"shared"}


@every_pod
def test_pod_has_configured_service_account(deployment):
    assert template_of(deployment)["spec"]["serviceAccountName"] == configured(deployment)["serviceAccount"]["name"]


@every_pod
def test_container_has_configured_resources(deployment):
    group = PODS[deployment][1]
    template = template_of(deployment, "--set", f"{group}.resources.limits.cpu=3")
    default = load((CHART / "values.yaml").read_text())[group]["resources"]
    found = template["spec"]["containers"][0]["resources"]
    assert found["limits"] == default["limits"] | {"cpu": 3}
    assert found["requests"]["memory"] == default["requests"]["memory"]
