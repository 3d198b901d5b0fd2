#!/usr/bin/env python3
"""Runs a command on a server of its own, with a container engine: `server.py docker|podman COMMAND...`.

The server has separate namespaces for network, mounts and processes. Its network has the parts of a real one: an
internet, a private network, a name server, a metadata server (see network.py). The engine has a data directory of its
own. The images of SERVER_IMAGES, the directory that images.sh prints, are loaded before the command starts. The command
gets these variables:

- SERVER_ENGINE: the engine, docker or podman
- SERVER_SOCKET: the socket of the engine's API
- SERVER_PLACE: the directory of engine and network: logs, data

When the command ends, all processes of the server end. The data directory and the cgroups are removed. Linux and root
only.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import network  # noqa: E402
from engine import ENGINES  # noqa: E402

CGROUPS = pathlib.Path("/sys/fs/cgroup")
# Names the directory of the server. Set only inside the server.
INSIDE = "SERVER_PLACE"


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", default="all", choices=["all", "small", "none"], help="the archive of images to load")
    parser.add_argument("engine", choices=sorted(ENGINES))
    parser.add_argument("command", nargs=argparse.REMAINDER)
    words = parser.parse_args()
    if not words.command:
        parser.error("the command is missing")
    return words


class Group:
    """The cgroup of the server's processes, below the root of each mounted cgroup hierarchy."""

    def __init__(self, name):
        # The hierarchies of cgroup version 1 are folders below CGROUPS. Version 2 has one hierarchy.
        hierarchies = [each for each in CGROUPS.iterdir() if (each / "cgroup.procs").exists()]
        self.paths = [each / name for each in hierarchies or [CGROUPS]]

    def remove(self):
        """Removes the cgroups, which no process uses any more. Returns those that could not be removed."""
        return [path for path in self.paths if path.exists() and not remove_cgroup(path)]


def remove_cgroup(path):
    """Removes a cgroup and those below it. The kernel needs a moment to remove processes that have ended."""
    for _ in range(3600):
        for folder, _, _ in os.walk(path, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        if not path.exists():
            return True
        time.sleep(0.05)  # pacing: a poll loop
    return False


def outside(words):
    """Runs this program again inside new namespaces, and removes everything afterwards. Returns the exit status."""
    if words.images != "none" and "SERVER_IMAGES" not in os.environ:
        images = subprocess.run([HERE / "images.sh"], check=True, stdout=subprocess.PIPE, text=True)
        os.environ["SERVER_IMAGES"] = images.stdout.strip()
    place = pathlib.Path(tempfile.mkdtemp(prefix="launcher-server-"))
    group = Group(place.name)
    own = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]
    # Ctrl-C reaches the command, too. The clean-up follows when the command has ended.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    process = subprocess.Popen([*own, sys.executable, __file__, *sys.argv[1:]], env=os.environ | {INSIDE: str(place)})
    signal.signal(signal.SIGTERM, lambda *_: process.kill())
    try:
        status = process.wait()
    finally:
        left = group.remove()
        # Podman puts its containers below this cgroup, which other runs may use.
        for path in group.paths:
            with contextlib.suppress(OSError):
                path.with_name("libpod_parent").rmdir()
        shutil.rmtree(place)
    for path in left:
        print(f"error: {path} is left", file=sys.stderr)
    return 1 if left else status


def inside(words):
    """Runs as process 1 of the server: starts the engine and the command in a child, and collects ended processes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        status = 1
        try:
            status = serve(words)
        except KeyboardInterrupt:
            status = 130
        except BaseException as error:
            print(f"error: {error}", file=sys.stderr)
        finally:
            sys.stdout.flush()
            os._exit(status)
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(status)


def serve(words):
    """Prepares network and engine, runs the command, and stops the engine. Returns the status of the command."""
    place = pathlib.Path(os.environ[INSIDE])
    subprocess.run(["mount", "-t", "proc", "proc", "/proc"], check=True)
    for path in ("/run", "/dev/shm"):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", path], check=True)
    network.set_up(place)
    engine = ENGINES[words.engine](place)
    with engine:
        if words.images != "none":
            engine.api.load(pathlib.Path(os.environ["SERVER_IMAGES"]) / f"{words.images}.tar")
        variables = {"SERVER_ENGINE": words.engine, "SERVER_SOCKET": str(engine.socket)}
        return subprocess.run(words.command, env=os.environ | variables).returncode


if __name__ == "__main__":
    words = options()
    sys.exit(inside(words) if INSIDE in os.environ else outside(words))
