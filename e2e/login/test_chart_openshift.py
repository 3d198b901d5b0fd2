"""The values for OpenShift in docs/install.md: no pod of the release breaks a rule of the constraint restricted-v2.

The rules are those of OpenShift's default security context constraint. crates/launcher-operator/tests/operator/
pod_security.rs tests the pods of workshops, which the operator creates.
"""

import pytest

from chart import assert_programs_accept, render
from test_docs import MORE, blocks

# Volume types and capabilities that the constraint admits.
VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
CAPABILITIES = {"NET_BIND_SERVICE"}
HOST = ("hostNetwork", "hostPID", "hostIPC")
# Fields for which the constraint requires a value of the namespace's range, and assigns it to pods without one.
ASSIGNED = ("runAsUser", "runAsGroup", "fsGroup", "seLinuxOptions")


def documented():
    """Returns the values for OpenShift in docs/install.md."""
    (text,) = (text for _, text in blocks("install.md") if text.startswith(MORE) and "runAsUser: null" in text)
    return text


def pods(rendering):
    """Returns the pods of Deployments and of `helm test`: {component: spec of the pod}."""
    return rendering.pods | {"doctor": one["spec"] for one in rendering.named("Pod").values()}


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
def openshift(tmp_path_factory):
    """Returns the option of Helm for the values in the documentation."""
    file = tmp_path_factory.mktemp("openshift") / "values.yaml"
    file.write_text(documented())
    return f"--values={file}"


@pytest.mark.parametrize("controller,edge", [("traefik", "notice"), ("any", "front")])
def test_pods_keep_rules_of_restricted_v2(openshift, controller, edge):
    found = pods(render("minimal", openshift, f"ingress.controller={controller}"))
    assert found.keys() == {"launcher", "operator", "login", "workshops-login", "doctor", edge}
    assert {name: list(violations(pod)) for name, pod in found.items()} == dict.fromkeys(found, [])
    # Without these values, pods break only rules about users and sysctls.
    fixed = {f"pod.{field}" for field in ("runAsUser", "runAsGroup", "fsGroup")}
    for name, pod in pods(render("minimal", f"ingress.controller={controller}")).items():
        assert set(violations(pod)) == fixed | ({"pod.sysctls"} if name == "front" else set()), name


def test_operator_leaves_user_ids_of_workshops_to_cluster(openshift, tmp_path):
    found = render("minimal", openshift)
    assert found.env("operator")["SERVICE_RUN_AS_USER"] == "assigned"
    assert render("minimal").env("operator")["SERVICE_RUN_AS_USER"] == "1000"
    assert_programs_accept(found, tmp_path, "operator")
