"""The fleets of the soak test: the local fleet, and Kubernetes."""

import socket
import sys
import urllib.parse

from harness import DEADLINE, ROOT, Launcher, trees, wait_for

LIMITS = {"SERVICE_MAX_INSTANCES_PER_USER": "10", "SERVICE_LOG": "warn"}


def template_of(launcher, lifetime, **more):
    """Creates the template of the soak test. Returns its id."""
    times = {"lifetime_seconds": lifetime, "extension_seconds": 60, "max_lifetime_seconds": 4 * lifetime}
    draft = {"name": "soak", "app_type": "custom", "image": "soak:1", "port": 8888, **times, **more}
    return launcher.create_template(draft)


class Local:
    """The local fleet: workshops are processes, and the launcher's listener serves them."""

    every = 2.0

    def __init__(self, program, lifetime):
        self.lifetime = lifetime
        self.launcher = Launcher(**LIMITS)
        self.launcher.command = (program, "serve")

    def __enter__(self):
        try:
            self.launcher.start()
            command = [sys.executable, str(ROOT / "e2e/soak/app.py")]
            self.template = template_of(self.launcher, self.lifetime, command=command)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.launcher.clean_up()

    def endpoint(self, name, row):
        """Returns the host and the port of a workshop."""
        return urllib.parse.urlsplit(row["url"]).netloc, self.launcher.port

    def dial(self, host, port):
        return socket.create_connection(("127.0.0.1", port), timeout=DEADLINE)

    def processes(self):
        return {"launcher": self.launcher.process.pid}

    def assert_nothing_left(self):
        wait_for("all processes to end", lambda: trees(self.launcher.workshop_processes()) == {})
        assert self.launcher.instances("live") == {}


class Kubernetes:
    """A cluster: workshops are pods, and the test connects to their Services."""

    every = 10.0

    def __init__(self, program, lifetime):
        from world import World

        self.program, self.lifetime = program, lifetime

        class SoakWorld(World):
            def _own(self, made):
                made.command = (program, made.command[1])
                return super()._own(made)

            def new_launcher(self, server=None, **settings):
                return super().new_launcher(server, **LIMITS, **settings)

        self.world = SoakWorld("soak")

    def __enter__(self):
        from world import APP

        self.world.__enter__()
        self.launcher = self.world.launcher
        changes = {key: value for key, value in APP.items() if key not in ("name", "app_type", "port")}
        self.template = template_of(self.launcher, self.lifetime, **changes)
        return self

    def __exit__(self, *_):
        self.world.__exit__()

    def endpoint(self, name, row):
        # Wait until the cluster routes the new Service, which takes up to 1 s.
        self.world.visit(name)
        return self.world.address(name), 80

    def dial(self, host, port):
        return socket.create_connection((host, port), timeout=DEADLINE)

    def processes(self):
        return {"launcher": self.launcher.process.pid, "operator": self.world.operator.process.pid}

    def assert_nothing_left(self):
        from world import WORKLOAD

        left = lambda: [one for kind in ("workshops", *WORKLOAD) for one in self.world.objects(kind)]
        wait_for("all objects to be deleted", lambda: not left())
        assert self.launcher.instances("live") == {}


FLEETS = {"local": Local, "kubernetes": Kubernetes}
