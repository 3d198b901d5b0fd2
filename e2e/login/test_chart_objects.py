"""Tests of the chart's rendered objects. Needs the debug build of the launcher, but no cluster."""

import json
import os
import re
import subprocess

import pytest
import yaml

from chart import (
    CHART,
    FRONT_SETS,
    RELEASE,
    ROOT,
    SETS,
    configurations,
    containers,
    helm,
    objects,
    program,
    render,
    values_of,
    values_schema,
)
from yaml_files import load, load_all

LAUNCHER = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug/launcher"
IMAGES = {
    "registry.example.org/launcher:0.1.0",
    "quay.io/oauth2-proxy/oauth2-proxy:v7.15.3@sha256:"
    "10a1165743a192e1940b4708fb9647027185ce11a681a1c5519b442ff7f1f561",
}
SIDECAR_IMAGE = "registry.example.org/sidecar:0.1.0"
FRONT_IMAGE = (
    "docker.io/nginxinc/nginx-unprivileged:1.30.5-alpine-slim@sha256:"
    "3af0c10d960cc2502427fe1219c52989d309e7d65596869c60a34fd2fa2406f0"
)
LOGIN_SECRETS = {f"OAUTH2_PROXY_{word}" for word in ("CLIENT_ID", "CLIENT_SECRET", "COOKIE_SECRET")}
# {numeric setting of the launcher: name of the chart's value for it}.
NUMBERS = {
    "SERVICE_MAX_INSTANCES_PER_USER": "limits.maxInstancesPerUser",
    "SERVICE_LAUNCH_RATE": "limits.launchRate",
    "SERVICE_LAUNCH_BURST": "limits.launchBurst",
    "SERVICE_MAX_CONCURRENT_STARTS": "limits.maxConcurrentStarts",
    "SERVICE_MAX_QUEUED": "limits.maxQueued",
    "SERVICE_HISTORY_DAYS": "limits.historyDays",
    "SERVICE_VOLUME_RETENTION_DAYS": "limits.volumeRetentionDays",
    "SERVICE_MAX_STORAGE_GIB_PER_USER": "limits.maxStorageGibPerUser",
    "SERVICE_START_TIMEOUT": "workshops.startTimeoutSeconds",
    "SERVICE_SHUTDOWN_DELAY": "launcher.shutdownDelaySeconds",
    "SERVICE_SHUTDOWN_GRACE": "launcher.shutdownGraceSeconds",
}
# {numeric setting of the operator: name of the chart's value for it}.
OPERATOR_NUMBERS = {
    "SERVICE_START_TIMEOUT": "workshops.startTimeoutSeconds",
    "SERVICE_ROOM_GRACE": "workshops.roomGraceSeconds",
    "SERVICE_RUN_AS_USER": "workshops.runAsUser",
}
# Variables that libraries read: OpenTelemetry, the driver of PostgreSQL. The programs' own --help does not list them.
OF_LIBRARY = {"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_RESOURCE_ATTRIBUTES", "PGSSLMODE", "PGSSLROOTCERT"}
# A file with CA certificates, which replaces the file of a private CA.
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
# Variables of the values extraEnv in ci/.
EXTRA = {"EXTRA", "EXTRA_SECRET"}
every_set = pytest.mark.parametrize("name", SETS)


def by_name(name, kind):
    return {found["metadata"]["name"]: found for found in objects(name, kind)}


def settings(container):
    """Returns the environment of a container without references to Secrets: {variable: value}."""
    return {variable["name"]: variable["value"] for variable in container["env"] if "value" in variable}


def container_of(name, wanted):
    return next(container for _, _, container in containers(name) if container["name"] == wanted)


def complaint(container, own):
    """Runs a container's program with the container's settings and more options. Returns the output.

    The program reads its settings first, and then fails because it finds no cluster.
    """
    words = [LAUNCHER, *container["args"], *own, "--telemetry-addr", "127.0.0.1:0"]
    environment = settings(container) | {"KUBECONFIG": "/dev/null"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=30)
    said = done.stdout + done.stderr
    assert done.returncode != 0 and re.search("kube", said, re.IGNORECASE), said
    return said


def alone(folder):
    """Returns options that let a launcher start outside a pod: a free port, and files in this folder."""
    (folder / "secrets").write_text("0123456789abcdef" * 2)
    return ["--listen-addr", "127.0.0.1:0", "--data-dir", folder, "--proxy-secret-file", folder / "secrets"]


