#!/usr/bin/env python3
"""Attacks a launcher within the chart's memory limit: clients send slowly, read slowly or pipeline.

    e2e/limits/launcher.py [--seconds 60] [--clients 2000] [--program target/release/launcher]

Half of the clients send the identity of one user, and half send no identity. The test fails if the launcher is killed,
or if another user's requests have a p99 of one second or more (option --p99 for slow debug builds). Needs root, for a
memory cgroup. Without it, the test exits with status 77.
"""

import contextlib
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from harness import ROOT, Launcher  # noqa: E402
from limits.arena import attacked, end, options  # noqa: E402
from limits.attack import Target, head, usual_kinds  # noqa: E402

LAUNCH = "/api/v1/templates/01980000-0000-7000-8000-000000000001/launch"
# The launcher's largest response, more than 1 MB: the most data that it holds for a client that does not read.
LARGE = "/api/v1/docs/swagger-ui-bundle.js"


def chart_limit():
    """Returns the launcher's memory limit in the chart, in bytes."""
    values = (ROOT / "charts/workshop-launcher/values.yaml").read_text()
    return int(re.search(r"\nlauncher:\n.*?limits: \{memory: (\d+)Mi\}", values, re.S)[1]) << 20


def main():
    words = options(__doc__, "launcher")

    def requests(*lines):
        """Returns a small GET, a large GET, and the head of an endless upload."""
        upload = head("POST", LAUNCH, *lines, "Content-Type: application/json", "Content-Length: 1000")
        return head("GET", "/", *lines), head("GET", LARGE, *lines), upload

    kinds = usual_kinds(*requests("X-Auth-Request-Email: mallory@example.org")) + usual_kinds(*requests())

    @contextlib.contextmanager
    def started(group):
        launcher = Launcher(SERVICE_LOG="error", SERVICE_PUBLIC_URL="http://workshop.example")
        with launcher:
            launcher.start([words.program, "serve"], preexec_fn=group.join)
            started.telemetry = launcher.telemetry_port
            yield launcher.process, Target("127.0.0.1", launcher.port)

    def probes(target):
        page = head("GET", "/", "X-Auth-Request-Email: alice@example.org")
        listed = head("GET", "/api/v1/instances/", "X-Auth-Request-Email: alice@example.org")
        return {
            "page of another user, on new connections": (target, page, {}),
            "list of another user, on a kept connection": (target, listed, {"keep": True}),
            "health check of the kubelet": (Target("127.0.0.1", started.telemetry), head("GET", "/healthz"), {}),
        }

    return attacked("limits-launcher", chart_limit(), started, kinds, probes, words)


if __name__ == "__main__":
    end(main)
