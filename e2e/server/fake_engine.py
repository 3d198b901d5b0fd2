"""Commands docker, podman and docker-compose that only record their calls. No container starts."""

import json
import os
import shutil
import stat

# Flags that omit the checks of the server.
SKIP = "--skip dns --skip memory --skip ports --skip provider".split()
# The end of each run that reaches the start: no run waits for a login.
STARTED = "the fake engine starts nothing"
SCRIPT = """
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
  *" up "*) echo "{started}" >&2; exit 1 ;;
esac
"""


class FakeEngine:
    """A folder of fake commands, the only ones that setup finds, and the engine's socket, on which no program listens."""

    def __init__(self, folder, *engines):
        self.folder, self.bin, self.socket = folder, folder / "bin", folder / "engine.sock"
        self.bin.mkdir(parents=True)
        os.mknod(self.socket, stat.S_IFSOCK | 0o600)
        # Texts: calls, missing images and existing containers, one a line. With `stubborn`, Compose removes no container.
        # `info` is JSON: with it, the engine is rootless for root, too.
        for name in ("calls", "missing", "containers", "stubborn", "info"):
            setattr(self, name, folder / name)
            (folder / name).touch()
        for name in ("sh", "id", "cat", "grep", "openssl"):
            (self.bin / name).symlink_to(shutil.which(name))
        self.inspect("launcher")
        self.install(*engines)

    def command(self, name, script):
        (self.bin / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.bin / name).chmod(0o755)

    def install(self, *engines):
        """Adds the commands of an engine: docker with its plugin compose, or podman with docker-compose."""
        for name in engines:
            for command in (name, "docker-compose") if name == "podman" else (name,):
                self.command(command, SCRIPT.format(state=self.folder, started=STARTED))

    def inspect(self, service):
        """Sets the service of the container."""
        labels = {"com.docker.compose.service": service}
        container = {"Id": "1", "State": {"Status": "running", "StartedAt": ""}, "Config": {"Labels": labels}}
        (self.folder / "inspected").write_text(json.dumps([container]))

    def run(self, home, *words, code=1, variables=None, **options):
        """Runs setup with these commands. Returns its output."""
        return home.run(*words, code=code, start=True, variables={"PATH": str(self.bin)} | (variables or {}), **options)

    def start(self, home, *words, **options):
        """Runs setup with this socket and without checks, up to the start. Returns its output."""
        told = self.run(home, *SKIP, "--engine-socket", self.socket, *words, **options)
        assert STARTED in told, told
        return told

    def calls_of(self, command, end=""):
        """Returns the calls of this command so far that end with this text, without the command's name."""
        lines = [line.partition(" ") for line in self.calls.read_text().splitlines()]
        return [words for name, _, words in lines if name == command and words.endswith(end)]
