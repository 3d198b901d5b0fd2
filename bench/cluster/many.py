"""Many launches at once, compared with as many bare workloads applied at once."""

import concurrent.futures
import threading
import time

from bare import PARALLEL, Model, apply, create, delete_all, names
from kube import Timeline
from stage import RESOURCES, Events, Stage, bare_namespace, check_room
from usage import machine_cpu, until_idle
from common.table import percentile, table
from world import ALICE

from harness import ADMIN

SECONDS = 900
# The kinds that are watched during the compared rounds, for launches and bare workloads alike: a watch takes CPU time.
WATCHED = ("pod", "service")
MARKS = (
    "workshop made", "pod made", "pod scheduled", "pod Ready", "workshop Running", "row running",
)


class Reads(threading.Thread):
    """Repeats the reads of users' pages during the launches, {path: [seconds]}, and checks the queue positions in each
    list."""

    PATHS = {
        "GET /instances/, a user": ("/instances/", "student0@example.org"),
        "GET /instances/, all": ("/instances/?limit=500", ADMIN),
    }

    def __init__(self, stage, name, owner):
        super().__init__(daemon=True)
        self.stage = stage
        self.paths = self.PATHS | {"GET /instances/{name}": (f"/instances/{name}", owner)}
        self.seconds = {what: [] for what in self.paths}
        self.wrong = []
        self.longest_queue = 0
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(0.1):
            for what, (path, email) in self.paths.items():
                began = time.perf_counter()
                try:
                    status, _, body = self.stage.launcher.request("GET", path, email)
                except OSError as error:
                    self.wrong.append(f"{what}: {error}")
                    continue
                self.seconds[what].append(time.perf_counter() - began)
                self.look(what, status, body)

    def look(self, what, status, body):
        if status != 200:
            self.wrong.append(f"{what}: {status}")
        elif isinstance(body, list) and len(body) > 1:
            positions = sorted(one["queue_position"] for one in body if one["state"] == "queued")
            self.longest_queue = max(self.longest_queue, len(positions))
            if positions != list(range(1, len(positions) + 1)):
                self.wrong.append(f"queue positions: {positions}")

    def stop(self):
        self.over.set()
        self.join()


def launch_all(stage, template, count):
    """Launches for this many users at the same moment; returns the time of that moment, and {name: owner}."""
    together = threading.Barrier(count + 1)

    def one(number):
        email = f"student{number}@example.org"
        together.wait()
        return stage.launch(template, email), email

    with concurrent.futures.ThreadPoolExecutor(count) as threads:
        launches = [threads.submit(one, number) for number in range(count)]
        together.wait()
        began = time.perf_counter()
        owners = dict(launch.result() for launch in launches)
    return began, owners


def ours(kube, stage, template, count, with_reads):
    """Measures many launches: seconds until all run, CPU seconds of this machine until then, {mark: (first, last)}, reads,
    and seconds until all are gone. The reads, and a watch of the Workshops, take CPU time of the launches: figures with
    them are not comparable with bare workloads."""
    kinds = (*WATCHED, "workshop") if with_reads else WATCHED
    with Timeline(kube, stage.namespace, kinds) as timeline, Events(stage.launcher, timeline):
        # The reads need an instance that runs already. The figures exclude it.
        earlier = [stage.launch(template, ADMIN)] if with_reads else []
        for name in earlier:
            stage.until(name, "running")
            timeline.until("pod Ready", 1, SECONDS)
        reads = Reads(stage, earlier[0], ADMIN) if with_reads else None
        if reads:
            reads.start()
        cpu = machine_cpu()
        began, owners = launch_all(stage, template, count)
        answered = time.perf_counter()
        expected = [*earlier, *owners]
        timeline.until("row running", len(expected), SECONDS)
        cpu = machine_cpu() - cpu
        if reads:
            reads.stop()
        marks = spans(timeline, began, owners) | {"answered": (None, answered - began)}
        check(kube, stage, expected)
        gone = until_gone(timeline, lambda: end_all(stage, expected), len(expected))
    return {"seconds": marks["row running"][1], "cpu": cpu, "marks": marks, "reads": reads, "gone": gone}


def spans(timeline, began, names_):
    """Returns {mark: (time of the first workload, time of the last)}."""
    spans_ = {}
    for mark in MARKS:
        times = [timeline.seen[mark][name] - began for name in names_ if name in timeline.seen.get(mark, {})]
        if times:
            spans_[mark] = (min(times), max(times))
    return spans_


