"""Several launchers on one database, and launchers that are killed: each promised workshop exists exactly once.

Runs on SQLite, and on PostgreSQL when TEST_POSTGRES names a server.
"""

import concurrent.futures
import contextlib
import http.client
import itertools
import json
import os
import random
import socket
import subprocess
import threading
import urllib.parse
import uuid

import pytest

from census import ObjectRecorder
from harness import ADMIN, PATIENCE, Promises, exchange, wait_for
from world import World, parse_time

ROUNDS = 8
LAUNCHES_A_ROUND = 3
# Upper bounds of the time from the first request to the kill. Each round draws one bound. With the shortest bound, the
# kill happens during the requests. With the longest bound, it may happen after the start of the first pod.
LATEST_KILL_SECONDS = (0.01, 0.05, 0.3, 2)
QUIET = {"running", "failed", "terminated"}


def new_database(engine, directory):
    """Returns the URL of a new database."""
    if engine == "sqlite":
        return f"sqlite:{directory}/launcher.db"
    server = os.environ["TEST_POSTGRES"]
    name = f"replicas_{uuid.uuid4().hex}"
    subprocess.run(["psql", "--quiet", "--command", f"CREATE DATABASE {name}", server], check=True, timeout=30)
    return urllib.parse.urlsplit(server)._replace(path=f"/{name}").geturl().replace("postgres:/", "postgres:///", 1)


class ReplicatedWorld(World):
    """A world whose launchers share one database of this engine."""

    def __init__(self, engine):
        super().__init__(f"replicas-{engine}")
        self.database = new_database(engine, self.files.name)

    def new_launcher(self, server=None, **settings):
        return super().new_launcher(server, SERVICE_DATABASE_URL=self.database, **settings)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def world(request):
    """A namespace whose launchers share a database."""
    with ReplicatedWorld(request.param) as made:
        yield made


@pytest.fixture(scope="module")
def template(world):
    return world.template()


@pytest.fixture
def replicas(world):
    """Yields the world's launcher and two more on its database."""
    more = [world.new_launcher() for _ in range(2)]
    for launcher in more:
        launcher.start()
    yield [world.launcher, *more]
    for launcher in more:
        if launcher.process.poll() is None:
            launcher.stop()


class Events:
    """States of each instance as reported by a launcher's event stream. `with Events(launcher) as events`."""

    def __init__(self, launcher):
        self.connection = http.client.HTTPConnection("127.0.0.1", launcher.port, timeout=120)
        self.told = set()
        self.reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self):
        self.connection.request("GET", "/api/v1/events", headers={"X-Auth-Request-Email": ADMIN})
        self.socket = self.connection.sock
        self.stream = self.connection.getresponse()
        assert self.stream.status == 200
        self.reader.start()
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.reader.join()
        self.connection.close()

    def _read(self):
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            for line in self.stream:
                if line.startswith(b"data: {"):
                    told = json.loads(line.removeprefix(b"data: "))
                    self.told.add((told.get("k8s_name"), told.get("state")))


def workshops(world):
    """Returns the names of all Workshops."""
    return {one["metadata"]["name"] for one in world.objects("workshops")}


def assert_consistent(world, recorder, names):
    """Waits until exactly these instances run, and fails unless each had one workload all the time."""
    for name in names:
        world.until(name, "running")
    assert set(world.launcher.instances()) == set(names)
    wait_for("only the expected Workshops to exist", lambda: workshops(world) == set(names), 30)
    recorder.assert_one_each(*names)


def until_reported(reports, changes):
    """Waits until each of these event streams has reported all these changes: (name, state)."""
    wait_for(f"each replica to report {changes}", lambda: all(changes <= report for report in reports), 30)


@pytest.fixture(autouse=True)
def end_all(world):
    """Ends all workshops after each test."""
    yield
    names = list(world.launcher.instances())
    for name in names:
        world.end(name)
    for name in names:
        world.until(name, "terminated")
    kinds = ("workshops", "pods", "services")
    wait_for("all objects to be deleted", lambda: not any(map(world.objects, kinds)), 30)


