"""Starts and stops the launcher's programs for tests: each has free ports and a temporary data directory.

Also finds the processes of local workshops.
"""

import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug/launcher"
ADMIN = "admin@example.org"
MARKER = b"WORKSHOP_LAUNCHER_ID="
# Upper bound of each wait for an event, in seconds. It only bounds a hang: no event of a test may depend on it.
DEADLINE = 180
# In CI, other tiers use the same processors at the same time, so a wait with a limit of its own may take longer.
PATIENCE = 3 if os.environ.get("CI") == "true" else 1
# `kubectl apply` by the server, which takes a third of the CPU time: kubectl reads no schemas.
APPLY = ("apply", "--server-side", "--force-conflicts", "--validate=false", "--filename")


# Sockets that reserve the ports that free_port() has returned, also against other test processes. A stopped program keeps
# its port for its next start, so no other program may get it.
RESERVATIONS = []


def free_port():
    """Returns a free loopback port below the range that the kernel uses for outgoing connections. Each call returns
    another one, in all test processes of this machine: a UDP socket with the same port reserves it.

    A restarted launcher uses its port again. While the launcher is down, no outgoing connection can take a port below
    this range.
    """
    first_outgoing = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(first_outgoing // 2, first_outgoing)
        reservation = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with socket.socket() as listener, contextlib.suppress(OSError):
            reservation.bind(("127.0.0.1", port))
            listener.bind(("127.0.0.1", port))
            RESERVATIONS.append(reservation)
            return port
        reservation.close()


def need(present, missing):
    """Skips the test unless the requirement is `present`. With CI=true, the test fails instead. `missing` says what to do."""
    if not present:
        import pytest

        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(missing)


def seed_of(variable):
    """Returns the seed in this environment variable, else a random one, and prints it."""
    seed = int(os.environ.get(variable) or random.randrange(2**32))
    print(f"{variable}={seed}", flush=True)
    return seed


def wait_for(what, look, seconds=DEADLINE):
    """Calls look() until the result is true, and returns the result. Fails after `seconds`, in CI after three times as
    long."""
    seconds *= PATIENCE
    deadline, pause = time.monotonic() + seconds, 0.02
    while not (found := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"timed out after {seconds:g} s waiting for {what}")
        time.sleep(pause)  # pacing: a poll loop
        # A long wait polls less often, because polling takes CPU time from the awaited programs.
        pause = min(pause * 1.2, 0.4)
    return found


def doctor_in_time(run):
    """Runs the doctor by run(), until no server answered one of its checks too late, and returns the result. The limits of
    the checks are a few seconds, and a busy machine may need longer."""
    is_late = lambda result: re.search("no (answer|response) within", str(result))
    return wait_for("answers to the doctor in time", lambda: None if is_late(result := run()) else result)


def exchange(port, method, path, headers=None, body=None, host="127.0.0.1", timeout=DEADLINE):
    """Sends one HTTP request. Returns (status, headers with lower-case names, body as bytes)."""
    connection = http.client.HTTPConnection(host, port, timeout=timeout)
    try:
        text = None if body is None else json.dumps(body)
        connection.request(method, path, body=text, headers=headers or {})
        response = connection.getresponse()
        received = {name.lower(): value for name, value in response.getheaders()}
        return response.status, received, response.read()
    finally:
        connection.close()


class Program:
    """One of the launcher's programs, with a temporary directory.

    A test can kill the program and start it again with the same settings. The end of `with program:` kills the process
    and removes its files. If the block fails, it also prints the last lines of the log.
    """

    command = ()

    def __init__(self, **settings):
        self.data = pathlib.Path(tempfile.mkdtemp(prefix="launcher-e2e-"))
        self.telemetry_port = free_port()
        self.process = None
        self.log = self.data / "launcher.log"
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
        self.environment = inherited | {"SERVICE_TELEMETRY_ADDR": f"127.0.0.1:{self.telemetry_port}", **settings}

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            print(self.log_tail(), file=sys.stderr)
        self.clean_up()

    def start(self, command=None, seconds=DEADLINE, **options):
        """Starts the program and waits until /readyz answers 200."""
        with self.log.open("ab") as log:
            streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            self.process = subprocess.Popen(command or self.command, env=self.environment, **streams, **options)
        wait_for("/readyz to answer 200", self._is_ready, seconds)

    def _is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the program exited early, with status {self.process.returncode}\n{self.log_tail()}")
        with contextlib.suppress(OSError, http.client.HTTPException):
            return exchange(self.telemetry_port, "GET", "/readyz")[0] == 200
        return False

    def kill(self):
        """Sends SIGKILL, so that the program cannot finish its work."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Sends SIGTERM and waits for the exit. Fails if the exit status is not 0."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=DEADLINE)
        assert status == 0, f"the program exited with status {status} after SIGTERM\n{self.log_tail()}"

    def clean_up(self):
        """Kills the process if it still runs, and removes its directory."""
        if self.process and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.data, ignore_errors=True)

    def log_tail(self, lines=40):
        """Returns the last lines of the program's output."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:]) if self.log.exists() else ""

    def metrics(self):
        """Returns the samples of /metrics: {name with its labels: value}."""
        _, _, text = exchange(self.telemetry_port, "GET", "/metrics")
        lines = (line.rsplit(" ", 1) for line in text.decode().splitlines() if line and not line.startswith("#"))
        return {name: float(value) for name, value in lines}


class Api:
    """Calls of a launcher's API, which fail the test after another status than the expected one. `request` sends them."""

    def ask(self, method, path, email=ADMIN, body=None, expected=200):
        """Returns the body of the answer."""
        status, _, answer = self.request(method, path, email, body)
        assert status == expected, (status, answer)
        return answer

    def create_template(self, draft, **changes):
        """Creates a template: the draft with these changes. Returns its id."""
        return self.ask("POST", "/templates/", body=draft | changes, expected=201)["template_id"]

    def instance(self, name):
        return self.ask("GET", f"/instances/{name}")

    def end(self, name, email=ADMIN):
        self.ask("DELETE", f"/instances/{name}", email, expected=202)

    def until(self, name, state, seconds=DEADLINE):
        """Waits until the instance is in this state, and returns the instance. Fails at once if the instance fails."""
        seen = {}

        def look():
            seen.update(self.instance(name))
            if seen["state"] == "failed" and state != "failed":
                raise AssertionError(f"{name} failed: {seen['reason']} {seen['log_tail']}")
            return seen["state"] == state

        try:
            wait_for(f"{name} to be {state}", look, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; the instance: {seen}") from None
        return seen


class Launcher(Program, Api):
    """`launcher serve`. It uses the local fleet by default."""

    command = (PROGRAM, "serve")

    def __init__(self, **settings):
        self.port = free_port()
        defaults = {
            "SERVICE_LISTEN_ADDR": f"127.0.0.1:{self.port}",
            "SERVICE_FLEET": "local",
            "SERVICE_ADMIN_EMAILS": ADMIN,
        }
        super().__init__(**defaults | settings)
        self.environment.setdefault("SERVICE_DATA_DIR", str(self.data))

    def clean_up(self):
        """Kills the launcher and its workshop processes if they still run, and removes the launcher's files."""
        if self.process and self.process.poll() is None:
            self.kill()
        for process in self.workshop_processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process["pid"], signal.SIGKILL)
        super().clean_up()

    def request(self, method, path, email=ADMIN, body=None, headers=None):
        """Sends one API request as the user of this address. Returns (status, headers, body)."""
        sent = dict(headers or {})
        if email:
            sent["X-Auth-Request-Email"] = email
        if body is not None:
            sent["Content-Type"] = "application/json"
        status, received, text = exchange(self.port, method, f"/api/v1{path}", sent, body)
        is_json = "json" in received.get("content-type", "")
        return status, received, json.loads(text) if is_json else text

    def instances(self, state="live"):
        """Returns all instances in this state, from all pages of the list: {name: instance}."""
        path, rows = f"/instances/?state={state}", {}
        while path:
            status, headers, page = self.request("GET", path)
            assert status == 200, (status, page)
            rows |= {row["k8s_name"]: row for row in page}
            path = headers.get("link", "").partition(">")[0].removeprefix("</api/v1")
        return rows

    def workshop_processes(self):
        """Returns all processes of this launcher's workshops: [{pid, parent, name}].

        Includes processes whose parent has exited.
        """
        with contextlib.suppress(FileNotFoundError):
            fleet_id = (self.data / "fleet/id").read_bytes().strip()
            found = (read_process(int(pid), MARKER + fleet_id + b"/") for pid in os.listdir("/proc") if pid.isdigit())
            return [process for process in found if process]
        return []


class Promises:
    """Records the launches and terminations that a launcher confirmed, for tests that kill the launcher.

    `names` maps each Idempotency-Key to the name of the launched instance. A request whose answer is lost is not
    recorded. A wrong answer fails the test.
    """

    def __init__(self, template):
        self.template, self.names = template, {}
        # Instances whose termination was requested, and the subset whose request was answered.
        self.asked_to_end, self.ended = set(), set()

    def launch(self, launcher, key):
        """Launches with this Idempotency-Key. Fails if an earlier launch with this key returned another name."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            path, headers = f"/templates/{self.template}/launch", {"Idempotency-Key": key}
            status, _, body = launcher.request("POST", path, body={}, headers=headers)
            assert status in (200, 201), (status, body)
            earlier = self.names.setdefault(key, body["k8s_name"])
            assert earlier == body["k8s_name"], f"Idempotency-Key {key} returned {earlier}, now {body['k8s_name']}"

    def end(self, launcher, name):
        """Requests the termination of the instance of this name."""
        self.asked_to_end.add(name)
        with contextlib.suppress(OSError, http.client.HTTPException):
            status, _, body = launcher.request("DELETE", f"/instances/{name}")
            assert status == 202, (status, body)
            self.ended.add(name)

    def check(self, rows):
        """Compares all instances, {name: instance}, with the confirmed launches and terminations.

        Requires that no instance is in transition. An instance must be running if its termination was not requested,
        and terminated if this request was answered. If the answer was lost, both states are accepted.
        """
        names = set(self.names.values())
        assert len(names) == len(self.names), "two Idempotency-Keys returned the same name"
        missing = names - set(rows)
        assert not missing, f"confirmed launches have no instance: {sorted(missing)}"
        became = {name: (rows[name]["state"], rows[name]["end_reason"]) for name in names}
        wrong = {name: (*became[name], rows[name].get("reason")) for name in names if became[name] not in self._right(name)}
        assert not wrong, f"instances are neither running nor terminated as requested: {wrong}"

    def _right(self, name):
        running, ended = ("running", None), ("terminated", "owner")
        if name in self.ended:
            return [ended]
        return [running, ended] if name in self.asked_to_end else [running]

    def kill_during_requests(self, launcher, keys, names, rng, latest):
        """Launches with these keys, ends these instances, and kills the launcher during these requests.

        The kill happens at a random time between 0 and a number of seconds that is drawn from `latest`.
        """
        work = [(self.launch, key) for key in keys] + [(self.end, name) for name in names]
        rng.shuffle(work)
        with concurrent.futures.ThreadPoolExecutor(len(work)) as threads:
            doing = [threads.submit(act, launcher, what) for act, what in work]
            time.sleep(rng.uniform(0, rng.choice(latest)))  # pacing: the drawn moment of the kill
            launcher.kill()
        for one in doing:
            one.result()


def read_process(pid, marker):
    """Returns the process as {pid, parent, name}, or None if it has exited or its environment has no marker."""
    try:
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        state, parent = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return None
    names = [entry[len(marker):].decode().split("/")[0] for entry in environment if entry.startswith(marker)]
    return {"pid": pid, "parent": int(parent), "name": names[0]} if names and state not in "ZX" else None


def trees(processes):
    """Counts the process trees of each workshop: {name of the workshop: number of trees}."""
    members = {(process["pid"], process["name"]) for process in processes}
    counts = {}
    for process in processes:
        is_root = (process["parent"], process["name"]) not in members
        counts[process["name"]] = counts.get(process["name"], 0) + is_root
    return counts
