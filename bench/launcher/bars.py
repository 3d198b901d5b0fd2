"""Cost of the bars above open workshops: their event streams, and the time until each bar knows of an end."""

import json
import os
import pathlib
import re
import selectors
import signal
import sys
import threading
import time

from common import tools
from common.machine import load_average, tree
from common.table import cell, percentile, table

from .growth import PATIENCE, cpu_seconds_of, settle
from .program import ADMIN, Launcher, template

BARS = 300
REST_SECONDS = 20
CRASHES = 20


class Bar:
    """The event stream of the bar of one workshop."""

    def __init__(self, launcher, name):
        self.socket = launcher.stream("/_launcher/events", ADMIN | {"Host": f"{name}.localhost:{launcher.port}"})
        self.text, self.crashed, self.ended = b"", None, None

    def read(self):
        """Reads what has arrived. Returns false at the end of the stream."""
        received = self.socket.recv(65536)
        self.text += received
        if self.crashed is None and b'"crash":{' in self.text:
            self.crashed = time.perf_counter()
        if self.ended is None and b"event: ended" in self.text:
            self.ended = time.perf_counter()
        return bool(received)


def read_until(bars, done, what, enough=all):
    """Reads what arrives until `done` holds for all bars, or `enough` of them."""
    deadline = time.monotonic() + PATIENCE
    with selectors.DefaultSelector() as selector:
        for bar in bars:
            selector.register(bar.socket, selectors.EVENT_READ, bar)
        while not enough(map(done, bars)):
            for key, _ in selector.select(1):
                if not key.data.read():
                    selector.unregister(key.fileobj)
            if time.monotonic() > deadline:
                sys.exit(f"not every bar got {what} after {PATIENCE} s")


def crashes(launcher, bars):
    """Kills one app after the other. Returns the seconds until each one's bar knows of it."""
    times = []
    name = f"{tools.LOAD.name}\n"
    apps = [pid for pid in tree(launcher.process.pid) if pathlib.Path(f"/proc/{pid}/comm").read_text() == name]
    for app in apps[:CRASHES]:
        known = sum(bar.crashed is not None for bar in bars)
        began = time.perf_counter()
        os.kill(app, signal.SIGKILL)
        read_until(bars, lambda bar: bar.crashed, "the crash", lambda found: sum(map(bool, found)) > known)
        times.append(max(bar.crashed for bar in bars if bar.crashed) - began)
    return times


def end_all(launcher, names):
    """Ends these workshops as an admin does on the page of all instances."""
    form = [("action", "end"), ("confirmed", "true"), *(("ticked", name) for name in names)]
    answer = launcher.submit("/admin/instances/bulk", form, ADMIN)
    if not re.search(rf"{len(names)} of {len(names)}", answer):
        sys.exit(f"not all workshops were ended: {answer}")


def bars(_):
    print(f"\n## {BARS} open bars on one machine\n\n{load_average()}\n")
    with Launcher(SERVICE_MAX_QUEUED="100000") as launcher:
        chosen = template(launcher, command=[str(tools.LOAD), "stub", "$(PORT)"])
        launch = f"/api/v1/templates/{chosen}/launch"
        names = [json.loads(launcher.request("POST", launch, ADMIN)[1])["k8s_name"] for _ in range(BARS)]
        settle(launcher)
        rest_before, memory_before = at_rest(launcher), launcher.memory()
        streams = [Bar(launcher, name) for name in names]
        read_until(streams, lambda bar: b"\n\n" in bar.text.partition(b"\r\n\r\n")[2], "its first event")
        rest, memory = at_rest(launcher), launcher.memory()
        crashed = crashes(launcher, streams)
        settle(launcher)
        began, ending = time.perf_counter(), threading.Thread(target=end_all, args=(launcher, names))
        ending.start()
        read_until(streams, lambda bar: bar.ended, "the end")
        ending.join()
        times = [bar.ended - began for bar in streams]
    table(("figure", "value"), [
        ("crash of an app to the event that says so, p50; longest, s",
         "; ".join(cell([value]) for value in (percentile(crashed, 50), max(crashed)))),
        ("*End all* to the event `ended`, p50; p99; last, s",
         "; ".join(cell([value]) for value in (percentile(times, 50), percentile(times, 99), max(times)))),
        ("CPU of the launcher for each open bar, % of a core", cell([(rest - rest_before) / BARS])),
        ("memory of the launcher for each open bar (RSS), KiB", cell([(memory[0] - memory_before[0]) * 1024 / BARS])),
    ])


def at_rest(launcher):
    """Returns the CPU time of the launcher alone, in percent of a core."""
    before, began = cpu_seconds_of(launcher), time.monotonic()
    time.sleep(REST_SECONDS)  # pacing: the time of the measurement
    return 100 * (cpu_seconds_of(launcher) - before) / (time.monotonic() - began)
