"""Costs of the proxies without load: memory at rest and with idle WebSockets, time to start, size."""

import socket
import sys

from common import tools
from common.machine import load_average, memory, unshared

from . import proxies

UPGRADE = "\r\n".join((
    "GET /ws HTTP/1.1", "Host: 127.0.0.1:{port}", proxies.IDENTITY, "Connection: Upgrade", "Upgrade: websocket",
    "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", "",
))


def open_websockets(port, count):
    opened = []
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", port), 10)
        opened.append(client)
        client.sendall(UPGRADE.format(port=port).encode())
        answer = client.recv(4096)
        if not answer.startswith(b"HTTP/1.1 101"):
            sys.exit(f"a WebSocket request was refused: {answer.decode(errors='replace')}")
    return opened


def at_rest(scene, started, each, app, place, options):
    """Measures the proxies at rest and with idle WebSockets. Each round starts each proxy again."""
    print(f"\n{load_average()}\n")
    for _ in range(options.rounds):
        for proxy in each:
            running = proxies.put(started, proxy, app, place)
            scene.note("start", proxy.name, running.seconds * 1000)
            rss, pss = memory(running.pid)
            scene.note("rest rss", proxy.name, rss)
            scene.note("rest pss", proxy.name, pss)
            scene.note("rest own", proxy.name, unshared(running.pid))
            opened = open_websockets(running.port, options.websockets)
            with_all = memory(running.pid)
            scene.note("sockets rss", proxy.name, with_all[0])
            scene.note("sockets pss", proxy.name, with_all[1])
            scene.note("socket", proxy.name, (with_all[1] - pss) * 1024 / options.websockets)
            for client in opened:
                client.close()
            started.end(running.process)


def sizes(proxy):
    """Returns the size of its files in MB."""
    return sum(tools.size_mb(path) for path in proxy.files)
