"""Commands docker, podman and docker-compose that only record their calls. No container starts."""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys

from conftest import SERVER

# Flags that omit the checks of the server.
SKIP = [word for check in ("dns", "memory", "ports", "provider") for word in ("--skip", check)]
SCRIPT = """#!/bin/sh
state={state}
echo "${{0##*/}} $*" >>"$state/calls"
case "$*" in
  version*|"compose version"*) echo 24.0.0 ;;
  "info --format {{{{json .}}}}") cat "$state/info" ;;
  info*) [ "$(id -u)" = 0 ] && [ ! -s "$state/info" ] || echo "name=rootless rootless=true" ;;
  "image inspect "*) shift 4; grep -qxF "$1" "$state/missing" || echo sha256:0 ;;
  ps*) cat "$state/containers" ;;
  "inspect "*) cat "$state/inspected" ;;
  *" down") [ -s "$state/stubborn" ] || : >"$state/containers" ;;
  *" up "*) echo "the fake engine starts nothing" >&2; exit 1 ;;
esac
"""


class FakeEngine:
    """A folder of fake commands. Setup finds no others: `compose up` fails, so no run waits for a login."""

    def __init__(self, folder, *engines):
        self.folder, self.bin = folder, folder / "bin"
        self.bin.mkdir(parents=True)
        self.calls = folder / "calls"
        # Missing images and existing containers, one a line.
        self.missing, self.containers = folder / "missing", folder / "containers"
        # Any text, and Compose removes no container.
        self.stubborn = folder / "stubborn"
        # JSON of the engine's information. With it, the engine is rootless for root, too.
        self.info = folder / "info"
        for path in (self.calls, self.missing, self.containers, self.info):
            path.touch()
        for name in ("sh", "id", "cat", "grep", "openssl"):
            (self.bin / name).symlink_to(shutil.which(name))
        self.inspect("launcher")
        self.install(*engines)

    def install(self, *engines):
        """Adds the commands of an engine: docker with its plugin compose, or podman with docker-compose."""
        for name in engines:
            for command in (name, "docker-compose") if name == "podman" else (name,):
                path = self.bin / command
                path.write_text(SCRIPT.format(state=self.folder))
                path.chmod(0o755)

    def inspect(self, service, **labels):
        """Sets the service and further labels of the container."""
        known = {f"com.docker.compose.{name}": value for name, value in {"service": service, **labels}.items()}
        container = {"Id": "1", "State": {"Status": "running", "StartedAt": ""}, "Config": {"Labels": known}}
        (self.folder / "inspected").write_text(json.dumps([container]))

    def socket(self, name):
        """Creates a socket with this path below the folder. No program listens on it."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        os.mknod(path, stat.S_IFSOCK | 0o600)
        return path

    def run(self, home, *words, code=1, variables=None):
        """Runs setup with these commands. Returns its output: stdout and stderr together."""
        known = {name: value for name, value in os.environ.items() if name not in ("DOCKER_HOST", "XDG_RUNTIME_DIR")}
        done = subprocess.run(
            [sys.executable, SERVER / "setup", *map(str, words), "--directory", home.root],
            cwd=home.work, env=known | {"PATH": str(self.bin)} | (variables or {}),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
        )
        assert done.returncode == code, done.stdout
        return done.stdout

    def calls_of(self, command):
        """Returns the calls of this command so far, without its name."""
        lines = [line.partition(" ") for line in self.calls.read_text().splitlines()]
        return [words for name, _, words in lines if name == command]
