"""The board of a large class: from a change to the board, actions on all workshops, and the cost of open boards."""

import gzip
import http.client
import json
import random
import socket
import sys
import threading
import time
from datetime import datetime, timedelta, timezone

from common import tools
from common.machine import load_average
from common.table import cell, percentile, table

from .growth import PATIENCE, settle
from .program import ADMIN, Launcher

MEMBERS = 500
CHANGES = 200
BURST_SECONDS = 10
BURST_RATE = 50
BOARDS = 30
# People who join at the same time.
JOINING = 32
TEACHER = {"X-Auth-Request-Email": "teacher@example.org"}


class Board:
    """The event stream of an open board. After each event, `follow` loads the board as the page does."""

    def __init__(self, launcher, room, teacher=TEACHER):
        self.launcher, self.room, self.teacher = launcher, room, teacher
        self.stream = launcher.stream(f"{room}/events", teacher)
        self.stream.settimeout(PATIENCE)
        self.text, self.shown, self.loads, self.changed = b"", "", 0, threading.Condition()
        self.wait()

    def wait(self):
        """Waits for an event."""
        while b"event: class-changed" not in self.text:
            received = self.stream.recv(65536)
            if not received:
                return False
            self.text += received
        self.text = self.text.rpartition(b"event: class-changed")[2]
        return True

    def follow(self):
        """Loads the board after each event, until the stream is closed."""
        connection = http.client.HTTPConnection("127.0.0.1", self.launcher.port)
        while self.wait():
            connection.request("GET", f"{self.room}/board", headers=self.teacher | {"Accept-Encoding": "gzip"})
            page = connection.getresponse().read()
            with self.changed:
                self.shown, self.loads = gzip.decompress(page).decode(), self.loads + 1
                self.changed.notify_all()

    def until(self, text):
        """Waits until the board shows a text."""
        with self.changed:
            if not self.changed.wait_for(lambda: text in self.shown, PATIENCE):
                sys.exit(f"the board did not show {text} in {PATIENCE} s")

    def close(self):
        self.stream.shutdown(socket.SHUT_RDWR)


def post(launcher, path, fields):
    began = time.perf_counter()
    answer = launcher.submit(path, fields, TEACHER)
    return time.perf_counter() - began, answer


def rename(launcher, room, number, name):
    """Changes the name of a member, which the board shows."""
    path = f"/api/v1{room}/members/student{number:03}@example.org"
    status, answer = launcher.request("PUT", path, TEACHER, {"role": "student", "name": name})
    if status != 200:
        sys.exit(f"the member was not renamed: {status} {answer.decode()}")


def from_change_to_board(launcher, room, board):
    """Returns the milliseconds from a change until the board with it has arrived, for changes one after the other."""
    times, draw = [], random.Random(1)
    for number in range(CHANGES):
        # Some changes fall into the 100 ms after the last one, in which the launcher notifies of nothing.
        time.sleep(draw.uniform(0.0, 0.5))  # pacing: the rate of the measured changes
        began = time.perf_counter()
        rename(launcher, room, number % MEMBERS, f"Change {number}.")
        board.until(f"Change {number}.")
        times.append((time.perf_counter() - began) * 1000)
    return times


def burst(launcher, room, board):
    """Returns the loads of the board per second during a burst of changes."""
    before, began, number = board.loads, time.perf_counter(), 0
    while (passed := time.perf_counter() - began) < BURST_SECONDS:
        if number < passed * BURST_RATE:
            rename(launcher, room, number % MEMBERS, f"Burst {number}.")
            number += 1
        else:
            time.sleep(0.002)  # pacing: the rate of the burst
    return number / passed, (board.loads - before) / passed


