"""The operator's costs of thousands of Workshops on fake nodes."""

import concurrent.futures
import json
import subprocess
import sys
import threading
import time

import door
from bare import PARALLEL
from kube import PATHS, Timeline
from stage import Stage
from usage import Usage
from common.table import percentile
from world import ALICE, APP, WORKSHOP_DOMAIN, define_workshops

SECONDS = 3600
PODS_OF_A_NODE = 500


class OperatorAlone(Stage):
    """A namespace with an operator and no launcher: Workshops are applied by hand."""

    def __enter__(self):
        define_workshops()
        self.make_namespace(self.namespace)
        try:
            self.operator = self.new_operator()
            self.operator.start()
        except BaseException:
            self.__exit__()
            raise
        return self


def name_of(number):
    return f"many-{number:05}"


def workshop(number):
    spec = {
        "owner": ALICE,
        "image": APP["image"],
        "appType": "custom",
        "port": APP["port"],
        "args": APP["args"],
        "resources": {"cpuRequest": "5m", "cpuLimit": "1", "memoryRequest": "16Mi", "memoryLimit": "64Mi"},
        "securityProfile": "restricted",
        "lifetimeSeconds": 28800,
    }
    metadata = {"name": name_of(number), "labels": {"app": "workshop", "managed-by": "workshop-launcher"}}
    return {"apiVersion": "workshoplauncher.dev/v1alpha1", "kind": "Workshop", "metadata": metadata, "spec": spec}


def reconciles(operator):
    """Returns the histogram of the reconciles so far: [(upper bound, count up to this bound)]."""
    prefix = 'operator_reconcile_seconds_bucket{le="'
    buckets = [(name[len(prefix) : -2], count) for name, count in operator.metrics().items() if name.startswith(prefix)]
    return sorted((float(bound), count) for bound, count in buckets)


def between(before, after):
    return [(bound, count - earlier) for (bound, count), (_, earlier) in zip(after, before, strict=True)]


def quantile(histogram, part):
    """Returns a quantile in milliseconds, assuming an even distribution within a bucket."""
    wanted = histogram[-1][1] * part
    low, below = 0.0, 0.0
    for bound, count in histogram:
        if count >= wanted and count > below:
            return (low + (min(bound, 30) - low) * (wanted - below) / (count - below)) * 1000
        low, below = bound, count
    return 0.0


