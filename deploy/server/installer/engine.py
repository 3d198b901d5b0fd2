"""Docker or Podman, and Compose."""

import dataclasses
import json
import os
import re
import shutil
import subprocess
from typing import List

from .problem import Problem

# The profile of Dex.
LOCAL_ACCOUNTS = "local-accounts"
# The oldest versions on which the tests run.
OLDEST = {"docker": (20, 10), "podman": (4, 3)}
SOCKETS = {"docker": "/run/docker.sock", "podman": "/run/podman/podman.sock"}
INSTALL = """install an engine with Compose:
- Debian 12: apt-get install docker.io docker-compose
- Debian 13: apt-get install docker.io docker-cli docker-compose
- Ubuntu: apt-get install docker.io docker-compose-v2
- or Podman: apt-get install --no-install-recommends podman docker-compose, then systemctl enable --now podman.socket
  podman-restart"""
# Commands of Compose for each engine; the first that works is used. Docker's Compose also works with Podman's socket.
COMPOSE = {
    "docker": (["docker", "compose"], ["docker-compose"]),
    "podman": (["docker-compose"], ["docker", "compose"], ["podman-compose"]),
}
# Older versions cannot combine network_mode with other options, and do not notice changes.
OLDEST_PODMAN_COMPOSE = (1, 1)


@dataclasses.dataclass
class Engine:
    """A container engine that answers, with its Compose command."""

    name: str
    version: str
    compose: List[str]
    socket: str
    rootless: bool = False

    def run(self, *words, check=True, timeout=600, capture=True):
        """Runs the engine's command, and returns its output."""
        return self._run([self.name, *words], None, check, timeout, capture)

    def run_compose(self, root, *words, check=True, timeout=1800, capture=True, profile=""):
        """Runs Compose in the configuration's folder. The folder's name is the project's name."""
        chosen = ["--profile", profile] if profile else []
        command = [*self.compose, "--project-name", project(root), "--file", "compose.yaml", *chosen, *words]
        return self._run(command, root, check, timeout, capture)

    def _run(self, command, folder, check, timeout, capture):
        # Podman's own commands do not use this variable; Docker's Compose finds Podman by it.
        environment = os.environ | {"DOCKER_HOST": f"unix://{self.socket}"}
        pipe = subprocess.PIPE if capture else None
        try:
            done = subprocess.run(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Problem(f"{' '.join(command)} did not end within {timeout} seconds") from None
        if check and done.returncode != 0:
            said = (done.stderr or done.stdout or "").strip() if capture else "see the output above"
            raise Problem(f"{' '.join(command)} failed: {said}")
        return done.stdout or ""

    def remove(self, root):
        """Stops and removes the project's containers. A stopped one starts again with the engine, as after a reboot."""
        self.run_compose(root, "down", profile=LOCAL_ACCOUNTS)
        if left := self.containers(root):
            ids = " ".join(identifier[:12] for identifier, _, _ in left.values())
            raise Problem(
                f"{' '.join(self.compose)} did not remove {', '.join(sorted(left))}. Remove the containers with: {self.name} rm "
                f"--force {ids}. Then run this command again"
            )

    def has_image(self, reference):
        return bool(self.run("image", "inspect", "--format", "{{.Id}}", reference, check=False).strip())

    def containers(self, root):
        """Returns the containers of the project: {service: (id, state, start time)}."""
        label = "com.docker.compose.project"
        ids = self.run("ps", "--all", "--quiet", "--no-trunc", "--filter", f"label={label}={project(root)}").split()
        if not ids:
            return {}
        found = {}
        for one in json.loads(self.run("inspect", *ids)):
            service = one["Config"]["Labels"].get("com.docker.compose.service", "")
            found[service] = (one["Id"], one["State"]["Status"], one["State"]["StartedAt"])
        return found


def project(root):
    """Returns the project's name, as Compose itself derives it from the folder."""
    name = os.path.basename(os.path.abspath(root))
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name):
        raise Problem(f"the last part of the folder {root} must consist of lower-case letters, digits, _ and -")
    return name


def socket_mount(name, socket):
    """Returns how the launcher's container gets the socket: (path to mount, target, path of the socket inside).

    A restart of podman.socket creates a new socket, and the launcher continues. A mounted file would be the old socket.
    Only a folder that contains nothing else is mounted: the one that systemd creates for Podman. Docker's socket is in
    /run. A restart of Docker restarts the launcher as well, which then gets the new socket.
    """
    folder, file = os.path.split(socket)
    if name == "podman" and os.path.basename(folder) == "podman":
        return folder, "/run/engine", f"/run/engine/{file}"
    return socket, "/run/engine.sock", "/run/engine.sock"


def services(settings):
    """Returns the services that run with these settings."""
    always = {"traefik", "login", "workshops-login", "launcher"}
    return always | {"dex"} if settings.login == "local" else always


def find(wanted="", socket=""):
    """Returns the engine: the wanted one, or the first that answers with a Compose. Raises if it is too old."""
    for name in [wanted] if wanted else ["docker", "podman"]:
        found = _probe(name, socket)
        if found:
            _check_version(found)
            return found
    if wanted:
        other = "docker" if wanted == "podman" else "podman"
        raise Problem(f"{wanted} does not answer, or has no Compose. Start it, or run setup with --engine {other}; or {INSTALL}")
    raise Problem(f"no container engine with Compose answers: {INSTALL}")


def _probe(name, socket):
    """Returns the engine with this name if it answers and has a Compose, else None."""
    if not shutil.which(name):
        return None
    # Without the flag, Docker's own variable has precedence.
    given = os.environ.get("DOCKER_HOST", "") if name == "docker" else ""
    engine = Engine(name, "", [], socket or given.removeprefix("unix://") or SOCKETS[name])
    field = "{{.Server.Version}}" if name == "docker" else "{{.Client.Version}}"
    engine.version = engine.run("version", "--format", field, check=False, timeout=60).strip()
    field = "{{.SecurityOptions}}" if name == "docker" else "rootless={{.Host.Security.Rootless}}"
    said = engine.run("info", "--format", field, check=False, timeout=60)
    engine.rootless = "name=rootless" in said or "rootless=true" in said
    if engine.rootless and not socket and not given:
        place = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
        engine.socket = f"{place}/docker.sock" if name == "docker" else f"{place}/podman/podman.sock"
    engine.compose = _compose(name)
    return engine if engine.version and engine.compose else None


def _compose(name):
    """Returns the first Compose command that works, or an empty list."""
    for command in COMPOSE[name]:
        if not shutil.which(command[0]):
            continue
        done = subprocess.run([*command, "version"], capture_output=True, text=True, timeout=60)
        found = re.search(r"podman-compose\w* version:? +v?(\d+)\.(\d+)", done.stdout + done.stderr)
        if done.returncode == 0 and (not found or tuple(map(int, found.groups())) >= OLDEST_PODMAN_COMPOSE):
            return command
    return []


def _check_version(engine):
    found = tuple(int(part) for part in re.findall(r"\d+", engine.version)[:2])
    if found < OLDEST[engine.name]:
        oldest = ".".join(map(str, OLDEST[engine.name]))
        raise Problem(f"{engine.name} {engine.version} is too old: {oldest} or newer is needed. Upgrade the package")
