"""Effects of helm upgrade and helm uninstall: which objects change, and which remain."""

import contextlib
import json
import os
import re

import pytest
import yaml

from chain import (
    ADMIN, ALICE, ECHO, IDP, LAUNCHER, NAMESPACE, RELEASE, WORKSHOPS, apply, cluster_ip, doctor_report, helm, kubectl,
    namespaced, node_images, settled,
)
from harness import wait_for
from visitor import PAGE

SIDECAR = "localhost/workshop-launcher/sidecar:test"
FULL_NAME = f"{RELEASE}-workshop-launcher"
JSON = {"Accept": "application/json", "Content-Type": "application/json"}


def instance(visitor, name):
    answer = visitor.request("GET", f"{LAUNCHER}/api/v1/instances/{name}", JSON)
    return json.loads(answer.body) if answer.status == 200 else None


def pod_of(name):
    selector = f"workshoplauncher.dev/workshop={name}"
    found = kubectl("--namespace", WORKSHOPS, "get", "pods", "--selector", selector, "--output", "name").split()
    assert len(found) == 1, found
    return found[0]


def test_all_pods_are_ready_in_restricted_namespace(chain):
    chain.until_old_pods_are_gone()
    namespace = json.loads(kubectl("get", "namespace", NAMESPACE, "--output", "json"))
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    pods = json.loads(kubectl("--namespace", NAMESPACE, "get", "pods", "--output", "json"))["items"]
    parts = {pod["metadata"]["labels"]["app.kubernetes.io/component"] for pod in pods}
    assert parts == {"launcher", "operator", "login", "workshops-login", "notice"}
    for pod in pods:
        ready = {one["type"]: one["status"] for one in pod["status"]["conditions"]}["Ready"]
        assert ready == "True", pod["metadata"]["name"]


def test_doctor_in_launcher_pod_reports_no_fault(chain, echo):
    selector = "app.kubernetes.io/component=launcher"
    pods = kubectl("--namespace", NAMESPACE, "get", "pods", "--selector", selector, "--output", "name").split()
    # If a check fails, the doctor exits with 1. kubectl then exits with 1 and fails the test.
    said = kubectl("--namespace", NAMESPACE, "exec", pods[0], "--", "launcher", "doctor")
    assert_no_fault(said)


def assert_no_fault(said):
    found = doctor_report(said)
    for check in "database", "writes", "API server", "CRD", "permissions", "operator", "fleet binding":
        assert found[check] == "ok", said
    # A warning is allowed: the pod cannot resolve the chain's test hosts, and the certificates are self-signed.
    assert found["edge proxy"] in ("ok", "warn"), said


def test_helm_test_passes_and_prints_report(chain):
    # If the doctor finds a fault, Helm exits with 1, which fails the test.
    try:
        assert_no_fault(helm("test", RELEASE, "--namespace", NAMESPACE, "--logs", "--timeout", "180s"))
    finally:
        kubectl("--namespace", NAMESPACE, "delete", "pod", f"{RELEASE}-workshop-launcher-doctor", "--ignore-not-found")


@pytest.fixture
def other_sidecar():
    """Another reference of the sidecar's image. The nodes of a foreign cluster know only the first reference."""
    if "TEST_KUBECONFIG" in os.environ:
        yield SIDECAR
        return
    other = SIDECAR.replace(":test", ":upgraded")
    node_images("tag", "--force", SIDECAR, other)
    yield other
    node_images("remove", other)


def changed_values(sidecar):
    """Returns values that change the pods of all components, and the pods of workshops that start later."""
    extra = [{"name": "UPGRADED", "value": "true"}]
    return {
        "api": {"adminEmails": [ADMIN, ALICE]},
        "images": {"sidecar": sidecar},
        "workshops": {
            "runAsUser": 1001,
            "nodeSelector": {"kubernetes.io/os": "linux"},
            "tolerations": [{"key": "upgraded", "operator": "Exists"}],
            "podTemplateAllow": ["configMap/*"],
            "startTimeoutSeconds": 500,
            "roomGraceSeconds": 30,
        },
        "launcher": {"extraEnv": extra},
        "operator": {"extraEnv": extra, "resources": {"requests": {"cpu": "20m"}, "limits": {"memory": "300Mi"}}},
        # An upgrade without the client keeps the Secrets that the chart has created.
        "login": {"extraEnv": extra, "sessionLifetime": "11h", "clientID": "", "clientSecret": ""},
    }


