"""Effects of helm upgrade and helm uninstall: which objects change, and which remain. NetworkPolicies of the release."""

import contextlib
import os
import re

import pytest
import yaml

from chain import (
    ADMIN, ALICE, FULL_NAME, IDP, LAUNCHER, NAMESPACE, TIMEOUT, WITH_SSO, WORKSHOPS, Chain, apply, cluster_ip, doctor_report,
    helm, kubectl, namespaced, node_images, read, until,
)
from harness import DEADLINE
from visitor import PAGE

SIDECAR = "localhost/workshop-launcher/sidecar:test"


def pods_of(names):
    """Returns {name of a workshop: (uid of its only pod, restarts of its containers)}."""
    found = {}
    for name in names:
        pod, = read(WORKSHOPS, "pods", "--selector", f"workshoplauncher.dev/workshop={name}")["items"]
        counts = {one["name"]: one["restartCount"] for one in pod["status"]["containerStatuses"]}
        found[name] = pod["metadata"]["uid"], counts
    return found


def sidecars(name):
    """Returns {uid of a pod of this workshop: image of its sidecar}."""
    pods = read(WORKSHOPS, "pods", "--selector", f"workshoplauncher.dev/workshop={name}")["items"]
    return {pod["metadata"]["uid"]: one["image"] for pod in pods for one in pod["spec"]["containers"] if one["name"] == "sidecar"}


