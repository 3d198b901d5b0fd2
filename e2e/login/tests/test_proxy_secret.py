"""The proxy secret: without NetworkPolicies, an identity header that did not come through the auth proxy is refused.

A rotation under load refuses no request. Runs with Traefik and with the release's own nginx.
"""

import base64
import contextlib
import json
import secrets
import threading

import pytest

from chain import (
    ADMIN, ALICE, ANY, BOB, IDP, LAUNCHER, NAMESPACE, RELEASE, WORKSHOPS, apply, cluster_ip, kubectl, namespaced,
)
from harness import wait_for

SECRET = f"{RELEASE}-workshop-launcher-proxy-secret"
JSON = {"Accept": "application/json"}
EMAIL, PROOF = "X-Auth-Request-Email", "X-Auth-Request-Proof"
AUDIENCES = ("launcher", "workshops")


def without_policies(chain, *words):
    """Installs without NetworkPolicies, and deletes the policies that outlive the release."""
    chain.install("--set", "networkPolicy.enabled=false", *words)
    policies = ("workshops-ingress", "workshops-egress")
    kubectl("--namespace", WORKSHOPS, "delete", "networkpolicy", *policies, "--ignore-not-found")


@pytest.fixture(scope="module", params={"traefik": (), "any": ANY}.items(), ids=lambda one: one[0])
def door(chain, request):
    """Values that select Traefik or the release's nginx; afterwards the usual release is installed again."""
    try:
        without_policies(chain, *request.param[1])
        yield request.param[1]
    finally:
        chain.install()


@pytest.fixture(scope="module")
def echo(chain, door):
    """Alice's workshop, which echoes requests, launched after the policies were deleted: (name, url)."""
    name, url = chain.launched(chain.signed_in(ALICE))
    wait_for(f"{url} to answer", lambda: chain.visitor().log_in(url, ALICE).status == 200, 30)
    return name, url


@pytest.fixture(scope="module")
def intruder(door):
    """A pod of another namespace."""
    container = {"name": "app", "image": "localhost/workshop-launcher/http:test", "args": ["serve"]}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0}
    apply(namespaced("Pod", "stranger", namespace=IDP, spec=spec))
    try:
        kubectl("--namespace", IDP, "wait", "pod", "stranger", "--for=condition=Ready", "--timeout=60s")
        yield ("--namespace", IDP, "exec", "stranger", "--")
    finally:
        kubectl("--namespace", IDP, "delete", "pod", "stranger", "--wait=false")


def status_of(inside, url, *lines):
    """Returns the status of a pod's request that bypasses the auth proxy. It names the launcher's host, as the launcher
    requires."""
    return int(kubectl(*inside, "/app", "get", url, "Host", "launcher.test", *lines).split()[0])


def addresses(echo):
    """Returns addresses that require a login, for pods that bypass the auth proxy: {audience: URL}."""
    launcher = cluster_ip(NAMESPACE, f"{RELEASE}-workshop-launcher")
    return {"launcher": f"http://{launcher}/api/v1/me", "workshops": f"http://{cluster_ip(WORKSHOPS, echo[0])}/"}


def kept():
    """Returns the secrets that the release stores: {audience: [secret]}."""
    data = json.loads(kubectl("--namespace", NAMESPACE, "get", "secret", SECRET, "--output", "json"))["data"]
    return {audience: base64.b64decode(data[audience]).decode().split("\n") for audience in AUDIENCES}


def app_of(name):
    """Returns the kubectl arguments that run a command in a workshop's app."""
    return ("--namespace", WORKSHOPS, "exec", f"deployment/{name}", "--container", "app", "--")


def test_forged_identity_without_proxy_secret_is_refused(echo, intruder):
    places, have = addresses(echo), kept()
    for inside in (intruder, app_of(echo[0])):
        for who in (ALICE, BOB, ADMIN):
            for lines in ((), (PROOF, "x" * 48), (PROOF, have["workshops"][0][:-1])):
                assert status_of(inside, places["launcher"], EMAIL, who, *lines) == 401
                assert status_of(inside, places["workshops"], EMAIL, who, *lines) == 403
    # Each secret is valid only for its own audience.
    assert status_of(intruder, places["launcher"], EMAIL, ALICE, PROOF, have["launcher"][0]) == 200
    assert status_of(intruder, places["workshops"], EMAIL, ALICE, PROOF, have["workshops"][0]) == 200
    assert status_of(intruder, places["launcher"], EMAIL, ALICE, PROOF, have["workshops"][0]) == 401
    assert status_of(intruder, places["workshops"], EMAIL, ALICE, PROOF, have["launcher"][0]) == 403


def test_app_gets_neither_proof_header_nor_secret(chain, echo):
    alice = chain.signed_in(ALICE)
    alice.log_in(echo[1], ALICE)
    answer = alice.request("GET", echo[1], {PROOF: "mine"})
    assert answer.status == 200 and "proof" not in answer.body.lower(), answer.body
    deployment = json.loads(kubectl("--namespace", WORKSHOPS, "get", "deployment", echo[0], "--output", "json"))
    pod = deployment["spec"]["template"]["spec"]
    mounted = {one["name"] for one in pod["volumes"] if one.get("secret", {}).get("secretName") == SECRET}
    assert len(mounted) == 1
    for container in pod["containers"]:
        has = {one["name"] for one in container.get("volumeMounts", [])} & mounted
        assert bool(has) is (container["name"] != "app"), container["name"]


class Asking:
    """A client that repeats one request, and records all answers other than 200."""

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
def asked_all_the_time(chain, echo):
    """Alice requests launcher and workshop during the block; fails if one request is refused."""
    alice = [chain.signed_in(ALICE) for _ in range(2)]
    alice[1].log_in(echo[1], ALICE)
    asking = [Asking(alice[0], f"{LAUNCHER}/api/v1/me", JSON), Asking(alice[1], echo[1])]
    try:
        yield
    finally:
        for one in asking:
            one.stop()
    assert [one.wrong for one in asking] == [[], []]
    assert min(one.count for one in asking) > 50


def test_secret_rotation_under_load_refuses_no_request(chain, door, echo, intruder):
    places, old = addresses(echo), {audience: lines[0] for audience, lines in kept().items()}
    new = {audience: secrets.token_hex(32) for audience in AUDIENCES}

    def install(*order):
        lists = {audience: ",".join(one[audience] for one in order) for audience in AUDIENCES}
        words = [word for audience in AUDIENCES for word in ("--set", f"proxySecret.{audience}={{{lists[audience]}}}")]
        without_policies(chain, *door, *words)

    def accepted(which):
        answers = {one: status_of(intruder, places[one], EMAIL, ALICE, PROOF, which[one]) for one in AUDIENCES}
        return [answers[one] == 200 for one in AUDIENCES]

    with asked_all_the_time(chain, echo):
        install(old, new)
        # The kubelet renews the files, and the programs read them again.
        wait_for("the new secrets to be accepted", lambda: accepted(new) == [True, True], 180)
        assert accepted(old) == [True, True]
        install(new, old)
        install(new)
        wait_for("the old secrets to be refused", lambda: accepted(old) == [False, False], 180)
        assert accepted(new) == [True, True]
    without_policies(chain, *door)
    assert kept() == {audience: [new[audience]] for audience in AUDIENCES}, "an upgrade without lists keeps them"


def test_secrets_survive_uninstall_and_reinstall(chain, door, echo):
    before = kept()
    chain.uninstall()
    without_policies(chain, *door)
    assert kept() == before
    alice = chain.signed_in(ALICE)
    wait_for("the workshop", lambda: alice.log_in(echo[1], ALICE).status == 200, 30)
