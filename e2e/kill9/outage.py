"""For tests of a launcher that temporarily cannot write: workshops, launches and reads during the outage, and the
expected state afterwards."""

import concurrent.futures
import pathlib
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import ADMIN, exchange, trees, wait_for
from kill9 import TEMPLATE

# Less than a request waits for its turn to write: a read that is queued after writers takes longer.
SLOWEST_READ_SECONDS = 4


class Outage:
    """A launcher with running workshops, and keys for further launches."""

    def __init__(self, launcher, keys):
        self.launcher, self.keys = launcher, keys
        self.refused = self.looks = 0
        self.template = self.create_template("plain", TEMPLATE["command"])

    def create_template(self, name, command):
        template = TEMPLATE | {"name": name, "command": command}
        status, _, body = self.launcher.request("POST", "/templates/", body=template)
        assert status == 201, (status, body)
        return body["template_id"]

    def launch(self, key, template=None):
        path = f"/templates/{template or self.template}/launch"
        return self.launcher.request("POST", path, body={}, headers={"Idempotency-Key": key})

    def running(self, key, template=None):
        """Launches a workshop, and waits until its app answers; returns its name."""
        status, _, body = self.launch(key, template)
        assert status == 201, (status, body)
        name = body["k8s_name"]
        wait_for(f"{name} to run", lambda: self.row(name)["state"] == "running", 30)
        assert self.visit(name) == 200
        return name

    def row(self, name):
        status, _, row = self.launcher.request("GET", f"/instances/{name}")
        assert status == 200, (status, row)
        return row

    def visit(self, name):
        """Returns the status of a request by the owner to the app, through the launcher's gateway."""
        headers = {"Host": urllib.parse.urlsplit(self.row(name)["url"]).netloc, "X-Auth-Request-Email": ADMIN}
        return exchange(self.launcher.port, "GET", "/", headers)[0]

    # During the outage.

    def assert_unavailable(self, answer):
        """Fails unless the answer is a refusal with Retry-After."""
        status, headers, body = answer
        assert status == 503 and body["code"] == "unavailable", (status, body)
        assert int(headers["retry-after"]) > 0, headers
        self.refused += 1

    def assert_goes_on(self, rows, working):
        """Fails unless reads are answered in time, every running workshop had a row before, and these apps answer."""
        began = time.monotonic()
        assert set(self.launcher.instances("all")) == rows, "what was refused has left a row, or one is gone"
        for path in ("/templates/", *(f"/instances/{name}" for name in rows)):
            status, _, body = self.launcher.request("GET", path)
            assert status == 200, (path, status, body)
        took = time.monotonic() - began
        assert took < SLOWEST_READ_SECONDS, f"reads took {took:.1f} s"
        running = trees(self.launcher.workshop_processes())
        assert set(running) <= rows, f"running without a row: {set(running) - rows}"
        for name in working:
            assert running.get(name) == 1 and self.visit(name) == 200, f"{name} does not go on: {running}"
        self.looks += 1

    # After the outage.

    def assert_all_launch_once(self):
        """Launches with the keys of the refused launches, once each; returns the names."""
        with concurrent.futures.ThreadPoolExecutor(len(self.keys)) as threads:
            answers = list(threads.map(self.launch, self.keys))
        assert [status for status, _, _ in answers] == [201] * len(self.keys), answers
        names = [body["k8s_name"] for _, _, body in answers]
        again = [(status, body["k8s_name"]) for status, _, body in map(self.launch, self.keys)]
        assert again == [(200, name) for name in names], again
        return names

    def assert_in_line(self, states):
        """Waits until rows are in these states, {name: state}; fails unless each running one has one process tree."""
        became = lambda: {name: row["state"] for name, row in self.launcher.instances("all").items()}
        wait_for(f"{states}", lambda: became() == states, 60)
        wanted = {name: 1 for name, state in states.items() if state == "running"}
        running = trees(self.launcher.workshop_processes())
        assert running == wanted, f"running: {running}, wanted: {wanted}"

    def end_all(self):
        """Ends all workshops and stops the launcher; fails if a process is left."""
        for name in self.launcher.instances():
            status, _, body = self.launcher.request("DELETE", f"/instances/{name}")
            assert status == 202, (status, body)
        wait_for("all to have ended", lambda: not self.launcher.instances(), 30)
        assert not self.launcher.workshop_processes()
        self.launcher.stop()