def test_launches_on_all_replicas_create_one_workshop_each(world, template, replicas):
    """Each instance is one Workshop, independent of the replica that accepted the launch; each replica reports its
    changes."""
    with ObjectRecorder(world) as recorder, contextlib.ExitStack() as streams:
        told = [streams.enter_context(Events(replica)).told for replica in replicas]
        names = [world.launch(template, ADMIN, replicas[number % 3]) for number in range(9)]
        assert_consistent(world, recorder, names)
        # A replica polls the changes of the others, so it reports a state only if the state lasts.
        until_reported(told, {(name, "running") for name in names})
        status, _, extended = replicas[1].request("POST", f"/instances/{names[0]}/extend", body={})
        assert status == 200
        for replica in replicas:
            assert parse_time(world.instance(names[0], replica)["expires_at"]) == parse_time(extended["expires_at"])
        status, _, _ = replicas[2].request("DELETE", f"/instances/{names[0]}")
        assert status == 202
        world.until(names[0], "terminated")
        assert_consistent(world, recorder, names[1:])
        until_reported(told, {(names[0], "terminated")})


def test_killed_replica_loses_no_workshop(world, template, replicas):
    """Other replicas continue the work of the killed one, and it works again after its restart."""
    *others, victim = replicas
    with ObjectRecorder(world) as recorder:
        before = world.launch(template, ADMIN, victim)
        names = [before, *(world.launch(template, ADMIN, launcher) for launcher in [victim, *others])]
        victim.kill()
        ended = names.pop()
        world.end(ended)
        names += [world.launch(template, ADMIN, launcher) for launcher in others]
        world.until(ended, "terminated")
        assert_consistent(world, recorder, names)
        victim.start()
        names.append(world.launch(template, ADMIN, victim))
        assert_consistent(world, recorder, names)


def test_rolling_restart_loses_no_launch(world, template, replicas):
    """Each replica stops and starts in turn during launches; a client that meets a stopping replica retries."""
    promised, over = [], threading.Event()

    def launch_on():
        for number in itertools.count():
            if over.is_set():
                return
            promised.append(launch_somewhere(replicas, template, f"roll-{number}", number))
            over.wait(0.3)

    with ObjectRecorder(world) as recorder:
        crowd = threading.Thread(target=launch_on)
        crowd.start()
        try:
            for replica in replicas:
                so_far = len(promised)
                replica.stop()
                replica.start()
                wait_for("a new launch", lambda so_far=so_far: len(promised) > so_far, 20)
        finally:
            over.set()
            crowd.join()
        assert all(promised), promised
        assert_consistent(world, recorder, promised)


def launch_somewhere(replicas, template, key, first):
    """Tries one replica after the other until one answers; returns the name."""
    for attempt in range(60):
        with contextlib.suppress(OSError, http.client.HTTPException):
            replica = replicas[(first + attempt) % len(replicas)]
            path, headers = f"/templates/{template}/launch", {"Idempotency-Key": key}
            status, _, body = replica.request("POST", path, body={}, headers=headers)
            assert status in (200, 201), (status, body)
            return body["k8s_name"]
    return None


class Balancer:
    """A load balancer: sends each request to a launcher that was recently ready."""

    def __init__(self, launchers):
        self.launchers, self.turn = launchers, 0
        self.ready, self.over = set(), threading.Event()
        self.watcher = threading.Thread(target=self._watch)

    def __enter__(self):
        self.watcher.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.watcher.join()

    def _watch(self):
        while not self.over.wait(0.05):
            self.ready = {launcher for launcher in self.launchers if self._is_ready(launcher)}

    @staticmethod
    def _is_ready(launcher):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return exchange(launcher.telemetry_port, "GET", "/readyz", timeout=1)[0] == 200
        return False

    def request(self, *words, **options):
        """Sends a request to the next ready launcher."""
        self.turn += 1
        ready = [launcher for launcher in self.launchers if launcher in self.ready]
        return ready[self.turn % len(ready)].request(*words, **options)


