"""Attacks launcher and sidecar within their memory limits: clients send slowly, read slowly or pipeline.

Half of the clients send an identity, and half send none. A test fails if the program is killed, or if requests of other
clients are too slow. To measure release builds, as docs/performance.md shows them, with at most one second:

    cargo build --release -p launcher -p launcher-sidecar
    LIMITS_BUILD=release .local/cluster/bin/python -m pytest -s -m limits e2e/limits

LIMITS_BUILD is the folder of the programs in target. LIMITS_SECONDS, LIMITS_CLIENTS and LIMITS_P99 replace the length of
the attack, the number of clients, and the maximum 99th percentile of other requests in seconds. The tests need root, for
a memory cgroup.
"""

import contextlib
import multiprocessing
import os
import re
import subprocess

import pytest

from harness import PROGRAM, ROOT, Launcher, exchange, free_port, wait_for
from limits import app
from limits.arena import Limits, attacked
from limits.attack import Target, head, usual_kinds

pytestmark = pytest.mark.limits
PROGRAMS = PROGRAM.parents[1] / os.environ.get("LIMITS_BUILD", "debug")
IS_DEBUG = PROGRAMS.name == "debug"

LAUNCH = "/api/v1/templates/01980000-0000-7000-8000-000000000001/launch"
# The launcher's largest response, more than 1 MB: the most data that it holds for a client that does not read.
LARGE = "/api/v1/docs/swagger-ui-bundle.js"
ALICE, MALLORY = (f"X-Auth-Request-Email: {name}@example.org" for name in ("alice", "mallory"))


def limits(file, pattern, debug_p99):
    """Returns the limits of an attack, with the memory limit in this file in MiB. Debug builds are several times slower
    than release builds, and are attacked for a shorter time.
    """
    [found] = re.findall(pattern, (ROOT / file).read_text(), re.S)
    return Limits(
        memory=int(found) << 20,
        seconds=int(os.environ.get("LIMITS_SECONDS") or (8 if IS_DEBUG else 60)),
        clients=int(os.environ.get("LIMITS_CLIENTS") or 2000),
        p99=float(os.environ.get("LIMITS_P99") or (debug_p99 if IS_DEBUG else 1)),
    )


def kinds_of(requests, identity):
    """Returns the kinds of clients with this identity and without one. `requests(*lines)` returns a small GET, a large GET
    and the head of an endless upload with these header lines."""
    return [kind for pair in zip(usual_kinds(*requests(identity)), usual_kinds(*requests())) for kind in pair]


def test_launcher_under_attack_stays_below_the_chart_limit_and_answers_others(launcher_program):
    chart = limits("charts/workshop-launcher/values.yaml", r"\nlauncher:\n.*?limits: \{memory: (\d+)Mi\}", debug_p99=9)

    def requests(*lines):
        upload = head("POST", LAUNCH, *lines, "Content-Type: application/json", "Content-Length: 1000")
        return head("GET", "/", *lines), head("GET", LARGE, *lines), upload

    @contextlib.contextmanager
    def started(group):
        launcher.start([PROGRAMS / "launcher", "serve"], preexec_fn=group.join)
        try:
            yield launcher.process
        finally:
            launcher.kill()

    with Launcher(SERVICE_LOG="error", SERVICE_PUBLIC_URL="http://workshop.example") as launcher:
        target, health = (Target("127.0.0.1", port) for port in (launcher.port, launcher.telemetry_port))
        listed = head("GET", "/api/v1/instances/", ALICE)
        probes = {
            "page of another user, on new connections": (target, head("GET", "/", ALICE), {}),
            "list of another user, on a kept connection": (target, listed, {"keep": True}),
            "health check of the kubelet": (health, head("GET", "/healthz"), {}),
        }
        attacked("limits-launcher", chart, started, target, kinds_of(requests, MALLORY), probes)


def answers(port):
    """Returns True if the sidecar's /readyz reports that the app answers."""
    with contextlib.suppress(OSError):
        return exchange(port, "GET", "/readyz")[0] == 200
    return False


def test_sidecar_under_attack_stays_below_the_container_limit_and_answers_its_owner(launcher_program):
    container = limits("crates/launcher-workshop/src/app/sidecar.rs", r'SIDECAR_LIMITS: .*?= \["1", "(\d+)Mi"\]', debug_p99=5)
    port, telemetry, app_port = (free_port() for _ in range(3))
    target, health = Target("127.0.0.1", port), Target("127.0.0.1", telemetry)

    def requests(*lines):
        upload = head("PUT", "/", *lines, "Content-Length: 1000000000000")
        return head("GET", "/", *lines), head("GET", "/large", *lines), upload

    @contextlib.contextmanager
    def started(group):
        behind = multiprocessing.get_context("spawn").Process(target=app.serve, args=(app_port,), daemon=True)
        behind.start()
        environment = {
            "SERVICE_OWNER_EMAIL": "alice@example.org", "SERVICE_APP_PORT": str(app_port),
            "SERVICE_LISTEN_ADDR": f"127.0.0.1:{port}", "SERVICE_TELEMETRY_ADDR": f"127.0.0.1:{telemetry}",
        }
        command = [PROGRAMS / "launcher-sidecar"]
        process = subprocess.Popen(command, env=environment, preexec_fn=group.join, stderr=subprocess.DEVNULL)
        try:
            wait_for("the app to answer", lambda: answers(telemetry))
            yield process
        finally:
            for each in (process, behind):
                each.kill()
            process.wait()
            behind.join()

    owner = head("GET", "/", ALICE)
    probes = {
        "page of the owner, on new connections": (target, owner, {}),
        "page of the owner, on a kept connection": (target, owner, {"keep": True}),
        "health check of the kubelet": (health, head("GET", "/healthz"), {}),
    }
    attacked("limits-sidecar", container, started, target, kinds_of(requests, ALICE), probes)
