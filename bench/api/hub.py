"""JupyterHub with many users. Each user had a server before, which corresponds to an ended instance of the launcher."""

import pathlib
import secrets
import sqlite3
import uuid

from common import tools
from common.machine import MEASURED, answers, free_port

HERE = pathlib.Path(__file__).resolve().parent
TOKEN = secrets.token_hex(16)
HEADERS = (f"Authorization: token {TOKEN}",)


class Hub:
    def __init__(self, started, place, users, server):
        self.started, self.place, self.port = started, place, free_port()
        self.environment = {
            "BENCH_HUB_PORT": str(self.port), "BENCH_SERVER_PORT": str(server), "BENCH_TOKEN": TOKEN,
        }
        place.mkdir(parents=True)
        # JupyterHub's first start creates the database schema. The users are inserted while JupyterHub is down.
        self.start()
        started.end(self.process)
        self.fill(users)
        self.start()

    def start(self):
        command = [
            "env", "-C", self.place, tools.HUB / "bin/python", "-m", "jupyterhub", "-f", HERE / "hub_config.py",
        ]
        with (self.place / "log").open("a") as log:
            self.process, self.seconds = self.started.start(
                command, MEASURED, lambda: answers(self.port, "/hub/api/") == 200, self.environment, log)
        self.pid = self.process.pid

    def fill(self, users):
        moment = "2026-01-01 12:00:00.000000"
        with sqlite3.connect(self.place / "hub.sqlite") as database:
            role = database.execute("SELECT id FROM roles WHERE name = 'user'").fetchone()[0]
            database.executemany(
                "INSERT INTO users (id, name, admin, created, last_activity, cookie_id, state) "
                "VALUES (?,?,0,?,?,?,'{}')",
                ((number + 1000, f"b{number}", moment, moment, uuid.UUID(int=number).hex) for number in range(users)))
            database.executemany("INSERT INTO user_role_map (user_id, role_id, managed_by_auth) VALUES (?,?,0)",
                                 ((number + 1000, role) for number in range(users)))
            database.executemany(
                "INSERT INTO spawners (user_id, name, state, last_activity, user_options) VALUES (?,'','{}',?,'{}')",
                ((number + 1000, moment) for number in range(users)))

    def version(self):
        return tools.version(tools.HUB / "bin/python", "-m", "jupyterhub", "--version")
