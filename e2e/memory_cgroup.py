"""Limits the memory of processes with a cgroup: version 1 if its memory controller is mounted, else version 2."""

import contextlib
import os
import pathlib
import re
import time


class Unavailable(Exception):
    """No memory cgroup can be created. The message has the reason."""


def mounted(kind, option=""):
    """Returns the mount point of a file system of this type with this mount option, or None."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        place, _, rest = line.partition(" - ")
        words = rest.split()
        if words[0] == kind and option in ["", *words[2].split(",")]:
            return pathlib.Path(place.split()[4])
    return None


class MemoryCgroup:
    """A memory cgroup that exists during `with MemoryCgroup(name, bytes) as group`.

    Pass `group.join` as preexec_fn to start a process in the cgroup. All its processes must exit before the block ends.

    cgroup version 2 charges socket buffers to the memory limit. Version 1 gives socket buffers a separate limit and
    counter. `used()` therefore returns the sum of memory and socket buffers for both versions.
    """

    def __init__(self, name, limit):
        self.limit = limit
        root = mounted("cgroup", "memory")
        self.is_v2 = root is None
        root = root or mounted("cgroup2")
        if root is None:
            raise Unavailable("no cgroup file system with the memory controller is mounted")
        self.root, self.path = root, root / f"{name}-{os.getpid()}"

    def __enter__(self):
        try:
            if self.is_v2:
                with contextlib.suppress(OSError):
                    (self.root / "cgroup.subtree_control").write_text("+memory")
            self.path.mkdir()
            files = ["memory.max"] if self.is_v2 else ["memory.limit_in_bytes", "memory.kmem.tcp.limit_in_bytes"]
            for file in files:
                (self.path / file).write_text(str(self.limit))
        except OSError as error:
            raise Unavailable(f"{self.path} cannot be created: {error}") from error
        return self

    def __exit__(self, *_):
        # rmdir fails until the kernel has removed the exited processes from the cgroup, after a short delay.
        for _ in range(100):
            with contextlib.suppress(OSError):
                self.path.rmdir()
                break
            time.sleep(0.05)  # pacing: a poll loop

    def join(self):
        """Moves the calling process into the cgroup."""
        (self.path / "cgroup.procs").write_text("0")

    def kills(self):
        """Returns the number of OOM kills: processes that the kernel killed because of the limit."""
        text = (self.path / ("memory.events" if self.is_v2 else "memory.oom_control")).read_text()
        return int(re.search(r"^oom_kill (\d+)", text, re.M)[1])

    def used(self):
        """Returns the memory use in bytes, including socket buffers."""
        if self.is_v2:
            return self._bytes("memory.current")
        return self._bytes("memory.usage_in_bytes") + self.sockets()

    def sockets(self):
        """Returns the memory use of socket buffers in bytes."""
        if self.is_v2:
            return int(re.search(r"^sock (\d+)", (self.path / "memory.stat").read_text(), re.M)[1])
        return self._bytes("memory.kmem.tcp.usage_in_bytes")

    def _bytes(self, name):
        return int((self.path / name).read_text())
