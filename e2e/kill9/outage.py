"""Requests and checks for tests in which the launcher temporarily cannot write to its database."""

import concurrent.futures
import urllib.parse

from harness import ADMIN, Api, exchange, trees, wait_for

TEMPLATE = {
    "name": "plain",
    "app_type": "custom",
    "image": "docker.io/library/python:3.13-alpine",
    "port": 8000,
    "command": ["python3", "-m", "http.server", "$(PORT)", "--bind", "127.0.0.1"],
}


class Outage(Api):
    """A launcher during an outage of its database, and the Idempotency-Keys that the test launches meanwhile."""

    def __init__(self, launcher, keys=()):
        self.launcher, self.keys = launcher, keys
        self.template = self.new_template("plain", TEMPLATE["command"])

    def request(self, *words):
        return self.launcher.request(*words)

    def new_template(self, name, command, **fields):
        return self.create_template(TEMPLATE, name=name, command=command, **fields)

    def launch(self, key, template=None, email=ADMIN, **values):
        path, headers = f"/templates/{template or self.template}/launch", {"Idempotency-Key": key}
        return self.launcher.request("POST", path, email, {"parameters": values}, headers)

    def running(self, key, template=None, email=ADMIN, **values):
        """Launches a workshop and waits until its app answers. Returns the workshop's name."""
        status, _, body = self.launch(key, template, email, **values)
        assert status == 201, (status, body)
        name = body["k8s_name"]
        self.until(name, "running")
        assert self.visit(name, email) == 200
        return name

    def finish(self, name):
        """Ends the workshop of this name, and waits until it is gone. Returns its row."""
        self.end(name)
        return self.until(name, "terminated")

    def send(self, name, method, path, email=ADMIN, body=None):
        """Sends a request of this user to the app through the launcher's gateway. Returns the status and the body."""
        headers = {"Host": urllib.parse.urlsplit(self.instance(name)["url"]).netloc, "X-Auth-Request-Email": email}
        status, _, answer = exchange(self.launcher.port, method, path, headers, body)
        return status, answer

    def visit(self, name, email=ADMIN):
        """Sends the owner's request to the app. Returns the status."""
        return self.send(name, "GET", "/", email)[0]

    def assert_unavailable(self, answer):
        """Fails unless the answer is 503 with Retry-After."""
        status, headers, body = answer
        assert status == 503 and body["code"] == "unavailable", (status, body)
        assert int(headers["retry-after"]) > 0, headers

    def assert_reads_and_apps_work(self, rows, working):
        """Fails unless reads succeed, instances are exactly those of `rows`, and the apps of `working` answer."""
        assert set(self.launcher.instances("all")) == rows, "the outage changed the list of instances"
        for path in ("/templates/", *(f"/instances/{name}" for name in rows)):
            status, _, body = self.launcher.request("GET", path)
            assert status == 200, (path, status, body)
        running = trees(self.launcher.workshop_processes())
        assert set(running) <= rows, f"processes run without an instance: {set(running) - rows}"
        for name in working:
            assert running.get(name) == 1 and self.visit(name) == 200, f"{name} does not run or answer: {running}"

    def assert_all_launch_once(self):
        """Repeats each refused launch twice. Fails unless each key launches one instance. Returns the names."""
        with concurrent.futures.ThreadPoolExecutor(len(self.keys)) as threads:
            answers = list(threads.map(self.launch, self.keys))
        assert [status for status, _, _ in answers] == [201] * len(self.keys), answers
        names = [body["k8s_name"] for _, _, body in answers]
        again = [(status, body["k8s_name"]) for status, _, body in map(self.launch, self.keys)]
        assert again == [(200, name) for name in names], again
        return names

    def assert_states(self, states):
        """Waits for these states, {name: state}. Fails unless each running workshop has one process tree."""
        became = lambda: {name: row["state"] for name, row in self.launcher.instances("all").items()}
        wait_for(f"the instances to have the states {states}", lambda: became() == states)
        wanted = {name: 1 for name, state in states.items() if state == "running"}
        running = trees(self.launcher.workshop_processes())
        assert running == wanted, f"process trees per workshop: {running}, expected: {wanted}"

    def end_all(self):
        """Ends all workshops, checks that no process remains, and stops the launcher."""
        for name in self.launcher.instances():
            self.end(name)
        wait_for("all workshops to end", lambda: not self.launcher.instances())
        assert not self.launcher.workshop_processes()
        self.launcher.stop()
