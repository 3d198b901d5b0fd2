#!/usr/bin/env python3
"""kill -9 of the launcher at random moments of launches and ends: nothing is lost, nothing is doubled, nothing is left.

After each kill a new launcher is started on the same data. Then every launch that was answered, and every one that was
repeated with its Idempotency-Key, has a row; every row that runs has exactly one process tree; every failure has a
reason; and no process runs that no row wants.

KILL9_ROUNDS and KILL9_SEED in the environment set how often, and which random moments.
"""

import contextlib
import http.client
import os
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import Launcher, trees, wait_for

LAUNCHES_A_ROUND = 4
# From the middle of the requests to past the start of the last process; each round takes one of them as its longest.
LATEST_KILL_SECONDS = (0.01, 0.03, 0.1, 0.4)
QUIET = {"running", "failed", "terminated"}
TEMPLATE = {
    "name": "kill9",
    "app_type": "custom",
    "image": "docker.io/library/python:3.13-alpine",
    "port": 8000,
    "command": ["python3", "-m", "http.server", "$(PORT)", "--bind", "127.0.0.1"],
}


class Storm:
    """The launcher under test, and what it has promised."""

    def __init__(self, launcher, rng):
        self.launcher, self.rng = launcher, rng
        self.template = None
        self.promised = {}
        """Idempotency-Key -> the name that was answered, or None while no answer came through."""
        self.kills_before_answer = 0

    def create_template(self):
        status, _, body = self.launcher.request("POST", "/templates/", body=TEMPLATE)
        assert status == 201, (status, body)
        self.template = body["template_id"]

    def launch(self, key):
        """Launches with this key; an answer that does not come through is no answer."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            path = f"/templates/{self.template}/launch"
            status, _, body = self.launcher.request("POST", path, body={}, headers={"Idempotency-Key": key})
            assert status in (200, 201), (status, body)
            earlier = self.promised.get(key)
            assert earlier in (None, body["k8s_name"]), f"{key} was {earlier} and is {body['k8s_name']} now"
            self.promised[key] = body["k8s_name"]

    def end(self, name):
        """Ends one; an answer that does not come through is no answer."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            status, _, body = self.launcher.request("DELETE", f"/instances/{name}")
            assert status == 202, (status, body)

    def round(self, number):
        """Launches some, ends some, and kills the launcher in the middle of it."""
        live = [row["k8s_name"] for row in self.rows("live")]
        keys = [f"round-{number}-{index}" for index in range(LAUNCHES_A_ROUND)]
        self.promised |= dict.fromkeys(keys)
        work = [threading.Thread(target=self.launch, args=[key]) for key in keys]
        work += [threading.Thread(target=self.end, args=[name]) for name in self.rng.sample(live, len(live) // 2)]
        self.rng.shuffle(work)
        for thread in work:
            thread.start()
        time.sleep(self.rng.uniform(0, self.rng.choice(LATEST_KILL_SECONDS)))
        self.launcher.kill()
        for thread in work:
            thread.join()
        unanswered = [key for key in keys if self.promised[key] is None]
        self.kills_before_answer += len(unanswered)
        self.launcher.start()
        for key in unanswered:
            self.launch(key)
        self.check()

    def rows(self, state):
        status, _, rows = self.launcher.request("GET", f"/instances/?state={state}")
        assert status == 200, (status, rows)
        return rows

    def check(self):
        """Waits until nothing is on its way any more, then compares promises, rows and processes."""
        wait_for("every workshop to be running, failed or ended", self.is_quiet, 30)
        rows = {row["k8s_name"]: row for row in self.rows("all")}
        for key, name in self.promised.items():
            assert name in rows, f"{key} was answered with {name}, which is not there any more"
        assert len(set(self.promised.values())) == len(self.promised), "one name was given twice"
        assert set(rows) == set(self.promised.values()), "there are workshops that nobody asked for"
        for row in rows.values():
            assert row["state"] != "failed" or row["reason"]["message"], f"{row['k8s_name']} failed without a reason"
        wanted = {name: 1 for name, row in rows.items() if row["state"] == "running"}
        running = trees(self.launcher.workshop_processes())
        assert running == wanted, f"running: {running}, wanted: {wanted}"

    def is_quiet(self):
        return all(row["state"] in QUIET for row in self.rows("all"))


def main():
    seed = int(os.environ.get("KILL9_SEED") or random.randrange(2**32))
    rounds = int(os.environ.get("KILL9_ROUNDS") or 40)
    print(f"kill9: {rounds} rounds, KILL9_SEED={seed}", flush=True)
    launcher = Launcher(SERVICE_LOG="warn")
    try:
        storm = Storm(launcher, random.Random(seed))
        launcher.start()
        storm.create_template()
        for number in range(1, rounds + 1):
            storm.round(number)
        states = [row["state"] for row in storm.rows("all")]
        counted = ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
        print(f"kill9: {len(states)} launches ({storm.kills_before_answer} answered only when repeated): {counted}")
        assert states.count("failed") < len(states) / 4, "most kills must not cost a workshop"
        for row in storm.rows("live"):
            storm.end(row["k8s_name"])
        storm.check()
        left = launcher.workshop_processes()
        assert not left, f"left behind: {left}"
        launcher.stop()
    except BaseException:
        print(launcher.log_tail(), file=sys.stderr)
        raise
    finally:
        launcher.clean_up()


if __name__ == "__main__":
    main()
