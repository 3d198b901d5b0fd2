"""A launcher of the release build with a separate database, and rows to fill it with."""

import http.client
import json
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.parse
import uuid

from common.machine import memory
from common.tools import LAUNCHER, ROOT

# Behind the folders of bench.
sys.path.append(str(ROOT / "e2e"))

import harness  # noqa: E402

ALICE_MAIL = "alice@example.org"
ALICE = {"X-Auth-Request-Email": ALICE_MAIL}
ADMIN = {"X-Auth-Request-Email": harness.ADMIN}


class Launcher(harness.Launcher):
    """A launcher process, on one core if `core` names it: `with Launcher() as launcher`. All requests use one connection."""

    def __init__(self, core=None, program=LAUNCHER, **settings):
        super().__init__(SERVICE_LOG="error", **settings)
        self.command = [*(("taskset", "-c", core) if core else ()), program, "serve"]

    def __enter__(self):
        began = time.perf_counter()
        self.process = subprocess.Popen(self.command, env=self.environment, stdin=subprocess.DEVNULL)
        try:
            while not self._is_ready():
                if time.perf_counter() - began > harness.DEADLINE:
                    sys.exit(f"the launcher is not ready after {harness.DEADLINE} s")
                time.sleep(0.001)  # pacing: the resolution of start_seconds
        except BaseException:
            self.clean_up()
            raise
        self.start_seconds = time.perf_counter() - began
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)
        return self

    def stop(self):
        """Also ends its workshops."""
        self.connection.close()
        super().stop()

    def __exit__(self, kind, *rest):
        try:
            if self.process.poll() is None:
                self.stop()
        finally:
            super().__exit__(kind, *rest)

    def request(self, method, path, headers, body=None):
        payload = None if body is None else json.dumps(body)
        if payload is not None:
            headers = headers | {"Content-Type": "application/json"}
        self.connection.request(method, path, payload, headers)
        response = self.connection.getresponse()
        return response.status, response.read()

    def submit(self, path, fields, headers):
        """Submits a form of a page. Returns the page that answers."""
        headers = headers | {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
        self.connection.request("POST", path, urllib.parse.urlencode(fields), headers)
        response = self.connection.getresponse()
        answer = response.read().decode()
        if response.status != 200:
            sys.exit(f"POST {path} answered {response.status}: {answer}")
        return answer

    def stream(self, path, headers):
        """Asks for an event stream. Returns the socket, before the answer has arrived."""
        opened = socket.create_connection(("127.0.0.1", self.port), harness.DEADLINE)
        lines = {"Host": f"127.0.0.1:{self.port}"} | headers
        head = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in lines.items()), "", ""]
        opened.sendall("\r\n".join(head).encode())
        return opened

    def memory(self):
        """Returns the launcher's RSS and Pss in MiB, without its workshops'."""
        return memory(self.process.pid, children=False)

    def timed(self, path, headers, count):
        """Returns the milliseconds of `count` sequential GETs."""
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


def filled(rows, core=None, **settings):
    """Returns a launcher, to be started, whose database has this many instances: one in ten is live, three are Alice's, the
    others belong to many users."""
    launcher = Launcher(core, **settings)
    launcher.__enter__()
    launcher.request("POST", f"/api/v1/templates/{template(launcher)}/launch", ALICE)
    launcher.stop()
    fill(launcher.data, rows)
    return launcher


def fill(data, rows):
    """Multiplies the only instance in the database."""
    with sqlite3.connect(data / "launcher.db") as database:
        # This pragma leaves out generated columns, unlike `SELECT *`.
        columns = [row[1] for row in database.execute("PRAGMA table_info(workshop_instances)")]
        model = dict(zip(columns, database.execute(f"SELECT {','.join(columns)} FROM workshop_instances").fetchone()))
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
