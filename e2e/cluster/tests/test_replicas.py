"""Several launchers on one PostgreSQL database: each promised workshop exists exactly once, although launchers are killed
and restarted."""

import concurrent.futures
import contextlib
import http.client
import itertools
import os
import random
import subprocess
import threading
import urllib.parse
import uuid

import pytest
from census import ObjectRecorder
from harness import Promises, exchange, seed_of, wait_for
from world import World

ROUNDS = 3
LAUNCHES_A_ROUND = 3
# Upper bounds of the time from the first request to the kill. Each round draws one bound. With the shortest bound, the
# kill happens during the requests. With the longest bound, it may happen after the start of the first pod.
LATEST_KILL_SECONDS = (0.05, 0.3, 2)


def new_database():
    """Returns the URL of a new database."""
    server = os.environ["TEST_POSTGRES"]
    name = f"replicas_{uuid.uuid4().hex}"
    subprocess.run(["psql", "--quiet", "--command", f"CREATE DATABASE {name}", server], check=True, timeout=60)
    return urllib.parse.urlsplit(server)._replace(path=f"/{name}").geturl().replace("postgres:/", "postgres:///", 1)


@pytest.fixture(scope="module")
def world():
    """A namespace whose launchers share a database. Clients of a load balancer have 3 s to see that one stops."""
    settings = {"SERVICE_DATABASE_URL": new_database(), "SERVICE_SHUTDOWN_DELAY": "3"}
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
        self.names, self.answers, self.over = [], 0, threading.Event()

    def balanced(self):
        for turn in itertools.count():
            if self.over.is_set():
                return
            ready = [one for one in self.replicas if self.is_ready(one)]
            replica = ready[turn % len(ready)]
            if turn % 100 == 0:
                status, _, body = replica.request("POST", self.path, body={})
                assert status == 201, (status, body)
                self.names.append(body["k8s_name"])
            status, _, body = replica.request("GET", "/instances/")
            assert status == 200, (status, body)
            self.answers += 1
            self.over.wait(0.02)

    @staticmethod
    def is_ready(launcher):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return exchange(launcher.telemetry_port, "GET", "/readyz")[0] == 200
        return False

    def direct(self):
        for number in itertools.count():
            if self.over.is_set():
                return
            self.names.append(self.launch_somewhere(f"roll-{number}", number))
            self.over.wait(2)

    def launch_somewhere(self, key, first):
        for attempt in itertools.count(first):
            with contextlib.suppress(OSError, http.client.HTTPException):
                replica = self.replicas[attempt % len(self.replicas)]
                status, _, body = replica.request("POST", self.path, body={}, headers={"Idempotency-Key": key})
                assert status in (200, 201), (status, body)
                return body["k8s_name"]
            self.over.wait(0.1)


def test_rolling_restart_fails_no_balanced_request_and_loses_no_launch(world, template, replicas):
    """Each replica reports that it is not ready before it stops listening."""
    clients = Clients(replicas, template)
    with ObjectRecorder(world) as recorder, concurrent.futures.ThreadPoolExecutor(2) as threads:
        going = [threads.submit(clients.balanced), threads.submit(clients.direct)]
        try:
            for replica in replicas:
                replica.stop()
                replica.start()
                before = clients.answers, len(clients.names)
                is_past = lambda: clients.answers > before[0] and len(clients.names) > before[1]
                wait_for("more answers and launches", lambda: is_past() or any(one.done() for one in going))
        finally:
            clients.over.set()
        for one in going:
            one.result()
        end_all(world, recorder, clients.names)


def test_killed_launchers_lose_no_accepted_request(world, template, replicas):
    """In each round, one launcher is killed during launches and ends, and starts again. The others continue its work."""
    rng, promises = random.Random(seed_of("REPLICAS_SEED")), Promises(template)
    with ObjectRecorder(world) as recorder:
        for number in range(ROUNDS):
            victim, survivor = replicas[number % 3], replicas[(number + 1) % 3]
            live = list(survivor.instances())
            keys = [f"round-{number}-{index}" for index in range(LAUNCHES_A_ROUND)]
            promises.kill_during_requests(victim, keys, rng.sample(live, len(live) // 2), rng, LATEST_KILL_SECONDS)
            for key in keys[:-1]:
                promises.launch(survivor, key)
            wait_for("the survivors to settle all rows", lambda: settled(survivor))
            victim.start()
            promises.launch(victim, keys[-1])
            every = wait_for("all rows to settle", lambda: settled(victim))
            promises.check({name: every[name] for name in promises.names.values()})
            check_workshops(world, recorder, {name: every[name]["state"] for name in promises.names.values()})
        assert len(promises.names) == ROUNDS * LAUNCHES_A_ROUND
        end_all(world, recorder, list(world.launcher.instances()))


def settled(launcher):
    """Returns all instances, or None while one is in transition."""
    every = launcher.instances("all")
    return every if {row["state"] for row in every.values()} <= {"running", "failed", "terminated"} else None


def check_workshops(world, recorder, states):
    running = {name for name, state in states.items() if state == "running"}
    # The API server may execute a call of the killed launcher late. The next launcher deletes the orphaned Workshop.
    wait_for("only the expected Workshops to exist", lambda: workshops(world) == running)
    recorder.assert_one_each(*running)
    for name in states.keys() - running:
        counts = {kind: len(uids) for kind, uids in recorder.of(name).items()}
        assert max(counts.values()) <= 1, f"{name} had more than one workload: {counts}"