@every_set
def test_containers_get_secrets_only_by_reference(name):
    assert {found["metadata"]["name"] for found in objects(name, "Secret")} <= {
        f"{RELEASE}-proxy-secret", f"{RELEASE}-front", f"{RELEASE}-login", f"{RELEASE}-workshops-login",
    }
    for config in objects(name, "ConfigMap"):
        assert not re.search("secret|client_id|password", json.dumps(config["data"]), re.IGNORECASE)
    for deployment, _, container in containers(name):
        referred = {variable["name"] for variable in container.get("env", []) if "value" not in variable} - EXTRA
        if container["name"] == "oauth2-proxy":
            assert referred == LOGIN_SECRETS, deployment
        else:
            database = {"SERVICE_DATABASE_URL"} if deployment == RELEASE and name == "github" else set()
            of_programs = container["name"] in ("launcher", "operator")
            collector = {"OTEL_EXPORTER_OTLP_HEADERS"} if of_programs and name == "full" else set()
            assert referred == database | collector, deployment


@pytest.mark.parametrize("wanted", ["launcher", "operator"])
def test_trace_export_has_configured_headers_and_resource_attributes(wanted):
    container = container_of("full", wanted)
    told = settings(container)
    assert told["OTEL_RESOURCE_ATTRIBUTES"] == "deployment.environment.name=course 2026,service.namespace=teaching"
    secret = next(one for one in container["env"] if one["name"] == "OTEL_EXPORTER_OTLP_HEADERS")["valueFrom"]
    assert secret == {"secretKeyRef": {"name": "collector-key", "key": "headers"}}
    assert not [name for name in settings(container_of("minimal", wanted)) if name.startswith("OTEL_")]


@every_set
def test_programs_accept_every_rendered_setting(name, tmp_path):
    for wanted, own in (("launcher", alone(tmp_path)), ("operator", [])):
        container = container_of(name, wanted)
        words = [LAUNCHER, *container["args"], "--help"]
        known = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        for variable in container["env"]:
            unlisted = variable["name"] in OF_LIBRARY | EXTRA
            assert unlisted or re.search(rf"\[env: {variable['name']}\b", known), (wanted, variable["name"])
        said = complaint(container, own)
        assert "SERVICE_" not in said and "creating no Ingress" not in said, said


def largest(schema, prefix=""):
    """Returns the maximum of each integer value in a schema: {dotted name: maximum}."""
    found = {}
    for name, below in schema["properties"].items():
        if "properties" in below:
            found |= largest(below, f"{prefix}{name}.")
        elif below.get("type") == "integer":
            found[prefix + name] = below["maximum"]
    return found


def test_largest_accepted_numbers_render_with_all_digits(tmp_path):
    """By default, Helm writes a million as 1e+06. The programs cannot read this notation."""
    numbers = largest(values_schema())
    words = [word for name, number in numbers.items() for word in ("--set-json", f"{name}={number}")]
    rendered = render("github", *words)
    assert re.findall(r".*\de\+\d.*", rendered) == []
    deployments = [one for one in load_all(rendered) if one and one["kind"] == "Deployment"]
    for deployment, known, own in (
        (RELEASE, NUMBERS, alone(tmp_path)),
        (f"{RELEASE}-operator", OPERATOR_NUMBERS, []),
    ):
        pod = next(one for one in deployments if one["metadata"]["name"] == deployment)["spec"]["template"]["spec"]
        told = settings(pod["containers"][0])
        assert {variable: told[variable] for variable in known} == {
            variable: str(numbers[name]) for variable, name in known.items()
        }
        said = complaint(pod["containers"][0], own)
        assert "SERVICE_" not in said, said


