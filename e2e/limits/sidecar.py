#!/usr/bin/env python3
"""Attacks a sidecar within its container's memory limit: clients send slowly, read slowly or pipeline.

    e2e/limits/sidecar.py [--seconds 60] [--clients 2000] [--program target/release/launcher-sidecar]

Half of the clients send the owner's identity, and half send no identity. The test fails if the sidecar is killed, or if
other requests of the owner have a p99 of one second or more (option --p99 for slow debug builds). Needs root, for a
memory cgroup. Without it, the test exits with status 77.
"""

import asyncio
import contextlib
import multiprocessing
import pathlib
import re
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from harness import ROOT, free_port, wait_for  # noqa: E402
from limits.arena import attacked, end, options  # noqa: E402
from limits.attack import Target, allow_files, head, usual_kinds  # noqa: E402

IDENTITY = "X-Auth-Request-Email: alice@example.org"


def container_limit():
    """Returns the memory limit that the fleets set for the sidecar's container, in bytes."""
    source = (ROOT / "crates/launcher-workshop/src/app/sidecar.rs").read_text()
    return int(re.search(r'SIDECAR_LIMITS: \[&str; 2\] = \["1", "(\d+)Mi"\]', source)[1]) << 20


async def _answer(reader, writer):
    with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        while True:
            request = await reader.readuntil(b"\r\n\r\n")
            if request.startswith(b"PUT"):
                while await reader.read(65536):
                    pass
            elif request.startswith(b"GET /large"):
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n")
                for _ in range(1024):
                    writer.write(bytes(65536))
                    await writer.drain()
            else:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                await writer.drain()
    writer.close()


def app(port):
    """Runs an app with a small and a large response. Call it in a separate process, because it blocks."""

    async def serve():
        server = await asyncio.start_server(_answer, "127.0.0.1", port, backlog=1024)
        await server.serve_forever()

    allow_files(4096)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())


def answers(port):
    """Returns True if the sidecar's /readyz reports that the app answers."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as connection:
        connection.sendall(head("GET", "/readyz"))
        return b" 200 " in connection.recv(4096)
    return False


def main():
    words = options(__doc__, "launcher-sidecar")
    port, telemetry, app_port = (free_port() for _ in range(3))
    small, large = head("GET", "/", IDENTITY), head("GET", "/large", IDENTITY)
    upload = head("PUT", "/", IDENTITY, "Content-Length: 1000000000000")
    strangers = [request.replace(IDENTITY.encode() + b"\r\n", b"") for request in (small, large, upload)]
    kinds = [each for pair in zip(usual_kinds(small, large, upload), usual_kinds(*strangers)) for each in pair]

    @contextlib.contextmanager
    def started(group):
        behind = multiprocessing.get_context("spawn").Process(target=app, args=(app_port,), daemon=True)
        behind.start()
        environment = {
            "SERVICE_OWNER_EMAIL": "alice@example.org", "SERVICE_APP_PORT": str(app_port),
            "SERVICE_LISTEN_ADDR": f"127.0.0.1:{port}", "SERVICE_TELEMETRY_ADDR": f"127.0.0.1:{telemetry}",
        }
        process = subprocess.Popen([words.program], env=environment, preexec_fn=group.join, stderr=subprocess.DEVNULL)
        try:
            wait_for("the app to answer", lambda: answers(telemetry), 20)
            yield process, Target("127.0.0.1", port)
        finally:
            process.kill()
            process.wait()
            behind.kill()
            behind.join()

    def probes(target):
        return {
            "page of the owner, on new connections": (target, small, {}),
            "page of the owner, on a kept connection": (target, small, {"keep": True}),
            "health check of the kubelet": (Target("127.0.0.1", telemetry), head("GET", "/healthz"), {}),
        }

    return attacked("limits-sidecar", container_limit(), started, kinds, probes, words)


if __name__ == "__main__":
    end(main)
