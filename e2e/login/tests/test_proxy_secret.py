"""The proxy secret without NetworkPolicies: requests that bypass the auth proxy are refused.

A rotation of the secret under load refuses no request. All tests run with Traefik and with the front as edge proxy.
"""

import base64
import contextlib
import json
import secrets
import threading

import pytest

from chain import (
    ADMIN, ALICE, ANY, BOB, IDP, LAUNCHER, NAMESPACE, RELEASE, WORKSHOPS, apply, cluster_ip, kubectl, namespaced,
    settled,
)
from harness import wait_for

SECRET = f"{RELEASE}-workshop-launcher-proxy-secret"
JSON = {"Accept": "application/json"}
EMAIL, PROOF = "X-Auth-Request-Email", "X-Auth-Request-Proof"
AUDIENCES = ("launcher", "workshops")


def install_without_policies(chain, *words):
    """Installs the release without NetworkPolicies. Deletes the workshops' policies, because Helm keeps them."""
    chain.install("--set", "networkPolicy.enabled=false", *words)
    policies = ("workshops-ingress", "workshops-egress", "workshop-downloads", "workshop-snapshots")
    kubectl("--namespace", WORKSHOPS, "delete", "networkpolicy", *policies, "--ignore-not-found")


@pytest.fixture(scope="module", params={"traefik": (), "any": ANY}.items(), ids=lambda one: one[0])
def edge_proxy(chain, request):
    """Helm options that select Traefik or the front as edge proxy. Afterwards the usual release is installed again."""
    try:
        install_without_policies(chain, *request.param[1])
        yield request.param[1]
    finally:
        chain.install()


@pytest.fixture(scope="module")
def echo(chain, edge_proxy):
    """Alice's workshop, whose app echoes requests, launched after the policies were deleted: (name, url)."""
    name, url = chain.launched(chain.signed_in(ALICE))
    wait_for(f"{url} to answer", lambda: settled(lambda: chain.visitor().log_in(url, ALICE).status == 200), 60)
    return name, url


@pytest.fixture(scope="module")
def intruder(edge_proxy):
    """The kubectl arguments that run a command in a pod of another namespace."""
    container = {"name": "app", "image": "localhost/workshop-launcher/http:test", "args": ["serve"]}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0}
    apply(namespaced("Pod", "stranger", namespace=IDP, spec=spec))
    try:
        kubectl("--namespace", IDP, "wait", "pod", "stranger", "--for=condition=Ready", "--timeout=180s")
        yield ("--namespace", IDP, "exec", "stranger", "--")
    finally:
        kubectl("--namespace", IDP, "delete", "pod", "stranger", "--wait=false")


def status_of(inside, url, *lines):
    """Returns the status of a pod's request that bypasses the auth proxy. The Host header names the launcher, which
    refuses other hosts. Repeats the request only if no answer comes."""
    return int(kubectl(*inside, "/app", "until", url, "Host", "launcher.test", *lines).split()[0])


def addresses(echo):
    """Returns in-cluster URLs that require a login and bypass the auth proxy: {audience: URL}."""
    launcher = cluster_ip(NAMESPACE, f"{RELEASE}-workshop-launcher")
    return {"launcher": f"http://{launcher}/api/v1/me", "workshops": f"http://{cluster_ip(WORKSHOPS, echo[0])}/"}


def stored_secrets():
    """Returns the proxy secrets in the release's Secret: {audience: [secret]}."""
    data = json.loads(kubectl("--namespace", NAMESPACE, "get", "secret", SECRET, "--output", "json"))["data"]
    return {audience: base64.b64decode(data[audience]).decode().split("\n") for audience in AUDIENCES}


def app_of(name):
    """Returns the kubectl arguments that run a command in the app container of a workshop."""
    return ("--namespace", WORKSHOPS, "exec", f"pod/{name}", "--container", "app", "--")


def test_forged_identity_without_proxy_secret_is_refused(echo, intruder):
    places, have = addresses(echo), stored_secrets()
    for inside in (intruder, app_of(echo[0])):
        for who in (ALICE, BOB, ADMIN):
            for lines in ((), (PROOF, "x" * 48), (PROOF, have["workshops"][0][:-1])):
                assert status_of(inside, places["launcher"], EMAIL, who, *lines) == 401
                assert status_of(inside, places["workshops"], EMAIL, who, *lines) == 403
    # The launcher accepts only the secret for the launcher, and sidecars accept only the secret for workshops.
    assert status_of(intruder, places["launcher"], EMAIL, ALICE, PROOF, have["launcher"][0]) == 200
    assert status_of(intruder, places["workshops"], EMAIL, ALICE, PROOF, have["workshops"][0]) == 200
    assert status_of(intruder, places["launcher"], EMAIL, ALICE, PROOF, have["workshops"][0]) == 401
    assert status_of(intruder, places["workshops"], EMAIL, ALICE, PROOF, have["launcher"][0]) == 403