def apply(stage, count):
    """Starts one `kubectl apply` of this many Workshops, in the background."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [workshop(number) for number in range(count)]})
    command = ["kubectl", "--namespace", stage.namespace, "apply", "--filename", "-"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL)
    threading.Thread(target=lambda: (process.stdin.write(text), process.stdin.close()), daemon=True).start()
    return process


def create(kube, stage, usage, count):
    """Creates the Workshops and waits until all run; yields rows of the table."""
    before, cpu = reconciles(stage.operator), usage.cpu()
    with Timeline(kube, stage.namespace) as timeline:
        began = time.perf_counter()
        applying = apply(stage, count)
        applied = timeline.until("workshop made", count, SECONDS) - began
        yield f"kubectl had applied {count} Workshops after", f"{applied:.1f} s"
        yield "all pods made after", f"{timeline.until('pod made', count, SECONDS) - began:.1f} s"
        running = timeline.until("workshop Running", count, SECONDS) - began
        yield "all Running after; a Workshop behind its pod by", behind(timeline, running)
        if applying.wait() != 0:
            sys.exit("kubectl apply failed")
    histogram = between(before, reconciles(stage.operator))
    quantiles = f"p50 {quantile(histogram, 0.5):.1f} ms, p99 {quantile(histogram, 0.99):.0f} ms"
    yield "reconciles", f"{histogram[-1][1]:.0f}, {quantiles}"
    yield "the operator's CPU time", f"{usage.cpu() - cpu:.1f} s"
    yield "its RSS then, and at its highest", f"{usage.field('VmRSS'):.1f} MiB, {usage.field('VmHWM'):.1f} MiB"


def behind(timeline, running):
    """Returns the time until all Workshops ran, and the delay from a ready pod to the phase Running of its Workshop."""
    ready = timeline.seen["pod Ready"]
    lags = [at - ready[name] for name, at in timeline.seen["workshop Running"].items() if name in ready]
    return f"{running:.1f} s, p50 {percentile(lags, 50) * 1000:.0f} ms, p99 {percentile(lags, 99) * 1000:.0f} ms"


def rest(stage, usage, seconds):
    """Measures while nothing changes; yields rows of the table."""
    before, cpu, memory = reconciles(stage.operator), usage.cpu(), usage.field("VmRSS")
    sampled = len(usage.memory)
    time.sleep(seconds)
    used = (usage.cpu() - cpu) / seconds * 100
    samples = usage.memory[sampled:]
    yield f"at rest for {seconds} s: CPU", f"{used:.2f} % of one core"
    levels = ", ".join(f"{level:.1f}" for level in (memory, min(samples), max(samples), samples[-1]))
    yield "its RSS before, lowest, highest, after", f"{levels} MiB"
    yield "reconciles meanwhile", f"{between(before, reconciles(stage.operator))[-1][1]:.0f}"


def delete(kube, stage, usage, names):
    """Deletes these Workshops, and waits until they and everything below them are gone; yields rows of the table.

    Deletes them in the foreground and with several requests at a time, as the launcher does: `kubectl delete` sends five
    per second.
    """
    path = f"/apis/workshoplauncher.dev/v1alpha1/namespaces/{stage.namespace}/workshops"
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Foreground"}
    with Timeline(kube, stage.namespace, tuple(PATHS), statuses=False) as timeline:
        timeline.until_there(len(names), SECONDS)
        began, cpu = time.perf_counter(), usage.cpu()
        with concurrent.futures.ThreadPoolExecutor(PARALLEL) as threads:
            list(threads.map(lambda name: kube.request("DELETE", f"{path}/{name}", options), names))
        workshops = timeline.until("workshop gone", len(names), SECONDS) - began
        everything = max(timeline.until(f"{kind} gone", len(names), SECONDS) for kind in PATHS) - began
    yield f"{len(names)} deleted: all Workshops gone after", f"{workshops:.1f} s"
    yield "everything below them gone after", f"{everything:.1f} s, {len(names) / everything:.1f} per second"
    yield "the operator's CPU time for it", f"{usage.cpu() - cpu:.1f} s"
    yield "its RSS then, and at its highest ever", f"{usage.field('VmRSS'):.1f} MiB, {usage.field('VmHWM'):.1f} MiB"


def run(kube, count, seconds, traefik):
    """Measures this many Workshops. `traefik` is a Traefik program to measure beside them, or None."""
    nodes = kube.request("GET", "/api/v1/nodes?labelSelector=type%3Dfake")["items"]
    if len(nodes) * PODS_OF_A_NODE < count:
        sys.exit(f"too few fake nodes: e2e/cluster/fake-nodes.sh {-(-count // PODS_OF_A_NODE) + 1}")
    print(f"## {count} Workshops on {len(nodes)} fake nodes\n\n| | |\n|---|---|")
    with OperatorAlone("bench-fake") as stage, Usage(stage.operator.process.pid) as usage:
        say([("the operator's RSS without any", f"{usage.field('VmRSS'):.1f} MiB")])
        say(create(kube, stage, usage, count))
        say(rest(stage, usage, seconds))
        names = [name_of(number) for number in range(count)]
        if traefik:
            say(door.measure(kube, stage, traefik, f"{names[-1]}.{WORKSHOP_DOMAIN}", seconds))
        say(delete(kube, stage, usage, names))


def say(rows):
    """Prints each row of the table as soon as it is measured, because a run takes long."""
    for what, figure in rows:
        print(f"| {what} | {figure} |", flush=True)