def test_all_pods_are_ready_in_restricted_namespace(chain):
    chain.end_old_pods()
    labels = read(NAMESPACE, "namespace", NAMESPACE)["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    pods = read(NAMESPACE, "pods")["items"]
    parts = {pod["metadata"]["labels"]["app.kubernetes.io/component"] for pod in pods}
    assert parts == {"launcher", "operator", "login", "workshops-login", "notice"}
    for pod in pods:
        ready = {one["type"]: one["status"] for one in pod["status"]["conditions"]}["Ready"]
        assert ready == "True", pod["metadata"]["name"]


@pytest.fixture(scope="module")
def other_sidecar():
    """Another reference of the sidecar's image, until the release is installed again. The nodes of a foreign cluster know
    only the first reference."""
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


def outdated():
    """Returns the names of the Workshops whose pods have an older sidecar or older settings."""
    listed = read(WORKSHOPS, "workshops")["items"]
    return {one["metadata"]["name"] for one in listed if one.get("status", {}).get("podOutdated")}


def doctor_counts_outdated():
    """Returns the output of the doctor, if it prints the number of the Workshops with older pods."""
    count = len(outdated())
    said = kubectl("--namespace", NAMESPACE, "exec", f"deployment/{FULL_NAME}", "--", "launcher", "doctor")
    return re.search(rf"workshop pods +{count} of \d+ Workshops have an older sidecar or older settings", said) and said


def stored_secrets():
    """Returns the data of all Secrets of the release that the chart has generated: {(namespace, name): data}."""
    kind = ("secrets", "--field-selector", "type=Opaque")
    return {(place, one["metadata"]["name"]): one["data"] for place in (NAMESPACE, WORKSHOPS) for one in read(place, *kind)["items"]}


def echoes(sockets):
    """Sends a message through each WebSocket. Returns the names of the workshops that echo it."""
    for name, channel in sockets.items():
        channel.send(name)
    return {name for name, channel in sockets.items() if channel.recv(DEADLINE) == name}


def test_upgrade_with_all_settings_changed_keeps_workshops_secrets_and_sessions(chain, other_sidecar, tmp_path):
    """The release keeps the changed settings. The next test needs no others."""
    # Launches of admins have no rate limit.
    admin, alice = chain.signed_in(ADMIN), chain.signed_in(ALICE)
    is_admin = lambda: chain.api(alice, "GET", "/me")[1]["is_admin"]
    assert not is_admin()
    names = [chain.launch(admin) for _ in range(3)]
    urls = {name: chain.until_open(admin, name) for name in names}
    before, generated = pods_of(names), stored_secrets()
    logins = {(NAMESPACE, f"{FULL_NAME}-{name}") for name in ("login", "workshops-login")}
    assert set(generated) == logins | {(namespace, f"{FULL_NAME}-proxy-secret") for namespace in (NAMESPACE, WORKSHOPS)}
    assert chain.next_secrets() == {name: data for (place, name), data in generated.items() if place == NAMESPACE}
    assert not outdated() & set(names)
    values = tmp_path / "values.yaml"
    values.write_text(yaml.safe_dump(changed_values(other_sidecar)))
    with contextlib.ExitStack() as stack:
        sockets = {name: stack.enter_context(admin.web_socket(url.split("/")[2])) for name, url in urls.items()}
        assert echoes(sockets) == set(names)
        chain.upgrade("--values", values)
        assert echoes(sockets) == set(names), "expected every WebSocket to survive the upgrade"
        chain.end_old_pods()
        until("Alice to be an admin", is_admin)
        assert pods_of(names) == before
        assert stored_secrets() == generated
        # The cookies of this browser profile are enough: nothing redirects to a login.
        for url in (f"{LAUNCHER}/", *urls.values()):
            assert admin.request("GET", url, PAGE).status == 200, url
        until("the status of the workshops to show older pods", lambda: set(names) <= outdated())
        report = doctor_report(until("the doctor to count the workshops with older pods", doctor_counts_outdated))
        # A warning is allowed: the pod cannot resolve the chain's test hosts, and the certificates are self-signed.
        assert "FAIL" not in report.values(), report
        for check in "database", "writes", "API server", "CRD", "permissions", "operator", "fleet binding":
            assert report[check] == "ok", report
        new, _ = chain.launched(admin)
        assert new not in outdated()
        pod, = read(WORKSHOPS, "pods", "--selector", f"workshoplauncher.dev/workshop={new}")["items"]
        containers = {one["name"]: one for one in pod["spec"]["containers"]}
        assert containers["sidecar"]["image"] == other_sidecar
        assert containers["app"]["securityContext"]["runAsUser"] == 1001
        assert pods_of(names) == before and echoes(sockets) == set(names)
    restarted, *kept = names
    until("the launcher to show the older pod", lambda: chain.api(admin, "GET", f"/instances/{restarted}")[1]["outdated"])
    status, body = chain.api(admin, "POST", f"/instances/{restarted}/restart", "{}")
    assert status == 202, body
    until("one pod with the current settings", lambda: [*sidecars(restarted).values()] == [other_sidecar])
    assert chain.until_open(admin, restarted) == urls[restarted]
    assert restarted not in outdated()
    assert pods_of(kept) == {name: before[name] for name in kept}
    for name in (*names, new):
        assert chain.api(admin, "DELETE", f"/instances/{name}")[0] == 202


def test_data_secrets_and_workshops_survive_uninstall_and_reinstall(chain):
    alice = chain.signed_in(ALICE)
    name, url = chain.launched(alice)
    pod, proxy_secrets = pods_of([name]), [one for one in stored_secrets().items() if "proxy-secret" in one[0][1]]
    assert len(proxy_secrets) == 2
    chain.uninstall()
    assert helm("list", "--namespace", NAMESPACE, "--short").strip() == ""
    left = kubectl("--namespace", NAMESPACE, "get", "deployments,services,ingresses", "--output", "name")
    assert left.strip() == "", left
    assert pods_of([name]) == pod, "expected the workshop to keep running after the uninstallation"
    # A request to a deleted pod gets no answer. 302: a terminating login proxy may still redirect to the login.
    closed = until("an answer without the login proxies", lambda: chain.visitor().request("GET", url, PAGE))
    assert closed.status in (302, 401, 404, 500, 502, 503, 504), "expected no access without the login proxies"
    assert_unreachable(workshop=cluster_ip(WORKSHOPS, name))
    # The options of the next test file.
    chain.ensure(*WITH_SSO)
    assert [one for one in stored_secrets().items() if "proxy-secret" in one[0][1]] == proxy_secrets
    assert chain.until_open(chain.signed_in(ALICE), name) == url
    assert pods_of([name]) == pod


def test_foreign_pod_reaches_neither_launcher_nor_workshop(chain, echo):
    """A pod that bypasses the edge proxy could forge the identity header. The NetworkPolicies must block such pods."""
    if Chain.installed is None:
        chain.ensure()
    assert_unreachable(launcher=cluster_ip(NAMESPACE, FULL_NAME), workshop=cluster_ip(WORKSHOPS, echo[0]))


@contextlib.contextmanager
def intruder():
    """A pod in another namespace: the arguments of kubectl that run its program."""
    container = {"name": "app", "image": "localhost/workshop-launcher/http:test", "args": ["serve"]}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0}
    apply(namespaced("Pod", "intruder", namespace=IDP, spec=spec))
    try:
        kubectl("--namespace", IDP, "wait", "pod", "intruder", "--for=condition=Ready", TIMEOUT)
        yield ("--namespace", IDP, "exec", "intruder", "--", "/app")
    finally:
        kubectl("--namespace", IDP, "delete", "pod", "intruder")


def assert_unreachable(**addresses):
    """Fails if a pod of another namespace, with Alice's identity header, gets an answer. `addresses`: {name: IP}."""
    with intruder() as inside:
        # Control: the pod can reach an allowed address, so the NetworkPolicies block the next requests.
        assert kubectl(*inside, "until", "http://dex:5556/dex/healthz").startswith("200")
        for what, address in addresses.items():
            answer = kubectl(*inside, "get", f"http://{address}/", "X-Auth-Request-Email", ALICE, check=False)
            assert "no answer" in answer, f"the {what} answered another pod: {answer}"