def check(kube, stage, expected):
    """Fails if a launch was lost or duplicated."""
    _, _, listed = stage.launcher.request("GET", "/instances/?limit=500")
    assert sorted(one["k8s_name"] for one in listed) == sorted(expected)
    assert all(one["state"] == "running" for one in listed)
    for kind in ("workshop", "pod", "service"):
        assert sorted(one["metadata"]["name"] for one in kube.items(kind, stage.namespace)) == sorted(expected), kind


def end_all(stage, names_):
    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        list(threads.map(stage.end, names_))


def bare(kube, namespace, model, count, containers, at_a_time, workload=Model.bare_pod):
    """Measures as many bare workloads with their Services, created by one `kubectl apply` or by several requests at a
    time."""
    makers = (workload, Model.service)
    objects = [make(model, name, containers) for name in names(count) for make in makers]
    with Timeline(kube, namespace, WATCHED) as timeline:
        began, cpu = time.perf_counter(), machine_cpu()
        if at_a_time == 1:
            apply(namespace, objects)
        else:
            create(kube, namespace, objects)
        answered = time.perf_counter() - began
        last = timeline.until("pod Ready", count, SECONDS)
        cpu = machine_cpu() - cpu
        marks = spans(timeline, began, names(count)) | {"answered": (None, answered)}
        gone = until_gone(timeline, lambda: delete_all(namespace))
    return {"seconds": last - began, "cpu": cpu, "marks": marks, "gone": gone}


def until_gone(timeline, end, rows=0):
    """Ends everything; returns (seconds until the last pod was gone, seconds until everything was gone). `rows` instances
    must end: a row is `terminated` when its Workshop and all its objects are gone."""
    began = time.perf_counter()
    end()
    if rows:
        timeline.until("row terminated", rows, SECONDS)
    timeline.until_empty(SECONDS)
    return max(timeline.seen["pod gone"].values()) - began, time.perf_counter() - began


def measured(way):
    until_idle()
    return way()


def run(kube, count, rounds):
    with Stage("bench-many") as stage, bare_namespace() as namespace:
        template = stage.template(resources=RESOURCES)
        name = stage.launch(template, ALICE)
        stage.until(name, "running")
        model = Model(kube, stage.namespace, name)
        stage.end(name, ALICE)
        stage.until(name, "terminated")
        check_room(kube, model, count)
        ways = {
            "bare, the app alone, kubectl": lambda: bare(kube, namespace, model, count, 1, 1),
            "launches": lambda: ours(kube, stage, template, count, with_reads=False),
            "bare, app and sidecar, kubectl": lambda: bare(kube, namespace, model, count, 2, 1),
            f"the same, {PARALLEL} requests at a time": lambda: bare(kube, namespace, model, count, 2, PARALLEL),
            "Deployments, app and sidecar, kubectl": lambda: bare(
                kube, namespace, model, count, 2, 1, Model.deployment
            ),
        }
        order = [*ways]
        for number in range(rounds):
            taken = {way: measured(ways[way]) for way in order}
            report({way: taken[way] for way in ways}, count, number + 1)
            # Each round begins with another way, so that none is always after the same one.
            order.append(order.pop(0))
        until_idle()
        report_reads(ours(kube, stage, template, count, with_reads=True), count)


def report(taken, count, number):
    print(f"## {count} at once, round {number}\n")
    launched = taken["launches"]
    rows = []
    for what, one in taken.items():
        gone = [f"{at:.1f} s" for at in one["gone"]]
        times = f"{launched['seconds'] / one['seconds']:.2f}"
        rows.append((what, f"{one['seconds']:.1f} s", times, f"{one['cpu']:.1f} s", *gone))
    head = ("", "first request to all ready", "launches take, times", "CPU time of this machine until then")
    head = (*head, "deleted to last pod gone", "to all gone")
    table(head, rows)
    steps = [(mark, *(moments(one["marks"].get(mark, ())) for one in taken.values())) for mark in ("answered", *MARKS)]
    table(("first, last, in seconds", *taken), steps)
    print(flush=True)


def report_reads(launched, count):
    print(f"## Reads during {count} launches, all ready after {launched['seconds']:.1f} s\n")
    reads, rows = launched["reads"], []
    for what, seconds in reads.seconds.items():
        figures = (percentile(seconds, 50), percentile(seconds, 99), max(seconds))
        rows.append((what, len(seconds), *(f"{figure * 1000:.1f} ms" for figure in figures)))
    table(("read meanwhile", "times", "p50", "p99", "longest"), rows)
    wrong = reads.wrong or "nothing"
    print(f"Longest queue seen: {reads.longest_queue}. Wrong answers: {wrong}.\n", flush=True)


def moments(times):
    return ", ".join(f"{at:.1f}" for at in times if at is not None)