def test_app_receives_neither_proof_header_nor_proxy_secret(chain, echo):
    alice = chain.signed_in(ALICE)
    alice.log_in(echo[1], ALICE)
    answer = alice.request("GET", echo[1], {PROOF: "mine"})
    assert answer.status == 200 and "proof" not in answer.body.lower(), answer.body
    pod = json.loads(kubectl("--namespace", WORKSHOPS, "get", "pod", echo[0], "--output", "json"))["spec"]
    mounted = {one["name"] for one in pod["volumes"] if one.get("secret", {}).get("secretName") == SECRET}
    assert len(mounted) == 1
    for container in pod["containers"]:
        has = {one["name"] for one in container.get("volumeMounts", [])} & mounted
        assert bool(has) is (container["name"] != "app"), container["name"]


class RepeatedRequest:
    """Repeats one request in a thread, and records all answers other than 200."""

    def __init__(self, visitor, url, headers=None):
        self.wrong, self.count, self.stopped = [], 0, threading.Event()
        self.thread = threading.Thread(target=self.go_on, args=(visitor, url, headers or {}))
        self.thread.start()

    def go_on(self, visitor, url, headers):
        while not self.stopped.wait(0.05):
            answer = visitor.request("GET", url, headers)
            self.count += 1
            if answer.status != 200:
                self.wrong.append((answer.status, answer.body[:200]))

    def stop(self):
        self.stopped.set()
        self.thread.join()


@contextlib.contextmanager
def requests_under_load(chain, echo):
    """Sends Alice's requests to launcher and workshop during the block. Fails if a request is refused."""
    alice = [chain.signed_in(ALICE) for _ in range(2)]
    alice[1].log_in(echo[1], ALICE)
    asking = [RepeatedRequest(alice[0], f"{LAUNCHER}/api/v1/me", JSON), RepeatedRequest(alice[1], echo[1])]
    try:
        yield
    finally:
        for one in asking:
            one.stop()
    assert [one.wrong for one in asking] == [[], []]
    assert min(one.count for one in asking) > 50


def test_proxy_secret_rotation_under_load_refuses_no_request(chain, edge_proxy, echo, intruder):
    places, old = addresses(echo), {audience: lines[0] for audience, lines in stored_secrets().items()}
    new = {audience: secrets.token_hex(32) for audience in AUDIENCES}

    def install(*order):
        lists = {audience: ",".join(one[audience] for one in order) for audience in AUDIENCES}
        words = [word for audience in AUDIENCES for word in ("--set", f"proxySecret.{audience}={{{lists[audience]}}}")]
        install_without_policies(chain, *edge_proxy, *words)

    def accepted(which):
        answers = {one: status_of(intruder, places[one], EMAIL, ALICE, PROOF, which[one]) for one in AUDIENCES}
        return [answers[one] == 200 for one in AUDIENCES]

    with requests_under_load(chain, echo):
        install(old, new)
        # The kubelet updates mounted Secrets with a delay. Launcher and sidecars then read the files again.
        wait_for("the new secrets to be accepted", lambda: accepted(new) == [True, True], 180)
        assert accepted(old) == [True, True]
        install(new, old)
        install(new)
        wait_for("the old secrets to be refused", lambda: accepted(old) == [False, False], 180)
        assert accepted(new) == [True, True]
    install_without_policies(chain, *edge_proxy)
    assert stored_secrets() == {audience: [new[audience]] for audience in AUDIENCES}, "secrets changed by the upgrade"


def test_proxy_secrets_survive_uninstall_and_reinstall(chain, edge_proxy, echo):
    before = stored_secrets()
    chain.uninstall()
    install_without_policies(chain, *edge_proxy)
    assert stored_secrets() == before
    alice = chain.signed_in(ALICE)
    wait_for("the workshop to answer", lambda: settled(lambda: alice.log_in(echo[1], ALICE).status == 200), 60)
