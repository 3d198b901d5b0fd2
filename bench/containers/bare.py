"""The containers of a workshop, started by the bare engine with the configuration of a launched one."""

import http.client
import pathlib
import shutil
import socket
import tempfile
import time

PATIENCE = 120
# Settings of a container that the engine adds by itself, and refuses in a request.
NOT_SENT = ("Hostname",)


class Bare:
    """Starts containers like those of the running workshop `name` of this world: pairs, or apps alone."""

    def __init__(self, world, name):
        self.api, self.name = world.api, name
        self.parts = {part: body(world.container(name, part)) for part in ("sidecar", "app")}
        self.run = world.launcher.data / "fleet/workshops" / name / "run"
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="bare-"))
        self.made, self.number = [], 0

    def pair(self, number, interval):
        """Starts a sidecar and its app, and asks for an answer at this interval in seconds. Returns the seconds until it."""
        began = time.perf_counter()
        run = self.place / str(number)
        run.mkdir()
        shutil.chown(run, *(self.run.stat().st_uid,) * 2)
        names = {part: f"bare-{number}-{part}" for part in self.parts}
        for part, config in self.parts.items():
            host = dict(config["HostConfig"])
            if part == "app":
                host["NetworkMode"] = f"container:{names['sidecar']}"
            host["Mounts"] = [self.moved(mount, run) for mount in host.get("Mounts") or []]
            self.made.append(names[part])
            self.api.call("POST", f"/containers/create?name={names[part]}", config | {"HostConfig": host})
            self.api.call("POST", f"/containers/{names[part]}/start")
        self.until_answer(run / "http.sock", interval)
        return time.perf_counter() - began

    def app(self, number):
        """Starts an app alone, in the engine's default network."""
        name = f"bare-{number}-app"
        self.made.append(name)
        config = self.parts["app"]
        host = config["HostConfig"] | {"NetworkMode": "bridge"}
        self.api.call("POST", f"/containers/create?name={name}", config | {"HostConfig": host})
        self.api.call("POST", f"/containers/{name}/start")

    def moved(self, mount, run):
        return mount | {"Source": str(run)} if mount["Source"] == str(self.run) else mount

    def until_answer(self, path, interval):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            connection = http.client.HTTPConnection("bare", timeout=5)
            connection.sock = socket.socket(socket.AF_UNIX)
            try:
                connection.sock.connect(str(path))
                connection.request("GET", "/", headers={"Host": "bare", "X-Auth-Request-Email": "alice@example.org"})
                if connection.getresponse().status == 200:
                    return
            except (OSError, http.client.HTTPException):
                pass
            finally:
                connection.close()
            time.sleep(interval)
        raise RuntimeError(f"no answer at {path}")

    def remove(self):
        """Removes all containers that this object has started."""
        for name in reversed(self.made):
            self.api.request("DELETE", f"/containers/{name}?force=true&v=true")
        self.made.clear()
        shutil.rmtree(self.place)
        self.place.mkdir()


def body(container):
    """Returns the body of a request that creates the same container."""
    config = {name: value for name, value in container["Config"].items() if name not in NOT_SENT}
    host = {name: value for name, value in container["HostConfig"].items() if value not in (None, [], {}, "", 0, -1)}
    return config | {"Labels": {}, "HostConfig": host}
