"""Searches for secret launch parameters in everything that a local launcher writes, at the log level `trace`.

While the workshop runs, no answer of the API, page, metric or log line has a value. After its end and the stop of the
launcher, no file of the data directory has one. Only the app gets the values.
"""

import pathlib
import re
import secrets

import pytest

from harness import ADMIN, exchange
from kill9 import notes
from kill9.outage import Outage

pytestmark = pytest.mark.kill9
SETTINGS = {"SERVICE_LOG": "trace"}
ALICE = "alice@example.org"
# Nine values that need several pages of the database, and a short one.
VALUES = {f"TOKEN_{number}": 1000 for number in range(9)} | {"SHORT": 12}
PARAMETERS = [{"name": name, "label": name, "kind": "secret", "max_length": 1000} for name in VALUES]
ADDRESSES = ["/", "/history", "/work", "/admin", "/admin/work", "/admin/activity", "/admin/instances", "/admin/templates"]
RESOURCES = ["instances/?state=all", "templates/", "volumes/", "snapshots/", "activity/", "me"]


def value(length):
    return secrets.token_hex(length // 2)


class Secrets:
    """A launcher with a workshop that has secrets."""

    def __init__(self, launcher):
        self.launcher, self.outage = launcher, Outage(launcher)
        self.values = {name: value(length) for name, length in VALUES.items()}
        # A repeated launch may have another value. A refused launch has one that is too long.
        self.others = {"repeated": value(100), "refused": value(1002)}
        self.found = re.compile("|".join([*self.values.values(), *self.others.values()]).encode())

    def launch(self):
        template = self.outage.new_template("secrets", notes.COMMAND, parameters=PARAMETERS)
        name = self.outage.running("secrets", template, ALICE, **self.values)
        again = self.outage.launch("secrets", template, ALICE, **self.values | {"SHORT": self.others["repeated"]})
        refused = self.outage.launch("refused", template, ALICE, **self.values | {"SHORT": self.others["refused"]})
        assert (again[0], again[2]["k8s_name"], refused[0]) == (200, name, 422), (again, refused)
        self.assert_hidden("answers to launches", repr((again, refused)).encode())
        self.pages = [*ADDRESSES, f"/instances/{name}", f"/launch/{template}?from={name}"]
        self.pages += [f"/api/v1/{path}" for path in [*RESOURCES, f"instances/{name}", f"templates/{template}"]]
        return name

    def assert_given(self, name):
        [app] = [process["pid"] for process in self.launcher.workshop_processes() if process["name"] == name]
        environment = pathlib.Path(f"/proc/{app}/environ").read_bytes().split(b"\0")
        assert {f"{key}={text}".encode() for key, text in self.values.items()} <= set(environment)

    def assert_hidden(self, what, data):
        found = self.found.search(data)
        assert not found, f"{what} have a secret value: …{data[max(0, found.start() - 200):found.start()]!r}"

    def assert_answers_are_clean(self):
        for path in self.pages:
            for email in (ALICE, ADMIN):
                status, _, answer = exchange(self.launcher.port, "GET", path, {"X-Auth-Request-Email": email})
                assert status == 200 or (status, email) == (403, ALICE), (path, email, status)
                self.assert_hidden(path, answer)
        self.assert_hidden("metrics", exchange(self.launcher.telemetry_port, "GET", "/metrics")[2])

    def assert_files_are_clean(self):
        files = [path for path in self.launcher.data.rglob("*") if path.is_file()]
        assert {"launcher.log", "launcher.db"} <= {path.name for path in files}, files
        for path in files:
            self.assert_hidden(path, path.read_bytes())


def test_only_the_app_gets_the_values_of_secret_parameters(launcher):
    test = Secrets(launcher)
    name = test.launch()
    test.assert_given(name)
    test.assert_answers_are_clean()
    test.outage.finish(name)
    test.assert_answers_are_clean()
    launcher.stop()
    test.assert_files_are_clean()
