"""Response times of pages: from the request to the last byte, on one connection and on several at once."""

import sys
import threading
import time

from stage import ADMIN, RUNS, WAITS, Stage
from wire import Line, request

from common.table import percentile, table

AT_ONCE = 8
ROUNDS = 5
OWNERS = 100
HOLDER = "person000@example.org"


def run(chosen):
    count = chosen.workshops
    owners = [f"person{number % OWNERS:03}@example.org" for number in range(count)]
    most = owners.count(HOLDER)
    limits = {"SERVICE_MAX_INSTANCES_PER_USER": str(most), "SERVICE_MAX_CONCURRENT_STARTS": "4",
              "SERVICE_LAUNCH_BURST": str(most)}
    of_people = f"of {len(set(owners))} people, {most} each"
    with Stage(program=chosen.program, **limits) as stage:
        fill(stage, owners, RUNS)
        stage.wait_until_running(count)
        report(f"{count} running, {of_people}", stage, chosen.requests, [HOLDER, ADMIN])
    with Stage(program=chosen.program, **limits) as stage:
        fill(stage, [ADMIN] * count, RUNS)
        stage.wait_until_running(count)
        report(f"{count} running, all the admin's own", stage, chosen.requests, [ADMIN])
    with Stage(program=chosen.program, **limits | {"SERVICE_MAX_CONCURRENT_STARTS": "1"}) as stage:
        fill(stage, owners, WAITS)
        report(f"1 starting and {count - 1} in line, {of_people}", stage, chosen.requests, [HOLDER, ADMIN])


def fill(stage, owners, command):
    """Creates four entries in the catalog, and launches a workshop of the first entry for each owner."""
    template = stage.template(command=command, lifetime_seconds=7200)
    for name in ("Statistics", "Files", "Notebooks"):
        stage.template(name=name, command=command)
    stage.launch(template, owners)


def report(title, stage, count, people):
    """Measures the pages of these people in turns, and prints a table."""
    with Line(stage.port, ADMIN) as line:
        style = style_of(line.get("/")[1])
    asked = [
        ("floor: the style sheet", style, ADMIN),
        ("floor: /api/v1/me", "/api/v1/me", ADMIN),
        ("/ of a person", "/", HOLDER),
        ("/fragments/workshops of a person", "/fragments/workshops", HOLDER),
        ("/ of the admin", "/", ADMIN),
        ("/fragments/workshops of the admin", "/fragments/workshops", ADMIN),
        ("/admin/instances", "/admin/instances", ADMIN),
    ]
    pages = {name: Page(stage, path, person) for name, path, person in asked if person in people}
    for _ in range(ROUNDS):
        for page in pages.values():
            page.measure(count // ROUNDS)
    heads = (title, "kB", "p50", "p99", f"p50, {AT_ONCE} at once", f"p99, {AT_ONCE} at once", "its CPU time")
    table(heads, [(name, *page.row()) for name, page in pages.items()])


def style_of(page):
    """Returns the path of the page's style sheet."""
    return page.split(b'rel="stylesheet" href="')[1].split(b'"')[0].decode()


class Page:
    """One path requested by one person, and its figures."""

    def __init__(self, stage, path, person):
        self.stage, self.path = stage, path
        self.message = request("GET", path, person)
        self.alone, self.together, self.cpu_seconds = [], [], 0.0
        with Line(stage.port) as line:
            self.bytes = len(self.asked(line)[1])

    def asked(self, line):
        """Returns the milliseconds until one answer was complete, and its body."""
        started = time.perf_counter()
        status, body = line.exchange(self.message)
        took = (time.perf_counter() - started) * 1000
        if status != 200:
            sys.exit(f"GET {self.path} answered {status}")
        return took, body

    def measure(self, count):
        before = self.stage.cpu_seconds()
        with Line(self.stage.port) as line:
            self.alone += [self.asked(line)[0] for _ in range(count)]
        self.cpu_seconds += self.stage.cpu_seconds() - before
        shares = [[] for _ in range(AT_ONCE)]
        threads = [threading.Thread(target=self.work, args=(share, count // AT_ONCE)) for share in shares]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        measured = [took for share in shares for took in share]
        if len(measured) != count // AT_ONCE * AT_ONCE:
            sys.exit(f"some GET {self.path} got no answer")
        self.together += measured

    def work(self, share, count):
        with Line(self.stage.port) as line:
            for _ in range(count):
                share.append(self.asked(line)[0])

    def row(self):
        alone = [f"{percentile(self.alone, percent):.2f} ms" for percent in (50, 99)]
        together = [f"{percentile(self.together, percent):.2f} ms" for percent in (50, 99)]
        cpu = f"{self.cpu_seconds / len(self.alone) * 1000:.2f} ms"
        return [f"{self.bytes / 1000:.1f}", *alone, *together, cpu]
