"""What workshops leave on a server."""

import collections
import contextlib
import pathlib

from harness import wait_for
from world import ENGINE, PLACE

# Programs of containers, and those that an engine runs for each container, as the kernel abbreviates them.
PROCESSES = ("containerd-shim", "conmon", "launcher-sideca", "busybox", "python3", "runc", "jupyter-lab")


def traces(api):
    """Returns containers, networks, volumes, mounts, interfaces, cgroups and processes, to compare with another moment."""
    mounts = [line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    processes = []
    for path in pathlib.Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            processes.append(path.read_text().strip())
    found = {
        "containers": (each["Names"][0] for each in api.containers()),
        "networks": api.networks(),
        "volumes": api.volumes(),
        "mounts": (path for path in mounts if str(PLACE) in path or "/netns/" in path),
        "interfaces": (each.name for each in pathlib.Path("/proc/sys/net/ipv4/conf").glob("veth*")),
        "cgroups": cgroups(),
        "processes": (each for each in processes if each in PROCESSES),
    }
    return {kind: collections.Counter(names) for kind, names in found.items()}


def until_nothing_new(api, before, seconds=20):
    """Waits until the server has no more traces than before, and fails with those that it has."""
    new = {}

    def is_clean():
        now = traces(api)
        new.clear()
        new.update({kind: sorted((now[kind] - before[kind]).elements()) for kind in now if now[kind] - before[kind]})
        return not new

    try:
        wait_for("the workshops to leave nothing", is_clean, seconds)
    except AssertionError as error:
        raise AssertionError(f"{error}; they left {new}") from None


def cgroups():
    """Returns the cgroups of containers that this engine has created."""
    parent = PLACE.name if ENGINE == "docker" else "libpod_parent"
    found = map(str, pathlib.Path("/sys/fs/cgroup").glob(f"*/{parent}/*/"))
    if ENGINE == "docker":
        return found
    # Podmans of other servers put their containers below the same cgroup. The name is libpod- and the id.
    created = (PLACE / "events.log").read_text()
    return [path for path in found if "/libpod-" in path and path.rpartition("/libpod-")[2] in created]
