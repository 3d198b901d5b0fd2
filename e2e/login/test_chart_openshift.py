"""The values for OpenShift in docs/install.md: no pod of the release breaks a rule of the constraint restricted-v2.

The rules are those of OpenShift's default security context constraint. crates/launcher-operator/tests/operator/
pod_security.rs tests the pods of workshops, which the operator creates.
"""

import functools

import pytest

from chart import CHART, RELEASE, helm, values_of
from test_chart_objects import complaint
from test_docs import MORE, blocks
from yaml_files import load_all

# Volume types and capabilities that the constraint admits.
VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
CAPABILITIES = {"NET_BIND_SERVICE"}
HOST = ("hostNetwork", "hostPID", "hostIPC")
# Fields for which the constraint requires a value of the namespace's range, and assigns it to pods without one.
ASSIGNED = ("runAsUser", "runAsGroup", "fsGroup", "seLinuxOptions")
CONTROLLERS = ("traefik", "any")


def documented():
    """Returns the values for OpenShift in docs/install.md."""
    (text,) = (text for _, text in blocks("install.md") if text.startswith(MORE) and "runAsUser: null" in text)
    return text


@functools.cache
def rendered(folder, controller, name=None):
    """Returns the rendered objects, with the values of the file `name` in this folder over the required ones."""
    words = ["--values", values_of("minimal"), "--set", f"ingress.controller={controller}"]
    words += ["--values", folder / name] if name else []
    status, text = helm("template", RELEASE, CHART, "--namespace", "launcher", "--kube-version", "1.34", *words)
    assert status == 0, text
    return [one for one in load_all(text) if one]


def pods(objects):
    """Returns the pods of Deployments and of `helm test`: {name: spec of the pod}."""
    found = {one["metadata"]["name"]: one["spec"] for one in objects if one["kind"] == "Pod"}
    templates = {one["metadata"]["name"]: one["spec"]["template"] for one in objects if one["kind"] == "Deployment"}
    return found | {name: template["spec"] for name, template in templates.items()}


def violations(pod):
    """Yields each rule of restricted-v2 that this pod breaks, and each that it only keeps by a default of the cluster."""
    context = pod.get("securityContext", {})
    yield from (field for field in HOST if pod.get(field))
    yield from (f"pod.{field}" for field in (*ASSIGNED, "sysctls") if field in context)
    if context.get("seccompProfile") != {"type": "RuntimeDefault"} or context.get("runAsNonRoot") is not True:
        yield "pod.seccompProfile or pod.runAsNonRoot"
    for volume in pod.get("volumes", []):
        yield from (f"volume {kind}" for kind in volume.keys() - {"name"} - VOLUMES)
    for container in (*pod.get("initContainers", []), *pod["containers"]):
        own = container.get("securityContext", {})
        capabilities = own.get("capabilities", {})
        yield from (f"{container['name']}.{field}" for field in (*ASSIGNED, "procMount", "seccompProfile") if field in own)
        if own.get("privileged") or own.get("allowPrivilegeEscalation") is not False:
            yield f"{container['name']}.privileged or .allowPrivilegeEscalation"
        if capabilities.get("drop") != ["ALL"] or not set(capabilities.get("add", [])) <= CAPABILITIES:
            yield f"{container['name']}.capabilities"
        yield from (f"{container['name']}.hostPort" for port in container.get("ports", []) if "hostPort" in port)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("openshift")
    (made / "openshift.yaml").write_text(documented())
    return made


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_pods_keep_rules_of_restricted_v2(folder, controller):
    found = pods(rendered(folder, controller, "openshift.yaml"))
    parts = {"traefik": "notice", "any": "front"}
    expected = {"", "-operator", "-login", "-workshops-login", "-doctor", f"-{parts[controller]}"}
    assert found.keys() == {f"{RELEASE}{part}" for part in expected}
    assert {name: list(violations(pod)) for name, pod in found.items()} == dict.fromkeys(found, [])


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_pods_break_only_rules_about_users_and_sysctls_without_these_values(folder, controller):
    fixed = {f"pod.{field}" for field in ("runAsUser", "runAsGroup", "fsGroup")}
    for name, pod in pods(rendered(folder, controller)).items():
        assert set(violations(pod)) == fixed | ({"pod.sysctls"} if name.endswith("-front") else set()), name


def test_operator_leaves_user_ids_of_workshops_to_cluster(folder):
    for name, user in (("openshift.yaml", "assigned"), (None, "1000")):
        (container,) = pods(rendered(folder, "traefik", name))[f"{RELEASE}-operator"]["containers"]
        assert {one["name"]: one.get("value") for one in container["env"]}["SERVICE_RUN_AS_USER"] == user
        said = complaint(container, [])
        assert "SERVICE_" not in said, said
