"""A memory cgroup with a limit, of version 1 or 2: what is charged to it, and whether anything in it was killed."""

import contextlib
import os
import pathlib
import re
import time


def mounted(kind, option=""):
    """Where a file system of this kind with this option is mounted; None when nowhere."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        place, _, rest = line.partition(" - ")
        words = rest.split()
        if words[0] == kind and option in ["", *words[2].split(",")]:
            return pathlib.Path(place.split()[4])
    return None


class Version1:
    """Socket buffers are counted apart, once they have a limit of their own."""

    def __init__(self, root, name, limit):
        self.path = root / name
        self.path.mkdir()
        (self.path / "memory.limit_in_bytes").write_text(str(limit))
        (self.path / "memory.kmem.tcp.limit_in_bytes").write_text(str(limit))

    def used(self):
        """Bytes charged, those of socket buffers included as version 2 does."""
        return sum(int((self.path / f"memory.{part}usage_in_bytes").read_text()) for part in ("", "kmem.tcp."))

    def kills(self):
        """How many processes the kernel has killed for want of memory."""
        return int(re.search(r"^oom_kill (\d+)", (self.path / "memory.oom_control").read_text(), re.M)[1])


class Version2:
    """Socket buffers are part of the sum."""

    def __init__(self, root, name, limit):
        with contextlib.suppress(OSError):
            (root / "cgroup.subtree_control").write_text("+memory")
        self.path = root / name
        self.path.mkdir()
        (self.path / "memory.max").write_text(str(limit))

    def used(self):
        """Bytes charged."""
        return int((self.path / "memory.current").read_text())

    def kills(self):
        """How many processes the kernel has killed for want of memory."""
        return int(re.search(r"^oom_kill (\d+)", (self.path / "memory.events").read_text(), re.M)[1])


@contextlib.contextmanager
def memory_group(limit):
    """A cgroup with this limit in bytes, empty; what runs in it has to end before it does."""
    name = f"front-{os.getpid()}"
    if root := mounted("cgroup", "memory"):
        group = Version1(root, name, limit)
    elif root := mounted("cgroup2"):
        group = Version2(root, name, limit)
    else:
        raise OSError("no cgroup of memory is mounted")
    try:
        yield group
    finally:
        # The kernel lets go of ended processes a moment later.
        for _ in range(100):
            with contextlib.suppress(OSError):
                group.path.rmdir()
                break
            time.sleep(0.05)
