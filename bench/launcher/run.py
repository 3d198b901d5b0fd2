#!/usr/bin/env python3
"""What the launcher costs on one machine: start, memory, reads at 1,000 and 100,000 rows, launches.

    cargo build --release -p launcher && python3 bench/launcher/run.py

Python's standard library only. Everything runs on loopback with a database of its own in a temporary directory, and is
gone afterwards. Compared figures come from one run, interleaved; absolute ones depend on the machine.
"""

import http.client
import json
import os
import pathlib
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAUNCHER = ROOT / "target" / "release" / "launcher"
RUNS = 5
READS = 1000
LAUNCHES = 500
SIZES = (1_000, 100_000)
ALICE = {"X-Auth-Request-Email": "alice@example.org"}
ADMIN = {"X-Auth-Request-Email": "admin@example.org"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Launcher:
    """A launcher of its own: `with Launcher(data) as launcher`."""

    def __init__(self, data, **settings):
        self.port = free_port()
        self.telemetry = free_port()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")} | {
            "SERVICE_LISTEN_ADDR": f"127.0.0.1:{self.port}",
            "SERVICE_TELEMETRY_ADDR": f"127.0.0.1:{self.telemetry}",
            "SERVICE_DATA_DIR": str(data),
            "SERVICE_ADMIN_EMAILS": "admin@example.org",
            "SERVICE_LOG": "error",
        } | settings

    def __enter__(self):
        started = time.perf_counter()
        self.process = subprocess.Popen([LAUNCHER, "serve"], env=self.environment)
        while True:
            try:
                if self.request("GET", "/readyz", {}, port=self.telemetry)[0] == 200:
                    break
            except OSError:
                pass
            if self.process.poll() is not None:
                sys.exit(f"the launcher ended with status {self.process.returncode}")
            if time.perf_counter() - started > 60:
                sys.exit("the launcher is not ready after 60 s")
            time.sleep(0.001)
        self.start_seconds = time.perf_counter() - started
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)

    def request(self, method, path, headers, body=None, port=None):
        connection = http.client.HTTPConnection("127.0.0.1", port) if port else self.connection
        payload = None if body is None else json.dumps(body)
        if payload is not None:
            headers = headers | {"Content-Type": "application/json"}
        connection.request(method, path, payload, headers)
        response = connection.getresponse()
        return response.status, response.read()

    def memory(self):
        """RSS and Pss in MiB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text().splitlines()
        fields = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in status[1:]}
        return fields["Rss"], fields["Pss"]

    def timed(self, path, headers, count):
        """Milliseconds of `count` sequential GETs on one connection."""
        times = []
        for _ in range(count):
            started = time.perf_counter()
            status, _ = self.request("GET", path, headers)
            times.append((time.perf_counter() - started) * 1000)
            if status != 200:
                sys.exit(f"GET {path} answered {status}")
        return times


def template(launcher, **fields):
    body = {"name": "Bench", "app_type": "custom", "image": "none", "port": 8000, "command": ["true"]} | fields
    status, answer = launcher.request("POST", "/api/v1/templates/", ADMIN, body)
    if status != 201:
        sys.exit(f"the template was refused: {status} {answer.decode()}")
    return json.loads(answer)["template_id"]


def fill(data, rows):
    """Multiplies the one instance in the database: one in ten is live, three are Alice's, the others many people's."""
    with sqlite3.connect(data / "launcher.db") as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(workshop_instances)")]
        model = dict(zip(columns, database.execute("SELECT * FROM workshop_instances").fetchone()))
        insert = f"INSERT INTO workshop_instances ({','.join(columns)}) VALUES ({','.join('?' * len(columns))})"
        base = model["created_at"] - rows

        def row(number):
            live = number % 10 == 0
            changed = {
                "instance_id": str(uuid.UUID(int=((base + number) << 80) | (7 << 76) | (2 << 62) | number)),
                "k8s_name": f"bench-{number:010}",
                "owner_email": "alice@example.org" if number in (0, rows // 20 * 10, rows - 10) else f"student{number % 997}@example.org",
                "state": "failed" if live else "terminated",
                "created_at": base + number,
                "spec_version": 1,
                "applied_version": 1,
                "revision": model["revision"] + number + 1,
                "launch_number": model["revision"] + number + 1,
            }
            return tuple((model | changed)[column] for column in columns)
        database.executemany(insert, (row(number) for number in range(rows)))
        database.execute("UPDATE change_counter SET revision = ?", (model["revision"] + rows,))


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, int(len(values) * percent / 100))]


def spread(values, unit=""):
    return f"{statistics.median(values):.2f}{unit} ({min(values):.2f}–{max(values):.2f})"


def starts(directory):
    seconds, rss, pss = [], [], []
    for run in range(RUNS):
        with Launcher(directory / f"start{run}") as launcher:
            launcher.request("GET", "/api/v1/me", ALICE)
            seconds.append(launcher.start_seconds * 1000)
            memory = launcher.memory()
            rss.append(memory[0])
            pss.append(memory[1])
    print(f"start to ready, empty database     {spread(seconds, ' ms')}")
    print(f"idle RSS                           {spread(rss, ' MiB')}")
    print(f"idle Pss                           {spread(pss, ' MiB')}")


def reads(directory):
    launchers = {}
    for size in SIZES:
        data = directory / f"rows{size}"
        with Launcher(data) as launcher:
            launcher.request("POST", f"/api/v1/templates/{template(launcher)}/launch", ALICE)
        fill(data, size)
        launchers[size] = Launcher(data)
    paths = {
        "one instance": ("/api/v1/instances/bench-0000000000", ALICE),
        "alice's live instances": ("/api/v1/instances/", ALICE),
        "admin, first page of 50, all": ("/api/v1/instances/?state=all&limit=50", ADMIN),
        "admin, first page of 50, live": ("/api/v1/instances/?limit=50", ADMIN),
        "admin, first page of 50, ended": ("/api/v1/instances/?state=ended&limit=50", ADMIN),
    }
    small, large = SIZES
    with launchers[small] as few, launchers[large] as many:
        for launcher in (few, many):
            launcher.timed("/api/v1/me", ALICE, 200)
        for name, (path, headers) in paths.items():
            ratios, medians, tails = [], [], []
            for _ in range(RUNS):
                pair = [launcher.timed(path, headers, READS // RUNS) for launcher in (few, many)]
                ratios.append(statistics.median(pair[1]) / statistics.median(pair[0]))
                medians.append(statistics.median(pair[1]))
                tails.append(percentile(pair[1], 99))
            print(
                f"GET {name:30} {spread(medians, ' ms')} p99 {spread(tails, ' ms')}; "
                f"{large:,} rows cost {spread(ratios)} times {small:,}"
            )


def launches(directory):
    with Launcher(directory / "launches", SERVICE_MAX_INSTANCES_PER_USER="10000") as launcher:
        path = f"/api/v1/templates/{template(launcher)}/launch"
        times = []
        for _ in range(LAUNCHES):
            started = time.perf_counter()
            status, answer = launcher.request("POST", path, ALICE)
            times.append((time.perf_counter() - started) * 1000)
            if status != 201:
                sys.exit(f"a launch answered {status}: {answer.decode()}")
        print(f"launch accepted (201, on the disk)  p50 {percentile(times, 50):.2f} ms, p99 {percentile(times, 99):.2f} ms")


def main():
    if not LAUNCHER.exists():
        sys.exit("build it first: cargo build --release -p launcher")
    print(f"{LAUNCHER.stat().st_size / 1e6:.1f} MB of program; {RUNS} runs, median (lowest–highest)")
    with tempfile.TemporaryDirectory(prefix="launcher-bench-") as directory:
        directory = pathlib.Path(directory)
        starts(directory)
        reads(directory)
        launches(directory)


if __name__ == "__main__":
    main()
