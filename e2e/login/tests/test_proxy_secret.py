"""The proxy secret: without NetworkPolicies, an identity header that did not come through the auth proxy is refused.

The secret is rotated under load, and no request is refused meanwhile.
"""

import base64
import json
import threading
import time

import pytest

from chain import ADMIN, ALICE, ANY, ECHO, IDP, LAUNCHER, NAMESPACE, RELEASE, WORKSHOPS, apply, cluster_ip, kubectl, namespaced
from harness import wait_for

EMAIL, PROOF = "X-Auth-Request-Email", "X-Auth-Request-Proof"
SERVICE = f"{RELEASE}-workshop-launcher"
SECRET = f"{SERVICE}-proxy-secret"
INTRUDER = "identity-forger"
JSON = {"Accept": "application/json"}


@pytest.fixture(scope="module", params=["traefik", "front"])
def open_network(chain, request):
    """The release behind each of the two doors, without any NetworkPolicy."""
    chain.install("--set", "networkPolicy.enabled=false", *(ANY if request.param == "front" else ()))
    for namespace in (NAMESPACE, WORKSHOPS):
        left = kubectl("--namespace", namespace, "get", "networkpolicies", "--output", "name")
        assert left.strip() == "", left
    yield request.param
    chain.install()


@pytest.fixture(scope="module")
def workshop(chain, open_network):
    """A workshop of Alice that checks the proof: (name, url)."""
    alice = chain.signed_in(ALICE)
    name, url = chain.launched(alice, ECHO)
    wait_for(f"{url} to answer", lambda: alice.log_in(url, ALICE).status == 200, 30)
    yield name, url
    alice.request("DELETE", f"{LAUNCHER}/api/v1/instances/{name}")


@pytest.fixture(scope="module")
def intruder(open_network):
    """A pod in a namespace that has nothing to do with the release."""
    container = {"name": "app", "image": "localhost/workshop-launcher/http:test", "args": ["serve"]}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0}
    apply(namespaced("Pod", INTRUDER, namespace=IDP, spec=spec))
    try:
        kubectl("--namespace", IDP, "wait", "pod", INTRUDER, "--for=condition=Ready", "--timeout=60s")
        yield ("--namespace", IDP, "exec", INTRUDER, "--", "/app", "get")
    finally:
        kubectl("--namespace", IDP, "delete", "pod", INTRUDER, "--wait=false")


@pytest.fixture(scope="module")
def from_inside(workshop):
    """The app of another workshop than the one that is attacked would do the same: this is the workshop's own app."""
    pods = kubectl(
        "--namespace", WORKSHOPS, "get", "pods", "--selector", f"workshoplauncher.dev/workshop={workshop[0]}",
        "--output", "name",
    ).split()
    return ("--namespace", WORKSHOPS, "exec", pods[0], "--container", "app", "--", "/app", "get")


def secrets():
    """The secrets of the release: {side: the one that its door sends}."""
    data = json.loads(kubectl("--namespace", NAMESPACE, "get", "secret", SECRET, "--output", "json"))["data"]
    return {side: base64.b64decode(data[side]).decode().split()[0] for side in ("launcher", "workshops")}


def targets(workshop):
    """(URL past the door, Host, an identity that would be let in, the refusal)."""
    host = workshop[1].split("/")[2]
    return {
        "launcher": (f"http://{cluster_ip(NAMESPACE, SERVICE)}/api/v1/me", "launcher.test", ADMIN, "401"),
        "workshops": (f"http://{cluster_ip(WORKSHOPS, workshop[0])}/", host, ALICE, "403"),
    }


def asked(get, url, host, *lines):
    """The status of one request from a pod; "" when there was no answer."""
    return kubectl(*get, url, "Host", host, *lines, check=False).split("\n", 1)[0]


@pytest.mark.parametrize("source", ["intruder", "from_inside"])
@pytest.mark.parametrize("side", ["launcher", "workshops"])
def test_forged_identity_past_the_door_is_refused_without_network_policies(request, workshop, source, side):
    get = request.getfixturevalue(source)
    url, host, identity, refusal = targets(workshop)[side]
    known = secrets()
    other = known["workshops" if side == "launcher" else "launcher"]
    claim = (EMAIL, identity)
    # The network lets everything through: with the right secret this pod would be anybody.
    assert asked(get, url, host, *claim, PROOF, known[side]) == "200"
    for proof in ((), (PROOF, ""), (PROOF, "x" * 48), (PROOF, other), ("X_Auth_Request_Proof", known[side])):
        assert asked(get, url, host, *claim, *proof) == refusal, proof


def test_forged_proof_through_the_door_proves_nothing(chain, workshop):
    known = secrets()
    for side, url in (("launcher", f"{LAUNCHER}/api/v1/me"), ("workshops", workshop[1])):
        answer = chain.visitor().request("GET", url, {**JSON, EMAIL: ADMIN, PROOF: known[side]})
        assert answer.status in (302, 401), (side, answer.status)
        assert ADMIN not in answer.body


def test_app_never_sees_the_proof(chain, workshop):
    answer = chain.signed_in(ALICE).log_in(workshop[1], ALICE)
    assert answer.status == 200
    assert all(secret not in answer.body for secret in secrets().values())
    assert "proof" not in answer.body.lower()


class Load:
    """Requests of a signed-in person through the door, one after another, until the block ends."""

    def __init__(self, visitor, urls):
        self.visitor, self.urls = visitor, urls
        self.answers, self.failures = 0, []
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self._ask, args=(url,)) for url in urls]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def _ask(self, url):
        while not self.stopped.is_set():
            answer = self.visitor.request("GET", url, JSON)
            self.answers += 1
            if answer.status != 200:
                self.failures.append((time.monotonic(), url, answer.status, answer.body[:200]))


def accepts(get, workshop, known):
    """True when launcher and sidecar both accept an identity beside these secrets."""
    there = targets(workshop)
    answers = [asked(get, url, host, EMAIL, identity, PROOF, known[side])
               for side, (url, host, identity, _) in there.items()]
    return answers == ["200", "200"]


def fronts():
    """The pods of the release's own nginx; none behind Traefik."""
    selector = "app.kubernetes.io/component=front"
    return kubectl("--namespace", NAMESPACE, "get", "pods", "--selector", selector, "--output", "name").split()


def test_rotation_under_load_refuses_no_request(chain, open_network, workshop, intruder):
    """The steps that docs/upgrade.md describes: accept the new secret, send it, forget the old one."""
    door = ANY if open_network == "front" else ()
    alice = chain.signed_in(ALICE)
    assert alice.log_in(workshop[1], ALICE).status == 200
    old = secrets()
    new = {side: f"{side}-{'n' * 40}" for side in old}

    def set_secrets(*each):
        words = [f"proxySecret.{side}={{{','.join(one[side] for one in each)}}}" for side in old]
        sets = [part for word in words for part in ("--set", word)]
        chain.install("--set", "networkPolicy.enabled=false", *door, *sets)

    with Load(alice, [f"{LAUNCHER}/api/v1/me", workshop[1]]) as load:
        set_secrets(old, new)
        wait_for("the new secret to be accepted", lambda: accepts(intruder, workshop, new), 180)
        set_secrets(new, old)
        wait_for("one front, which sends the new secret", lambda: len(fronts()) <= 1, 90)
        set_secrets(new)
        wait_for("the old secret to be refused", lambda: not accepts(intruder, workshop, old), 180)
        seen = load.answers
        wait_for("more answers", lambda: load.answers > seen + 50, 60)
    assert load.failures == []
    assert accepts(intruder, workshop, new)