def launched(visitor, count):
    """Launches several workshops together, and waits until the ingress routes all of them. Returns {name: host}."""
    posts = [visitor.request("POST", f"{LAUNCHER}/api/v1/templates/{ECHO}/launch", JSON, "{}") for _ in range(count)]
    assert {answer.status for answer in posts} == {201}, posts
    made = {}
    for name in [json.loads(answer.body)["k8s_name"] for answer in posts]:
        seen = wait_for(f"{name} to run", lambda: running(visitor, name), 90)
        wait_for(f"{name} to be routed", lambda: settled(lambda: visitor.log_in(seen["url"], ADMIN).status == 200), 60)
        made[name] = seen["url"].split("/")[2]
    return made


def running(visitor, name):
    seen = instance(visitor, name) or {"state": None}
    assert seen["state"] != "failed", seen
    return seen if seen["state"] == "running" else None


def pods_of(names):
    """Returns {name of a workshop: (uid of its pod, restarts of its containers)}."""
    found = {}
    for name in names:
        pod = json.loads(kubectl("--namespace", WORKSHOPS, "get", pod_of(name), "--output", "json"))
        counts = {one["name"]: one["restartCount"] for one in pod["status"]["containerStatuses"]}
        found[name] = pod["metadata"]["uid"], counts
    return found


def outdated():
    """Returns the names of the Workshops whose pods have an older sidecar or older settings."""
    listed = json.loads(kubectl("--namespace", WORKSHOPS, "get", "workshops", "--output", "json"))["items"]
    return {one["metadata"]["name"] for one in listed if one.get("status", {}).get("podOutdated")}


def doctor_counts_outdated():
    """Returns True if the doctor prints the number of the Workshops with older pods."""
    count = len(outdated())
    said = kubectl("--namespace", NAMESPACE, "exec", f"deployment/{FULL_NAME}", "--", "launcher", "doctor")
    return re.search(rf"workshop pods +{count} of \d+ Workshops have an older sidecar or older settings", said)


def stored_secrets():
    """Returns the data of all Secrets of the release that the chart has generated: {(namespace, name): data}."""
    found = {}
    for namespace in (NAMESPACE, WORKSHOPS):
        listed = kubectl("--namespace", namespace, "get", "secrets", "--field-selector", "type=Opaque", "--output", "json")
        found |= {(namespace, one["metadata"]["name"]): one["data"] for one in json.loads(listed)["items"]}
    return found


def echoes(sockets):
    """Sends a message through each WebSocket. Returns the names of the workshops that echo it."""
    for name, channel in sockets.items():
        channel.send(name)
    return {name for name, channel in sockets.items() if channel.recv(timeout=60) == name}


def assert_same_session(visitor, hosts):
    """Fails if the launcher or a workshop asks for a login: the cookies of this browser profile must be enough."""
    forms, urls = visitor.forms, [f"{LAUNCHER}/", *(f"https://{host}/" for host in hosts.values())]
    assert {visitor.request("GET", url, PAGE).status for url in urls} == {200}
    assert visitor.forms == forms


def test_upgrade_with_all_settings_changed_keeps_ten_workshops_secrets_and_sessions(chain, other_sidecar, tmp_path):
    # Launches of admins have no rate limit.
    admin, alice = chain.signed_in(ADMIN), chain.signed_in(ALICE)
    is_admin = lambda: json.loads(alice.request("GET", f"{LAUNCHER}/api/v1/me", JSON).body)["is_admin"]
    assert not is_admin()
    hosts = launched(admin, 10)
    before, generated = pods_of(hosts), stored_secrets()
    logins = {(NAMESPACE, f"{FULL_NAME}-{name}") for name in ("login", "workshops-login")}
    proxy_secrets = {(namespace, f"{FULL_NAME}-proxy-secret") for namespace in (NAMESPACE, WORKSHOPS)}
    assert set(generated) == logins | proxy_secrets
    assert not outdated() & set(hosts)
    values = tmp_path / "values.yaml"
    values.write_text(yaml.safe_dump(changed_values(other_sidecar)))
    with contextlib.ExitStack() as stack:
        sockets = {name: stack.enter_context(admin.web_socket(host)) for name, host in hosts.items()}
        assert echoes(sockets) == set(hosts)
        try:
            chain.install("--values", values)
            chain.until_old_pods_are_gone()
            wait_for("Alice to be an admin", lambda: settled(is_admin), 60)
            assert echoes(sockets) == set(hosts), "expected every WebSocket to survive the upgrade"
            assert pods_of(hosts) == before
            assert stored_secrets() == generated
            assert_same_session(admin, hosts)
            wait_for("the status of the workshops to show older pods", lambda: set(hosts) <= outdated(), 60)
            wait_for("the doctor to count the workshops with older pods", lambda: settled(doctor_counts_outdated), 60)
            new, = launched(admin, 1)
            assert new not in outdated()
            spec = json.loads(kubectl("--namespace", WORKSHOPS, "get", pod_of(new), "--output", "json"))["spec"]
            containers = {one["name"]: one for one in spec["containers"]}
            assert containers["sidecar"]["image"] == other_sidecar
            assert containers["app"]["securityContext"]["runAsUser"] == 1001
            assert pods_of(hosts) == before and echoes(sockets) == set(hosts)
        finally:
            chain.install()
            chain.until_old_pods_are_gone()
    wait_for("Alice to lose the admin rights", lambda: settled(is_admin) is False, 60)
    assert stored_secrets() == generated
    assert_same_session(admin, hosts)
    for name in (*hosts, new):
        assert admin.request("DELETE", f"{LAUNCHER}/api/v1/instances/{name}", JSON).status == 202