def test_rolling_restart_fails_no_request(world, template):
    """Each replica reports that it is not ready before it stops listening, so clients of a load balancer see no
    failure."""
    launchers = [world.new_launcher(SERVICE_SHUTDOWN_DELAY=str(2 * PATIENCE)) for _ in range(3)]
    for launcher in launchers:
        launcher.start()
    asked, promised, over = 0, [], threading.Event()
    with ObjectRecorder(world) as recorder, Balancer(launchers) as balancer:
        wait_for("all replicas to be ready", lambda: len(balancer.ready) == 3, 20)

        def send_requests():
            nonlocal asked
            while not over.is_set():
                if len(promised) < 10 and asked % 20 == 0:
                    status, _, body = balancer.request("POST", f"/templates/{template}/launch", body={})
                    assert status == 201, (status, body)
                    promised.append(body["k8s_name"])
                status, _, body = balancer.request("GET", "/instances/")
                assert status == 200, (status, body)
                asked += 1

        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            going = threads.submit(send_requests)
            try:
                for launcher in launchers:
                    so_far = asked
                    launcher.stop()
                    launcher.start()
                    wait_for("the launcher to be ready again", lambda launcher=launcher: launcher in balancer.ready, 20)
                    wait_for("requests to continue", lambda so_far=so_far: asked > so_far or going.done(), 20)
            finally:
                over.set()
            going.result()
        assert asked > 50 and promised
        assert_consistent(world, recorder, promised)
    for launcher in launchers:
        launcher.stop()


class Killed:
    """A launcher that is killed repeatedly, and the launches and terminations that it confirmed."""

    def __init__(self, world, template, recorder, rng):
        self.world, self.recorder, self.rng = world, recorder, rng
        self.promises = Promises(template)

    def round(self, number):
        """Launches some, ends some, kills the launcher meanwhile, restarts it, and checks the confirmed requests."""
        live = list(self.world.launcher.instances())
        keys = [f"round-{number}-{index}" for index in range(LAUNCHES_A_ROUND)]
        ending = self.rng.sample(live, len(live) // 2)
        self.promises.kill_during_requests(self.world.launcher, keys, ending, self.rng, LATEST_KILL_SECONDS)
        self.world.launcher.start()
        for key in keys:
            self.promises.launch(self.world.launcher, key)
        self.check()

    def check(self):
        """Waits until no row is in transition, then compares confirmed requests, rows and Workshops."""
        every = wait_for("all rows to settle", self.quiet_rows, 60)
        self.promises.check(every)
        mine = {name: every[name] for name in self.promises.names.values()}
        running = {name for name, row in mine.items() if row["state"] == "running"}
        # The API server may execute a call of the killed launcher late. The new launcher deletes the orphaned Workshop.
        wait_for("only the expected Workshops to exist", lambda: workshops(self.world) == running, 30)
        self.recorder.assert_one_each(*running)
        for name in mine.keys() - running:
            counts = {kind: len(uids) for kind, uids in self.recorder.of(name).items()}
            assert max(counts.values()) <= 1, f"{name} had more than one workload: {counts}"

    def quiet_rows(self):
        every = self.world.launcher.instances("all")
        return every if {row["state"] for row in every.values()} <= QUIET else None


def test_killed_launcher_loses_no_accepted_launch(world, template):
    seed = int(os.environ.get("REPLICAS_SEED") or random.randrange(2**32))
    print(f"REPLICAS_SEED={seed} repeats these moments")
    with ObjectRecorder(world) as recorder:
        killed = Killed(world, template, recorder, random.Random(seed))
        for number in range(ROUNDS):
            killed.round(number)
        assert len(killed.promises.names) == ROUNDS * LAUNCHES_A_ROUND
