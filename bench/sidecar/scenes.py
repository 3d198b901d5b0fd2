"""Measurements of the proxies, in interleaved rounds: requests, latency, echoes, large bodies."""

import sys
import time
from collections import defaultdict

from common import tools
from common.machine import AROUND, answers, cpu_seconds, forget_peak, free_port, load_average, memory, peak

from . import load, proxies

CONNECTIONS = (1, 10, 50, 256)
RATES = (1_000, 5_000)
MESSAGES = {"64 B": 64, "64 KB": 65_536}
GIB = 1 << 30
# Maximum rounds of the measurement of large bodies, because each round takes several seconds.
BODY_ROUNDS = 3


class Scene:
    """`with Scene(started, all, app, place) as scene`: every proxy in front of one app."""

    def __init__(self, started, each, app, place):
        self.running = [proxies.put(started, proxy, app, place) for proxy in each]
        self.started, self.app = started, app
        # {(measurement, name of the proxy): figures of all rounds}.
        self.figures = defaultdict(list)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in self.running:
            self.started.end(each.process)

    def note(self, what, name, value):
        self.figures[what, name].append(value)

    def rounds(self, count, measure):
        """Calls measure(running, round) for each proxy in each round, beginning with another proxy each time. Round 0
        is warm-up and is dropped."""
        for number in range(count + 1):
            first = number % len(self.running)
            for each in self.running[first:] + self.running[:first]:
                print(f"  round {number} of {count}: {each.proxy.name}      ", end="\r", file=sys.stderr, flush=True)
                measure(each, number)
            if number == 0:
                self.figures.clear()
        print(" " * 60, end="\r", file=sys.stderr)


def nginx_app(started, place):
    port = free_port()
    place.mkdir(parents=True)
    command = proxies.nginx(place, "nginx-app.conf", port)
    started.start(command, AROUND, lambda: answers(port) == 200)
    return port


def large_app(started):
    port = free_port()
    started.start([tools.LOAD, "app", f"-port={port}"], AROUND, lambda: answers(port) == 200)
    return port


def requests(scene, options):
    """Measures rates and CPU at several numbers of connections, refusals, and a connection for each request."""
    stranger = (proxies.IDENTITY.replace("alice", "mallory"), *load.BROWSER)
    close = (proxies.IDENTITY, *load.BROWSER, "Connection: close")

    def of(each, what, connections, seconds, **how):
        before, began = cpu_seconds(each.pid), time.perf_counter()
        count, rate = load.wrk(each.port, connections, seconds, **how)
        spent = cpu_seconds(each.pid) - before
        scene.note(("rate", what), each.proxy.name, rate)
        scene.note(("cpu", what), each.proxy.name, spent / count * 1e6)
        scene.note(("busy", what), each.proxy.name, 100 * spent / (time.perf_counter() - began))

    def measure(each, number):
        seconds = options.seconds if number else 1
        for connections in CONNECTIONS:
            of(each, connections, connections, seconds)
        of(each, "new", 10, seconds, lines=close)
        if each.proxy.checks:
            of(each, "403", 50, seconds, lines=stranger, refused=True)

    print(f"\n{load_average()}\n")
    scene.rounds(options.rounds, measure)
    for each in scene.running:
        scene.note("after load", each.proxy.name, memory(each.pid))


def latency(scene, options):
    """Measures the latency that a proxy adds to the app's own, at rates far below its limit."""
    alone = {}

    def measure(each, number):
        for rate in RATES:
            seconds = options.seconds if number else 1
            if (rate, number) not in alone:
                alone[rate, number] = load.at_rate(scene.app, rate, seconds)
            bare, through = alone[rate, number], load.at_rate(each.port, rate, seconds)
            for which, percent in enumerate((50, 99)):
                if bare and through:
                    scene.note((rate, percent), each.proxy.name, through[which] - bare[which])
                    scene.note((rate, percent, "app"), "the app alone", bare[which])

    print(f"\n{load_average()}\n")
    scene.rounds(options.rounds, measure)


def echoes(scene, options):
    def measure(each, number):
        for name, size in MESSAGES.items():
            before = cpu_seconds(each.pid)
            seconds = options.seconds if number else 1
            said = load.ours("echo", each.port, "-connections=16", f"-size={size}", f"-for={seconds}s")
            if said is None:
                continue
            scene.note(("rate", name), each.proxy.name, said["requests"] / said["seconds"])
            scene.note(("cpu", name), each.proxy.name, (cpu_seconds(each.pid) - before) / said["requests"] * 1e6)
            scene.note(("p99", name), each.proxy.name, said["p99"])

    print(f"\n{load_average()}\n")
    scene.rounds(options.rounds, measure)


def bodies(scene, options):
    def measure(each, number):
        for way in ("up", "down"):
            size = options.body if number else 64 << 20
            forget_peak(each.pid)
            before = cpu_seconds(each.pid)
            said = load.ours(way, each.port, f"-bytes={size}")
            if said is None:
                continue
            scene.note((way, "rate"), each.proxy.name, size / 2**20 / said["seconds"])
            scene.note((way, "cpu"), each.proxy.name, (cpu_seconds(each.pid) - before) * GIB / size)
            scene.note((way, "peak"), each.proxy.name, peak(each.pid))

    print(f"\n{load_average()}\n")
    scene.rounds(min(options.rounds, BODY_ROUNDS), measure)