def test_data_and_workshops_survive_uninstall_and_reinstall(chain):
    alice = chain.signed_in(ALICE)
    name, url = chain.launched(alice, ECHO)
    pod = pod_of(name)
    addresses = {"workshop": cluster_ip(WORKSHOPS, name)}
    try:
        chain.uninstall()
        assert helm("list", "--namespace", NAMESPACE, "--short").strip() == ""
        left = kubectl("--namespace", NAMESPACE, "get", "deployments,services,ingresses", "--output", "name")
        assert left.strip() == "", left
        assert pod_of(name) == pod, "expected the workshop to keep running after the uninstallation"
        # A request to a deleted pod gets no answer.
        closed = wait_for("an answer without the login proxies", lambda: settled(lambda: chain.visitor().request("GET", url)), 60)
        # 302: a terminating login proxy may still redirect to the login.
        assert closed.status in (302, 401, 404, 500, 502, 503, 504), "expected no access without the login proxies"
        assert_unreachable(addresses)
    finally:
        chain.install()
    chain.until_old_pods_are_gone()
    alice = chain.signed_in(ALICE)
    wait_for(f"{name} to run", lambda: settled(lambda: running(alice, name)), 60)
    assert pod_of(name) == pod
    wait_for("the workshop to answer", lambda: settled(lambda: alice.log_in(url, ALICE).status == 200), 60)


@pytest.mark.parametrize("kibibytes", [8, 24])
def test_requests_with_many_cookies_are_accepted(chain, echo, kibibytes):
    alice = chain.signed_in(ALICE)
    alice.log_in(echo[1], ALICE)
    for part in range(kibibytes // 4):
        for domain in ("launcher.test", "workshops.test"):
            alice.cookies[(domain, f"other_{part}")] = ("c" * 4000, "/", domain == "launcher.test")
    assert alice.request("GET", f"{LAUNCHER}/api/v1/me", JSON).status == 200
    answer = alice.request("GET", echo[1])
    assert answer.status == 200
    assert json.loads(answer.body)["headers"]["Cookie"][0].count("other_") == kibibytes // 4


def test_foreign_pod_reaches_neither_launcher_nor_workshop(chain, echo):
    """A pod that bypasses the edge proxy could forge the identity header. The NetworkPolicies must block such pods."""
    launcher = cluster_ip(NAMESPACE, f"{RELEASE}-workshop-launcher")
    assert_unreachable({"launcher": launcher, "workshop": cluster_ip(WORKSHOPS, echo[0])})


def assert_unreachable(addresses):
    """Fails if a pod of another namespace, with Alice's identity header, gets an answer. `addresses`: {name: IP}."""
    container = {"name": "app", "image": "localhost/workshop-launcher/http:test", "args": ["serve"]}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0}
    apply(namespaced("Pod", "intruder", namespace=IDP, spec=spec))
    try:
        kubectl("--namespace", IDP, "wait", "pod", "intruder", "--for=condition=Ready", "--timeout=180s")
        for what, address in addresses.items():
            answer = kubectl(
                "--namespace", IDP, "exec", "intruder", "--",
                "/app", "get", f"http://{address}/", "X-Auth-Request-Email", ALICE,
                check=False,
            )
            assert "no answer" in answer, f"the {what} answered another pod: {answer}"
        # Control: the pod can reach an allowed address, so the NetworkPolicies have blocked the requests above.
        dex = kubectl("--namespace", IDP, "exec", "intruder", "--", "/app", "until", "http://dex:5556/dex/healthz")
        assert dex.startswith("200")
    finally:
        kubectl("--namespace", IDP, "delete", "pod", "intruder", "--wait=false")
