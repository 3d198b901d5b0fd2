"""Several launchers on one PostgreSQL database: each promised workshop exists exactly once, although launchers are killed
and restarted."""

import concurrent.futures
import contextlib
import http.client
import itertools
import os
import subprocess
import threading
import time
import urllib.parse
import uuid

import pytest
from census import ObjectRecorder
from harness import exchange, wait_for
from world import World

# Seconds during which a launcher that stops still accepts requests.
SHUTDOWN_DELAY = 3


def new_database():
    """Returns the URL of a new database."""
    server = os.environ["TEST_POSTGRES"]
    name = f"replicas_{uuid.uuid4().hex}"
    subprocess.run(["psql", "--quiet", "--command", f"CREATE DATABASE {name}", server], check=True, timeout=60)
    return urllib.parse.urlsplit(server)._replace(path=f"/{name}").geturl().replace("postgres:/", "postgres:///", 1)


@pytest.fixture(scope="module")
def world():
    """A namespace whose launchers share a database. Clients of a load balancer have some seconds to see that one stops."""
    settings = {"SERVICE_DATABASE_URL": new_database(), "SERVICE_SHUTDOWN_DELAY": str(SHUTDOWN_DELAY)}
    with World("replicas", launcher=settings) as made:
        yield made


@pytest.fixture(scope="module")
def template(world):
    return world.template()


@pytest.fixture(scope="module")
def replicas(world):
    """The world's launcher and two more on its database."""
    more = [world.new_launcher() for _ in range(2)]
    for launcher in more:
        launcher.start()
    return [world.launcher, *more]


def workshops(world):
    """Returns the names of all Workshops."""
    return {one["metadata"]["name"] for one in world.objects("workshops")}


def end_all(world, recorder, names):
    """Waits until exactly these instances run, fails unless each had one workload all the time, and ends them."""
    for name in names:
        world.until(name, "running")
    assert set(world.launcher.instances()) == set(names)
    wait_for("only the expected Workshops to exist", lambda: workshops(world) == set(names))
    recorder.assert_one_each(*names)
    world.end(*names)
    world.until_ended(*names)


class Clients:
    """Clients of the replicas, as threads. A client of a load balancer sends each request to a ready replica, and gets no
    error. Another client launches workshops with keys, and tries the next replica after an error."""

    def __init__(self, replicas, template):
        self.replicas, self.path = replicas, f"/templates/{template}/launch"
        self.names, self.answers, self.over, self.numbers = [], 0, threading.Event(), itertools.count()

    def while_restarting(self, stop, *clients):
        """Stops and starts one replica after the other. Meanwhile, these clients send requests."""
        self.over.clear()
        with concurrent.futures.ThreadPoolExecutor(len(clients)) as threads:
            going = [threads.submit(one) for one in clients]
            try:
                for replica in self.replicas:
                    stop(replica)
                    replica.start()
                    answers, launched = self.answers, len(self.names)
                    is_past = lambda: len(self.names) > launched and (self.answers > answers or len(clients) == 1)
                    wait_for("more answers and launches", lambda: is_past() or any(one.done() for one in going))
            finally:
                self.over.set()
            for one in going:
                one.result()

    def balanced(self):
        for turn in itertools.count():
            if self.over.is_set():
                return
            if turn % 100 == 0:
                key = {"Idempotency-Key": f"balanced-{turn}"}
                status, _, body = self.ask_ready(turn, "POST", self.path, body={}, headers=key)
                assert status in (200, 201), (status, body)
                self.names.append(body["k8s_name"])
            status, _, body = self.ask_ready(turn, "GET", "/instances/")
            assert status == 200, (status, body)
            self.answers += 1
            self.over.wait(0.02)

    def ask_ready(self, turn, *words, **more):
        """Sends a request to a ready replica, and returns the answer. A replica that stops accepts requests for
        SHUTDOWN_DELAY. Tries again after an error only if more time has passed: this client was too slow."""
        while True:
            ready = wait_for("a ready replica", self.ready)
            replica, asked = ready[turn % len(ready)]
            try:
                return replica.request(*words, **more)
            except (OSError, http.client.HTTPException):
                if time.monotonic() - asked < SHUTDOWN_DELAY:
                    raise

    def ready(self):
        """Returns the ready replicas, each with the time when it was asked."""
        asked = [(one, time.monotonic(), self.is_ready(one)) for one in self.replicas]
        return [(one, at) for one, at, is_ready in asked if is_ready]

    @staticmethod
    def is_ready(launcher):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return exchange(launcher.telemetry_port, "GET", "/readyz")[0] == 200
        return False

    def direct(self):
        for number in self.numbers:
            self.names.append(self.launch_somewhere(f"roll-{number}", number))
            if self.over.wait(2):
                return

    def launch_somewhere(self, key, first):
        for attempt in itertools.count(first):
            with contextlib.suppress(OSError, http.client.HTTPException):
                replica = self.replicas[attempt % len(self.replicas)]
                status, _, body = replica.request("POST", self.path, body={}, headers={"Idempotency-Key": key})
                assert status in (200, 201), (status, body)
                return body["k8s_name"]
            self.over.wait(0.1)


def test_rolling_restart_fails_no_balanced_request_and_loses_no_launch(world, template, replicas):
    """Each replica reports that it is not ready before it stops listening. Afterwards each one is killed, during launches of
    clients that repeat them."""
    clients = Clients(replicas, template)
    with ObjectRecorder(world) as recorder:
        clients.while_restarting(lambda replica: replica.stop(), clients.balanced, clients.direct)
        clients.while_restarting(lambda replica: replica.kill(), clients.direct)
        end_all(world, recorder, clients.names)
