"""A launcher with a separate database, and rows to fill it with."""

import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import uuid

from common.machine import free_port, memory
from common.tools import LAUNCHER

ALICE_MAIL = "alice@example.org"
ALICE = {"X-Auth-Request-Email": ALICE_MAIL}
ADMIN = {"X-Auth-Request-Email": "admin@example.org"}


class Launcher:
    """A launcher process: `with Launcher(data) as launcher`."""

    def __init__(self, data, cores=None, program=LAUNCHER, **settings):
        self.command = [*(("taskset", "-c", cores) if cores else ()), program, "serve"]
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
        self.process = subprocess.Popen(self.command, env=self.environment)
        try:
            self.until_ready(started)
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise
        self.start_seconds = time.perf_counter() - started
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)
        return self

    def until_ready(self, started):
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

    def __exit__(self, *_):
        self.connection.close()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def request(self, method, path, headers, body=None, port=None):
        connection = http.client.HTTPConnection("127.0.0.1", port) if port else self.connection
        payload = None if body is None else json.dumps(body)
        if payload is not None:
            headers = headers | {"Content-Type": "application/json"}
        connection.request(method, path, payload, headers)
        response = connection.getresponse()
        return response.status, response.read()

    def memory(self):
        """Returns the launcher's RSS and Pss in MiB, without its workshops'."""
        return memory(self.process.pid, children=False)

    def timed(self, path, headers, count):
        """Returns the milliseconds of `count` sequential GETs on one connection."""
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
    """Multiplies the only instance in the database: one in ten is live, three are Alice's, the others belong to many
    users."""
    with sqlite3.connect(data / "launcher.db") as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(workshop_instances)")]
        model = dict(zip(columns, database.execute("SELECT * FROM workshop_instances").fetchone()))
        insert = f"INSERT INTO workshop_instances ({','.join(columns)}) VALUES ({','.join('?' * len(columns))})"
        base = model["created_at"] - rows
        alices = (0, rows // 20 * 10, rows - 10)

        def row(number):
            live = number % 10 == 0
            changed = {
                "instance_id": str(uuid.UUID(int=((base + number) << 80) | (7 << 76) | (2 << 62) | number)),
                "k8s_name": f"bench-{number:010}",
                "owner_email": ALICE_MAIL if number in alices else f"student{number % 997}@example.org",
                "state": "failed" if live else "terminated",
                "created_at": base + number,
                "spec_version": 1,
                "applied_version": 1,
                "revision": model["revision"] + number + 1,
                "queue_number": model["revision"] + number + 1,
            }
            return tuple((model | changed)[column] for column in columns)
        database.executemany(insert, (row(number) for number in range(rows)))
        database.execute("UPDATE change_counter SET revision = ?", (model["revision"] + rows,))