@every_set
def test_oauth2_proxy_accepts_its_configurations(name, tmp_path):
    assert len(configurations(name)) == 2
    secrets = dict.fromkeys(LOGIN_SECRETS, "0123456789abcdef" * 2)
    for text in configurations(name).values():
        (tmp_path / "cfg").write_text(text.replace("/etc/oauth2-proxy-ca/ca.crt", AUTHORITIES))
        words = [program("oauth2-proxy"), "--config", tmp_path / "cfg", "--config-test"]
        done = subprocess.run(words, env=secrets, capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stdout + done.stderr
        assert not re.search("skip_auth|trusted_ip|ping_user_agent|cookie_refresh", text), "a setting bypasses the login"


def test_login_proxies_have_separate_cookies_and_secrets():
    texts = [configurations("minimal")[f"{RELEASE}-{which}"] for which in ("login", "workshops-login")]
    first, second = (dict(line.split(" = ", 1) for line in text.splitlines()) for text in texts)
    assert first["cookie_name"] == '"__Host-_oauth2_proxy"' and "cookie_domains" not in first
    assert second["cookie_name"] == '"__Secure-_oauth2_proxy_workshops"'
    assert second["cookie_domains"] == '[".workshops.example.net"]'
    secrets = {
        deployment: {variable["valueFrom"]["secretKeyRef"]["name"] for variable in container["env"]}
        for deployment, _, container in containers("minimal")
        if container["name"] == "oauth2-proxy"
    }
    assert secrets == {name: {name} for name in (f"{RELEASE}-login", f"{RELEASE}-workshops-login")}


@every_set
def test_pods_have_expected_images_and_service_account_tokens(name):
    image, of_image = (FRONT_IMAGE, "nginx") if name in FRONT_SETS else (SIDECAR_IMAGE, "notice")
    assert {container["image"] for _, _, container in containers(name)} == IMAGES | {image}
    assert settings(container_of(name, "operator"))["SERVICE_SIDECAR_IMAGE"] == SIDECAR_IMAGE
    tokens = {container["name"]: pod["automountServiceAccountToken"] for _, pod, container in containers(name)}
    assert tokens == {"launcher": True, "operator": True, "oauth2-proxy": False, of_image: False}
    assert not any(account["automountServiceAccountToken"] for account in objects(name, "ServiceAccount"))


def test_third_party_images_are_pinned_and_configured_digests_are_rendered():
    images = load((CHART / "values.yaml").read_text())["images"]
    for name in ("oauth2Proxy", "front"):
        assert re.fullmatch(r"[^:@]+:[^:@]+@sha256:[0-9a-f]{64}", images[name]), name
    own = f"registry.example.org/sidecar:0.1.0@sha256:{'0123456789abcdef' * 4}"
    words = [word for name in images if name.islower() or name == "oauth2Proxy" for word in ("--set", f"images.{name}={own}")]
    found = [one for one in load_all(render("any", *words)) if one and one["kind"] == "Deployment"]
    used = [container for one in found for container in one["spec"]["template"]["spec"]["containers"]]
    assert {container["image"] for container in used} == {own}
    operator = next(container for container in used if container["name"] == "operator")
    assert settings(operator)["SERVICE_SIDECAR_IMAGE"] == own
    assert "SERVICE_" not in complaint(operator, [])


@every_set
def test_roles_match_committed_rules_in_workshop_namespace(name):
    original = load_all((ROOT / "deploy/rbac.yaml").read_text())
    committed = [found for found in original if found["kind"] == "Role"]
    namespace = settings(container_of(name, "launcher"))["SERVICE_NAMESPACE"]
    assert not objects(name, "ClusterRole", "ClusterRoleBinding")
    roles, bindings = by_name(name, "Role"), by_name(name, "RoleBinding")
    assert list(roles) == [RELEASE, f"{RELEASE}-operator"] == list(bindings)
    assert [role["rules"] for role in roles.values()] == [role["rules"] for role in committed]
    pods = {deployment: pod for deployment, pod, _ in containers(name)}
    for role, binding in bindings.items():
        assert binding["metadata"]["namespace"] == roles[role]["metadata"]["namespace"] == namespace
        assert binding["roleRef"]["name"] == role
        account = pods[role]["serviceAccountName"]
        assert binding["subjects"] == [{"kind": "ServiceAccount", "name": account, "namespace": "launcher"}]
    granted = {resource for role in roles.values() for rule in role["rules"] for resource in rule["resources"]}
    assert "*" not in granted
    # The launcher creates the Secrets with launch parameters. Only the kubelet reads Secrets.
    rules = {role: [rule for rule in found["rules"] if "secrets" in rule["resources"]] for role, found in roles.items()}
    assert [rule["verbs"] for rule in rules[RELEASE]] == [["create"]]
    assert not rules[f"{RELEASE}-operator"]
    granted = {binding["subjects"][0]["name"] for binding in bindings.values()}
    assert {deployment for deployment, pod in pods.items() if pod.get("serviceAccountName") in granted} == set(bindings)


@every_set
def test_termination_grace_period_exceeds_shutdown_time(name):
    pod = by_name(name, "Deployment")[RELEASE]["spec"]["template"]["spec"]
    own = settings(pod["containers"][0])
    takes = int(own["SERVICE_SHUTDOWN_DELAY"]) + int(own["SERVICE_SHUTDOWN_GRACE"])
    assert pod["terminationGracePeriodSeconds"] > takes


@every_set
def test_launcher_has_one_replica_with_sqlite_and_several_with_postgresql(name):
    spec = by_name(name, "Deployment")[RELEASE]["spec"]
    if name == "github":
        assert (spec["replicas"], spec["strategy"]["type"]) == (3, "RollingUpdate")
        assert not objects(name, "PersistentVolumeClaim") and RELEASE in by_name(name, "PodDisruptionBudget")
    else:
        assert (spec["replicas"], spec["strategy"]["type"]) == (1, "Recreate")
        volumes = spec["template"]["spec"]["volumes"]
        claims = {volume.get("persistentVolumeClaim", {}).get("claimName") for volume in volumes}
        assert RELEASE in claims & set(by_name(name, "PersistentVolumeClaim"))


@every_set
def test_objects_with_user_data_are_kept_on_uninstall(name):
    keep = {"helm.sh/resource-policy": "keep"}.items()
    kept = [found for found in objects(name) if keep <= found["metadata"].get("annotations", {}).items()]
    expected = {"CustomResourceDefinition", "Namespace", "NetworkPolicy", "PersistentVolumeClaim", "Secret"}
    expected -= {"github": {"PersistentVolumeClaim"}, "full": {"Namespace"}}.get(name, set())
    assert {found["kind"] for found in kept} == expected


def test_seed_templates_match_configured_values():
    values = load((ROOT / "charts/workshop-launcher/ci/full-values.yaml").read_text())
    data = by_name("full", "ConfigMap")[f"{RELEASE}-templates"]["data"]
    assert json.loads(data["templates.json"]) == values["templates"]


def test_operator_gets_node_selector_and_tolerations():
    values = load(values_of("full").read_text())["workshops"]
    told = settings(container_of("full", "operator"))
    assert json.loads(told["SERVICE_NODE_SELECTOR"]) == values["nodeSelector"]
    assert json.loads(told["SERVICE_TOLERATIONS"]) == values["tolerations"]


def test_launcher_and_operator_get_the_policy_of_pod_templates():
    values = load(values_of("full").read_text())["workshops"]
    told = [settings(container_of("full", component)) for component in ("launcher", "operator")]
    assert [each["SERVICE_POD_TEMPLATE_ALLOW"].split(",") for each in told] == [values["podTemplateAllow"]] * 2


def shape(value):
    """Returns a value with each scalar replaced by the name of its type."""
    if isinstance(value, dict):
        return {name: shape(below) for name, below in value.items()}
    return [shape(below) for below in value] if isinstance(value, list) else type(value).__name__


# Values of the chart that are names. Users may choose names like 2025 or true, which YAML reads as other types.
NAMES = (
    "workshops.namespace workshops.imagePullSecrets[0] workshops.storageClass images.pullSecrets[0] ingress.namespace ingress.className "
    "ingress.entryPoint ingress.podLabels.app ingress.tls.launcherSecret ingress.tls.workshopsSecret "
    "monitoring.namespace login.secret login.secretKeys.clientID login.secretKeys.clientSecret "
    "login.secretKeys.cookieSecret database.sqlite.storageClass database.postgresql.secret database.postgresql.key "
    "traces.headersSecret traces.headersKey launcher.priorityClassName operator.priorityClassName "
    "launcher.serviceAccount.name login.ca.configMap database.postgresql.ca.secret login.priorityClassName front.priorityClassName notice.priorityClassName"
).split()


def named(name, own, others):
    """Renders a set of values with `own` as the name of the release, and `others` as the names in NAMES.

    Returns (objects, container of the operator).
    """
    words = [word for value in NAMES for word in ("--set-string", f"{value}={others}")]
    words += ["--set-string", f"login.workshopsSecret={own},ingress.tls.workshopsSecret={own}"]
    words += ["--set", "traces.endpoint=http://collector:4318"]
    # Keys of created Secrets must differ, and all keys are equal here. test_chart_login.py tests these Secrets.
    client = ("clientID", "clientSecret", "cookieSecret", "workshopsCookieSecret")
    words += [word for value in client for word in ("--set", f"login.{value}=")]
    # The chart refuses an issuer beside the annotations of ci/full-values.yaml.
    words += [] if name == "full" else ["--set-string", f"ingress.tls.issuer.name={others}"]
    common = ("--namespace", own, "--kube-version", "1.34", "--values", values_of(name))
    status, text = helm("template", own, CHART, *common, *words)
    assert status == 0, text
    found = [one for one in load_all(text) if one]
    pods = [one["spec"]["template"]["spec"] for one in found if one["kind"] == "Deployment"]
    return found, next(pod["containers"][0] for pod in pods if pod["containers"][0]["name"] == "operator")


@every_set
@pytest.mark.parametrize("own, others", [("2025", "2026"), ("true", "false"), ("null", "no")])
def test_names_that_look_like_numbers_or_booleans_render_as_strings(name, own, others):
    found, operator = named(name, own, others)
    plain, _ = named(name, "own", "others")
    assert shape(found) == shape(plain)
    said = complaint(operator, [])
    assert "SERVICE_" not in said, said


def test_created_namespace_enforces_pod_security():
    enforced = "pod-security.kubernetes.io/enforce"
    for name, level in (("minimal", "baseline"), ("google", "restricted")):
        assert by_name(name, "Namespace")["workshops"]["metadata"]["labels"][enforced] == level
