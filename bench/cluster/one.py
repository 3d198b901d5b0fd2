"""One launch until it runs, compared with bare pods, in turns."""

import http.client
import statistics
import time

from bare import Model, delete_all
from kube import Timeline
from stage import Events, Stage, bare_namespace
from world import ALICE

from common.table import table

SECONDS = 90
# Marks of a launch in chronological order.
MARKS = (
    "answered", "workshop made", "pod made", "pod scheduled", "containers started", "pod Ready",
    "workshop Running", "row running", "first answer",
)


def first_answer(address, began, email):
    """Requests the Service every 10 ms until it answers; returns the time of the answer."""
    while time.perf_counter() < began + SECONDS:
        connection = http.client.HTTPConnection(address, 80, timeout=0.25)
        try:
            connection.request("GET", "/", headers={"X-Auth-Request-Email": email})
            if connection.getresponse().status == 200:
                return time.perf_counter()
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.01)
    raise RuntimeError(f"no answer from {address}")


def ours(kube, stage, template):
    """Measures one launch through the API: {mark: seconds since the request}."""
    with Timeline(kube, stage.namespace) as timeline, Events(stage.launcher, timeline):
        began = time.perf_counter()
        name = stage.launch(template, ALICE)
        timeline.note("answered", name, time.perf_counter())
        timeline.until("row running", 1, SECONDS)
        address = kube.request("GET", f"/api/v1/namespaces/{stage.namespace}/services/{name}")["spec"]["clusterIP"]
        timeline.note("first answer", name, first_answer(address, began, ALICE))
        assert stage.instance(name)["state"] == "running"
        stage.end(name, ALICE)
        timeline.until_empty(SECONDS)
    return {mark: timeline.seen[mark][name] - began for mark in MARKS}


def bare(kube, namespace, make):
    """Measures one bare workload, created by `make`: {mark: seconds since the first request}."""
    with Timeline(kube, namespace, ("pod", "service")) as timeline:
        began = time.perf_counter()
        address = make()
        timeline.until("pod Ready", 1, SECONDS)
        if address:
            timeline.note("first answer", "it", first_answer(address, began, ALICE))
        delete_all(namespace)
        timeline.until_empty(SECONDS)
    return {mark: min(timeline.seen[mark].values()) - began for mark in MARKS if timeline.seen.get(mark)}


def ways(kube, stage, namespace, model, template):
    """Returns {name: function that measures it once}."""

    def pod():
        kube.create("pod", namespace, model.bare_pod("it", 1))

    def pod_and_service(containers):
        kube.create("pod", namespace, model.bare_pod("it", containers))
        service = kube.create("service", namespace, model.service("it", containers))
        return service["spec"]["clusterIP"]

    return {
        "bare pod, the app alone": lambda: bare(kube, namespace, pod),
        "bare pod and Service, the app alone": lambda: bare(kube, namespace, lambda: pod_and_service(1)),
        "bare pod and Service, app and sidecar": lambda: bare(kube, namespace, lambda: pod_and_service(2)),
        "launch": lambda: ours(kube, stage, template),
    }


def spread(values):
    return f"{statistics.median(values):.2f} s ({min(values):.2f}–{max(values):.2f})" if values else ""


def run(kube, rounds):
    with Stage("bench-one") as stage, bare_namespace() as namespace:
        template = stage.template()
        name = stage.launch(template, ALICE)
        stage.until(name, "running")
        model = Model(kube, stage.namespace, name)
        stage.end(name, ALICE)
        stage.until(name, "terminated")
        taken = {}
        for _ in range(rounds):
            for what, once in ways(kube, stage, namespace, model, template).items():
                taken.setdefault(what, []).append(once())
    report(taken, rounds)


def report(taken, rounds):
    print(f"## One launch, {rounds} rounds in turns: median (lowest–highest)\n")
    ready = {what: [one.get("row running", one["pod Ready"]) for one in all_] for what, all_ in taken.items()}
    answers = {what: [one["first answer"] for one in all_ if "first answer" in one] for what, all_ in taken.items()}
    launched = statistics.median(ready["launch"])
    rows = [
        (what, spread(ready[what]), f"{launched - statistics.median(ready[what]):+.2f} s", spread(answers[what]))
        for what in taken
    ]
    table(("", "request to ready", "a launch takes more", "request to first answer of the Service"), rows)
    steps = []
    for mark in MARKS:
        cells = [spread([one[mark] for one in all_ if mark in one]) for all_ in taken.values()]
        steps.append((mark, *cells))
    table(("since the request", *taken), steps)
