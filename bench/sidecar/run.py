#!/usr/bin/env python3
"""The sidecar beside nginx: CPU per request, latency, memory at rest and with idle WebSockets.

Both check the same owner and stand before the same app; rounds alternate between them. Needs nginx, wrk and
`cargo build --release -p launcher-sidecar`. Everything is on 127.0.0.1; every process it starts it ends.

    bench/sidecar/run.py [--rounds 5] [--seconds 4] [--websockets 2000] [--sidecar target/release/launcher-sidecar]
"""

import argparse
import asyncio
import contextlib
import os
import pathlib
import re
import socket
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
OWNER = "alice@example.org"
TICK = os.sysconf("SC_CLK_TCK")
# What a browser sends; wrk adds Host.
HEADERS = {
    "X-Auth-Request-Email": OWNER,
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language": "en-US,en;q=0.5",
    "Accept-Encoding": "gzip, deflate, br",
    "Cookie": "_xsrf=2|0a1b2c3d|0123456789abcdef0123456789abcdef|1700000000; username=workshop",
    "X-Forwarded-Proto": "https",
}
UPGRADE = (
    "GET /ws HTTP/1.1\r\nHost: w.example\r\nX-Auth-Request-Email: " + OWNER + "\r\nConnection: Upgrade\r\n"
    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
).encode()
SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, process):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit(f"{process.args[0]} ended with {process.returncode}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise SystemExit(f"nothing listens on {port}")


def tree(pid):
    """A process and its children (nginx's worker)."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def cpu_seconds(pid):
    ticks = 0
    for each in tree(pid):
        fields = pathlib.Path(f"/proc/{each}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / TICK


def pss_kib(pid):
    total = 0
    for each in tree(pid):
        rollup = pathlib.Path(f"/proc/{each}/smaps_rollup").read_text()
        total += int(re.search(r"^Pss:\s+(\d+)", rollup, re.M).group(1))
    return total


def wrk(port, connections, seconds):
    headers = [word for name, value in HEADERS.items() for word in ("-H", f"{name}: {value}")]
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", *headers, f"http://127.0.0.1:{port}/"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in output:
        raise SystemExit(output)
    requests = int(re.search(r"(\d+) requests in", output).group(1))
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output).group(1))
    p99 = re.search(r"^\s+99%\s+(\S+)", output, re.M).group(1)
    return requests, rate, p99


class Bench:
    def __init__(self, directory, sidecar):
        self.dir, self.sidecar, self.processes = pathlib.Path(directory), sidecar, []

    def start(self, command, port, **environment):
        scrubbed = {key: value for key, value in os.environ.items() if not key.startswith("SERVICE_")}
        process = subprocess.Popen(command, env=scrubbed | environment, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        wait_for(port, process)
        return process.pid

    def start_nginx(self, template, port, **values):
        config = self.dir / template
        config.write_text((HERE / template).read_text().format(dir=self.dir, port=port, **values))
        return self.start(["nginx", "-p", str(self.dir), "-c", str(config)], port)

    def start_sidecar(self, app_port):
        port, telemetry = free_port(), free_port()
        pid = self.start(
            [self.sidecar], port, SERVICE_OWNER_EMAIL=OWNER, SERVICE_APP_PORT=str(app_port),
            SERVICE_LISTEN_ADDR=f"127.0.0.1:{port}", SERVICE_TELEMETRY_ADDR=f"127.0.0.1:{telemetry}",
        )
        return pid, port

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class WebSocketApp(asyncio.Protocol):
    """Takes every WebSocket, and is silent."""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        if data.endswith(b"\r\n\r\n"):
            self.transport.write(SWITCHED)


def open_websockets(port, count):
    opened = []
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", port), 10)
        opened.append(client)
        client.sendall(UPGRADE)
        answer = client.recv(4096)
        if not answer.startswith(b"HTTP/1.1 101"):
            raise SystemExit(answer.decode())
    return opened


async def websocket_bytes(pid, port, count):
    """Memory that each of `count` idle WebSockets takes, in bytes of Pss."""
    before = pss_kib(pid)
    opened = await asyncio.to_thread(open_websockets, port, count)
    after = pss_kib(pid)
    for client in opened:
        client.close()
    return (after - before) * 1024 / count


def row(name, figures, digits=2):
    median = statistics.median(figures)
    print(f"  {name:<9}{median:>9.{digits}f}   ({min(figures):.{digits}f} to {max(figures):.{digits}f})")
    return median


def report(title, results, digits=2):
    print(title)
    medians = {name: row(name, [result[1] for result in rounds], digits) for name, rounds in results.items()}
    print(f"  sidecar / nginx: {medians['sidecar'] / medians['nginx']:.2f}")


def measure(bench, options):
    app_port, nginx_port, ws_port = free_port(), free_port(), free_port()
    bench.start_nginx("nginx-app.conf", app_port, body="x" * 256)
    nginx = bench.start_nginx("nginx-proxy.conf", nginx_port, app_port=app_port, ws_port=ws_port)
    sidecar, sidecar_port = bench.start_sidecar(app_port)
    peers = {"nginx": (nginx, nginx_port), "sidecar": (sidecar, sidecar_port)}
    print("Pss at rest, KiB")
    for name, (pid, _) in peers.items():
        row(name, [pss_kib(pid)], 0)
    for connections in (1, 32):
        cpu, rate = {name: [] for name in peers}, {name: [] for name in peers}
        for number in range(options.rounds + 1):
            for name, (pid, port) in peers.items():
                before = cpu_seconds(pid)
                requests, per_second, p99 = wrk(port, connections, options.seconds if number else 1)
                # The first round warms up.
                if number:
                    cpu[name].append((p99, (cpu_seconds(pid) - before) / requests * 1e6))
                    rate[name].append((p99, per_second))
        report(f"CPU per request, microseconds, {connections} connection(s)", cpu)
        report(f"Requests a second, {connections} connection(s)", rate, 0)
        for name in peers:
            print(f"  {name} 99th percentile: {', '.join(p99 for p99, _ in rate[name])}")
    print("Pss after the load, KiB")
    for name, (pid, _) in peers.items():
        row(name, [pss_kib(pid)], 0)
    asyncio.run(measure_websockets(bench, options, (nginx, nginx_port), ws_port))


async def measure_websockets(bench, options, nginx, ws_port):
    loop = asyncio.get_running_loop()
    server = await loop.create_server(WebSocketApp, "127.0.0.1", ws_port, backlog=4096)
    fresh = await asyncio.to_thread(bench.start_sidecar, ws_port)
    print(f"Pss of an idle WebSocket, bytes ({options.websockets} open)")
    for name, (pid, port) in {"nginx": nginx, "sidecar": fresh}.items():
        row(name, [await websocket_bytes(pid, port, options.websockets)], 0)
    server.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--websockets", type=int, default=2000)
    parser.add_argument("--sidecar", default=str(HERE.parents[1] / "target/release/launcher-sidecar"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-sidecar-") as directory:
        bench = Bench(directory, options.sidecar)
        try:
            measure(bench, options)
        finally:
            bench.stop()


if __name__ == "__main__":
    main()
