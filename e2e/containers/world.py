"""A launcher with the container fleet on the test server, and functions to control it and its workshops."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from engine import ENGINES  # noqa: E402
from harness import DEADLINE, Api, Launcher, doctor_in_time, exchange, wait_for  # noqa: E402
from notebook import Notebook  # noqa: E402

ENGINE = os.environ["SERVER_ENGINE"]
PLACE = pathlib.Path(os.environ["SERVER_PLACE"])
ALICE, BOB, MALLORY = "alice@example.org", "bob@example.org", "mallory@example.org"
WORKSHOP_DOMAIN = "workshops.test"
IMAGES = "localhost/workshop-launcher"
RESOURCES = {"cpu_request": "5m", "cpu_limit": "1", "memory_request": "16Mi", "memory_limit": "256Mi"}
# An app that starts at once.
QUICK = {"name": "quick", "app_type": "custom", "image": f"{IMAGES}/quick:test", "port": 8888, "resources": RESOURCES}
# An app that runs its owner's commands.
SHELL = QUICK | {"name": "shell", "image": f"{IMAGES}/shell:test"}
JUPYTER = {
    "name": "JupyterLab",
    "app_type": "notebook",
    "image": f"{IMAGES}/jupyter:test",
    "resources": RESOURCES | {"cpu_limit": "2", "memory_request": "128Mi", "memory_limit": "1Gi"},
}
# The storage of a template whose files are kept.
WORK = {"kind": "kept", "size": "1Gi", "path": "/work"}
# The parts of each running workshop, as World.parts() counts them.
BOTH = {"app": 1, "sidecar": 1}


def engine():
    """Returns the engine of this server, as it runs."""
    return ENGINES[ENGINE](PLACE)


class World(Api):
    """A launcher with the container fleet. Usage: `with World() as world`. The end removes all its containers."""

    def __init__(self, api=None, **settings):
        self.api = api or engine().api
        defaults = {
            "SERVICE_FLEET": "containers",
            "SERVICE_ENGINE_SOCKET": str(self.api.path),
            "SERVICE_SIDECAR_IMAGE": f"{IMAGES}/sidecar:test",
            "SERVICE_WORKSHOP_DOMAIN": WORKSHOP_DOMAIN,
            "SERVICE_LOG": "info,launcher_api=warn",
            # The tests launch faster than users.
            "SERVICE_LAUNCH_BURST": "1000",
            "SERVICE_MAX_INSTANCES_PER_USER": "100",
        }
        self.launcher = Launcher(**defaults | settings)

    def __enter__(self):
        try:
            self.launcher.start()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, kind, *_):
        launcher = self.launcher
        if launcher.process and launcher.process.poll() is None:
            launcher.kill()
        with contextlib.suppress(OSError):
            for container in self.containers():
                self.api.request("DELETE", f"/containers/{container['Id']}?force=true&v=true")
        launcher.__exit__(kind)

    def request(self, *words):
        return self.launcher.request(*words)

    def template(self, draft=QUICK, **changes):
        return self.create_template(draft, **changes)

    def launch(self, template, email=ALICE, **body):
        """Launches the template. Returns the name of the instance."""
        return self.ask("POST", f"/templates/{template}/launch", email, body, 201)["k8s_name"]

    def running(self, draft=QUICK, email=ALICE, **changes):
        """Launches a template, the draft with these changes, and waits until the instance runs. Returns its name."""
        return self.launched(self.template(draft, **changes), email)

    def launched(self, template, email=ALICE, **body):
        """Launches a template, and waits until the instance runs. Returns its name."""
        name = self.launch(template, email, **body)
        self.until(name, "running")
        return name

    def until_gone(self, *names, seconds=DEADLINE):
        """Waits until no container of these workshops is left."""
        for name in names:
            wait_for(f"the containers of {name} to be removed", lambda: not self.containers(name), seconds)

    def until_answering(self, *names):
        """Waits until these workshops of Alice answer."""
        for name in names:
            wait_for(f"{name} to answer", lambda: self.visit(name)[0] == 200)

    def finish(self, *names):
        """Ends workshops, and waits until nothing of them is left."""
        for name in names:
            self.end(name)
        for name in names:
            self.until(name, "terminated")
        self.until_gone(*names)

    def restart(self):
        """Kills the launcher, and starts it again."""
        self.launcher.kill()
        self.launcher.start()

    def doctor(self):
        """Returns the output of `launcher doctor` with the settings of the launcher."""
        command = [self.launcher.command[0], "doctor"]
        options = {"env": self.launcher.environment, "capture_output": True, "text": True, "timeout": DEADLINE}
        done = doctor_in_time(lambda: subprocess.run(command, **options))
        return done.stdout + done.stderr

    def launcher_memory(self):
        """Returns the resident memory of the launcher in bytes."""
        status = pathlib.Path(f"/proc/{self.launcher.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) << 10

    # Workshops.

    def visit(self, name, email=ALICE, path="/", seconds=DEADLINE):
        """Sends a request to the workshop through the launcher's gateway. Returns (status, body)."""
        headers = {"Host": f"{name}.{WORKSHOP_DOMAIN}", "X-Auth-Request-Email": email}
        status, _, text = exchange(self.launcher.port, "GET", path, headers, timeout=seconds)
        return status, text

    def run(self, name, *command, email=ALICE, seconds=DEADLINE):
        """Runs a command in a workshop of SHELL. Returns (exit status, output); the status is None after a timeout."""
        connection = http.client.HTTPConnection("127.0.0.1", self.launcher.port, timeout=seconds + 5)
        with contextlib.closing(connection):
            headers = {"Host": f"{name}.{WORKSHOP_DOMAIN}", "X-Auth-Request-Email": email}
            connection.request("POST", "/run", json.dumps({"command": command, "seconds": seconds}), headers)
            response = connection.getresponse()
            text = response.read()
        assert response.status == 200, (response.status, text)
        done = json.loads(text)
        return done["status"], done["output"]

    def shell(self, name, script, email=ALICE):
        """Runs a script of bash in a workshop of SHELL, and returns its output. Fails if its exit status is not 0."""
        status, output = self.run(name, "bash", "-c", script, email=email)
        assert status == 0, output
        return output

    def started(self, name, email=ALICE, **options):
        """Returns what /started of a workshop of SHELL says: it is the same as long as the same process answers."""
        status, text = self.visit(name, email, "/started", **options)
        assert status == 200, (status, text)
        return json.loads(text)

    def notebook(self, name, email=ALICE):
        """Returns a client for JupyterLab and for WebSockets."""
        return Notebook("127.0.0.1", self.launcher.port, f"{name}.{WORKSHOP_DOMAIN}", email)

    # The engine.

    def fleet_id(self):
        return (self.launcher.data / "fleet/id").read_text().strip()

    def containers(self, name=None, part=None):
        """Returns the containers of this launcher's fleet: of one workshop, or of one part."""
        if not (self.launcher.data / "fleet/id").exists():
            return []
        wanted = {"workshop": name, "part": part}
        return self.api.containers(fleet=self.fleet_id(), **{key: value for key, value in wanted.items() if value})

    def container(self, name, part):
        """Returns the only container of this workshop and part, as the engine inspects it."""
        found = self.containers(name, part)
        assert len(found) == 1, f"{name} has {len(found)} containers of the part {part}: {found}"
        return self.api.inspect(found[0]["Id"])

    def kill(self, name, part):
        """Kills the first process of this container of a workshop."""
        self.api.call("POST", f"/containers/{self.container(name, part)['Id']}/kill?signal=KILL")

    def parts(self):
        """Counts the containers of each workshop: {name: {part: count}}. Those that do not run count as another part."""
        counts = {}
        for container in self.containers():
            labels = container["Labels"]
            parts = counts.setdefault(labels["workshoplauncher.dev/workshop"], {})
            part, state = labels["workshoplauncher.dev/part"], container["State"]
            key = part if state == "running" else f"{part}, {state}"
            parts[key] = parts.get(key, 0) + 1
        return counts


def probe(*words):
    """Returns the command of a probe of images/attack/, for World.run()."""
    return "python3", "-m", "attack", *words


def gained(output):
    """Returns True if a probe has gained something, by its output."""
    return json.loads(output)["gained"]