def classes(_):
    print(f"\n## The board of a class of {MEMBERS}\n\n{load_average()}\n")
    limits = {"SERVICE_MAX_QUEUED": "100000", "SERVICE_MAX_CONCURRENT_STARTS": "50"}
    with Launcher(**limits) as launcher:
        room = create(launcher)
        joined = join(launcher)
        body = {"name": "Exercise", "app_type": "custom", "image": "none", "port": 8000,
                "command": [str(tools.LOAD), "stub", "$(PORT)"]}
        status, answer = launcher.request("POST", f"/api/v1{room}/templates/", TEACHER, body)
        if status != 201:
            sys.exit(f"the template was refused: {status} {answer.decode()}")
        exercise = json.loads(answer)["template_id"]
        launched, _ = post(launcher, f"{room}/launch", [("template_id", exercise)])
        settle(launcher)
        sizes = page_sizes(launcher, room)
        memory_before = launcher.memory()
        boards = [Board(launcher, room) for _ in range(BOARDS)]
        memory = launcher.memory()
        for board in boards:
            board.close()
        board = Board(launcher, room)
        following = threading.Thread(target=board.follow, daemon=True)
        following.start()
        times = from_change_to_board(launcher, room, board)
        rate, loads = burst(launcher, room, board)
        until = datetime.now(timezone.utc) + timedelta(hours=3)
        extended, answer = post(launcher, f"{room}/extend", [("until", until.strftime("%Y-%m-%dT%H:%M:%SZ"))])
        if f'<strong class="figure">{MEMBERS}</strong>' not in answer:
            sys.exit(f"not all workshops were extended: {answer}")
        again, _ = post(launcher, f"{room}/extend", [("until", until.strftime("%Y-%m-%dT%H:%M:%SZ"))])
        ended, _ = post(launcher, f"{room}/end", [])
        board.close()
        following.join()
    table(("figure", "value"), [
        ("from a change to the board with it, p50; p99; longest, ms",
         "; ".join(cell([value]) for value in (percentile(times, 50), percentile(times, 99), max(times)))),
        (f"loads of a board per second, during {cell([rate])} changes per second", cell([loads])),
        ("*Launch for all*; *Extend all*; again; *End all*, s",
         "; ".join(cell([value]) for value in (launched, extended, again, ended))),
        (f"{MEMBERS} people join by the link, s", cell([joined])),
        ("page of the class; only the board, kB as transferred", "; ".join(cell([size]) for size in sizes)),
        ("memory of the launcher for each open board (RSS), KiB", cell([(memory[0] - memory_before[0]) * 1024 / BOARDS])),
    ])


def create(launcher):
    """Creates the class with its students. Returns the path of its page."""
    body = {"name": "Statistics 101", "teachers": [TEACHER["X-Auth-Request-Email"]]}
    status, answer = launcher.request("POST", "/api/v1/classes/", ADMIN, body)
    if status != 201:
        sys.exit(f"the class was refused: {status} {answer.decode()}")
    room = f"/classes/{json.loads(answer)['slug']}"
    for number in range(MEMBERS):
        rename(launcher, room, number, f"Student with number {number:03}")
    return room


def join(launcher):
    """Lets as many people join another class by its link, some at a time. Returns the seconds."""
    status, answer = launcher.request("POST", "/api/v1/classes/", ADMIN, {"name": "Joined", "teachers": [TEACHER["X-Auth-Request-Email"]]})
    if status != 201:
        sys.exit(f"the class was refused: {status} {answer.decode()}")
    room = f"/api/v1/classes/{json.loads(answer)['slug']}"
    _, answer = launcher.request("POST", f"{room}/join-link", TEACHER, {"seats": MEMBERS})
    code, people = json.loads(answer)["code"], iter(range(MEMBERS))
    refused, lock = [], threading.Lock()

    def work():
        connection = http.client.HTTPConnection("127.0.0.1", launcher.port)
        while True:
            with lock:
                number = next(people, None)
            if number is None:
                return
            connection.request("POST", f"/api/v1/join/{code}", headers={"X-Auth-Request-Email": f"joined{number}@example.org"})
            response = connection.getresponse()
            if response.read() and response.status != 200:
                refused.append(response.status)

    began = time.perf_counter()
    workers = [threading.Thread(target=work) for _ in range(JOINING)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if refused:
        sys.exit(f"{len(refused)} people could not join: {refused[0]}")
    return time.perf_counter() - began


def page_sizes(launcher, room):
    sizes = []
    for path in (room, f"{room}/board"):
        status, page = launcher.request("GET", path, TEACHER | {"Accept-Encoding": "gzip"})
        if status != 200:
            sys.exit(f"GET {path} answered {status}")
        sizes.append(len(page) / 1000)
    return sizes
