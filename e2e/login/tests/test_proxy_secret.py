"""The proxy secret without NetworkPolicies: requests that bypass the edge proxy are refused.

A rotation of the secret under load refuses no request. The edge proxy is the front, whose pods restart at each change of the
secret: Traefik reads a changed Middleware without a restart.
"""

import base64
import contextlib
import secrets
import threading

import pytest

from chain import (
    ADMIN, ALICE, ANY, FULL_NAME, LAUNCHER, NAMESPACE, WITH_SSO, WORKSHOPS, Chain, cluster_ip, kubectl, read, until,
)
from harness import exchange
from test_install import intruder as running_intruder

# The options of the tests before, so that no upgrade is necessary.
OPTIONS = (*WITH_SSO, *ANY)
EMAIL, PROOF = "X-Auth-Request-Email", "X-Auth-Request-Proof"
AUDIENCES = ("launcher", "workshops")


@pytest.fixture(scope="module")
def chain(chain):
    """The release without NetworkPolicies."""
    for namespace in (NAMESPACE, WORKSHOPS):
        kubectl("--namespace", namespace, "delete", "networkpolicy", "--all")
    yield chain
    Chain.installed = None


@pytest.fixture(scope="module")
def intruder(chain):
    with running_intruder() as inside:
        yield inside


def status_of(inside, url, *lines):
    """Returns the status of a pod's request that bypasses the edge proxy. The Host header names the launcher, which
    refuses other hosts. Repeats the request only if no answer comes."""
    return int(kubectl(*inside, "until", url, "Host", "launcher.test", *lines).split()[0])


def places_of(echo):
    """Returns what requires a login, at addresses that bypass the edge proxy: {audience: (address, path)}."""
    places = {"launcher": (NAMESPACE, FULL_NAME, "/api/v1/me"), "workshops": (WORKSHOPS, echo[0], "/")}
    return {name: (cluster_ip(namespace, service), path) for name, (namespace, service, path) in places.items()}


def stored_secrets():
    """Returns the proxy secrets in the release's Secret: {audience: [secret]}."""
    data = read(NAMESPACE, "secret", f"{FULL_NAME}-proxy-secret")["data"]
    return {audience: base64.b64decode(data[audience]).decode().split("\n") for audience in AUDIENCES}


def test_forged_identity_without_proxy_secret_is_refused(echo, intruder):
    places, have = places_of(echo), {audience: lines[0] for audience, lines in stored_secrets().items()}
    refusals = {"launcher": 401, "workshops": 403}
    app = ("--namespace", WORKSHOPS, "exec", f"pod/{echo[0]}", "--container", "app", "--", "/app")
    for audience, place in places.items():
        url = f"http://{''.join(place)}"
        for inside in (intruder, app):
            for lines in ((ALICE,), (ADMIN,), (ALICE, PROOF, "x" * 48), (ALICE, PROOF, have[audience][:-1])):
                assert status_of(inside, url, EMAIL, *lines) == refusals[audience]
        # Launcher and sidecars accept only the secret of their audience.
        answers = {one: status_of(intruder, url, EMAIL, ALICE, PROOF, have[one]) for one in AUDIENCES}
        assert answers == {one: 200 if one == audience else refusals[audience] for one in AUDIENCES}


class RepeatedRequest:
    """Repeats one request in a thread, and records all answers other than 200."""

    def __init__(self, visitor, url):
        self.wrong, self.count, self.stopped = [], 0, threading.Event()
        self.thread = threading.Thread(target=self.go_on, args=(visitor, url))
        self.thread.start()

    def go_on(self, visitor, url):
        while not self.stopped.wait(0.05):  # pacing: the requests of one user
            try:
                answer = visitor.request("GET", url)
            except Exception as error:
                self.wrong.append(repr(error))
            else:
                self.count += 1
                if answer.status != 200:
                    self.wrong.append((answer.status, answer.body[:200]))

    def go_on_until(self, count):
        """Waits for this number of further answers."""
        count += self.count
        until("further answers", lambda: self.wrong or self.count >= count)


@contextlib.contextmanager
def requests_under_load(chain, echo):
    """Sends Alice's requests to launcher and workshop during the block. Fails if a request is refused."""
    asking = [RepeatedRequest(chain.signed_in(ALICE, echo[1]), url) for url in (f"{LAUNCHER}/api/v1/me", echo[1])]
    try:
        yield asking
    finally:
        for one in asking:
            one.stopped.set()
            one.thread.join()
    assert [one.wrong for one in asking] == [[], []]


def test_proxy_secret_rotation_under_load_refuses_no_request(chain, echo):
    """The steps of docs/upgrade.md."""
    places, old = places_of(echo), {audience: lines[0] for audience, lines in stored_secrets().items()}
    new = {audience: secrets.token_hex(32) for audience in AUDIENCES}

    def rotate(*order):
        lists = (f"proxySecret.{audience}={{{','.join(one[audience] for one in order)}}}" for audience in AUDIENCES)
        chain.upgrade(*OPTIONS, "--set", "networkPolicy.enabled=false", *(word for text in lists for word in ("--set", text)))

    def status(audience, proof):
        # The machine of the tests reaches the addresses of Services.
        address, path = places[audience]
        lines = {"Host": "launcher.test", EMAIL: ALICE, PROOF: proof}
        return until("an answer", lambda: exchange(80, "GET", path, lines, host=address)[0])

    def accepted(which):
        return [status(one, which[one]) == 200 for one in AUDIENCES]

    with requests_under_load(chain, echo) as asking:
        rotate(old, new)
        # The kubelet updates mounted Secrets with a delay. Launcher and sidecars then read the files again.
        until("the new secrets to be accepted", lambda: accepted(new) == [True, True])
        assert accepted(old) == [True, True]
        rotate(new, old)
        until("the old front pods to end", lambda: not [
            pod for pod in read(NAMESPACE, "pods")["items"] if "deletionTimestamp" in pod["metadata"]
        ])
        rotate(new)
        until("the old secrets to be refused", lambda: accepted(old) == [False, False])
        assert accepted(new) == [True, True]
        for one in asking:
            one.go_on_until(20)
