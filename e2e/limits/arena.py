"""Attacks a program in a memory cgroup with many clients, while probes measure other requests. Linux and root only."""

import concurrent.futures
import contextlib
import dataclasses
import threading

from harness import need, wait_for
from limits.attack import Attack, probe
from memory_cgroup import MemoryCgroup, Unavailable


@dataclasses.dataclass(frozen=True)
class Limits:
    """The memory limit in bytes, the length of the attack, the number of attacking clients, and the upper bound of the
    99th percentile of other requests, in seconds."""

    memory: int
    seconds: int
    clients: int
    p99: float


class Peak(threading.Thread):
    """Peak memory of a cgroup during the block, sampled every 20 ms, and the part used by socket buffers."""

    def __init__(self, group):
        super().__init__()
        self.group, self.used, self.sockets, self.stopped = group, 0, 0, threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.join()

    def run(self):
        while not self.stopped.wait(0.02):
            used = self.group.used()
            if used > self.used:
                self.used, self.sockets = used, self.group.sockets()


@contextlib.contextmanager
def memory_cgroup(name, limit):
    """A memory cgroup during the block. Skips the test if this machine has none."""
    with contextlib.ExitStack() as stack:
        missing = None
        try:
            group = stack.enter_context(MemoryCgroup(name, limit))
        except Unavailable as error:
            missing = error
        need(not missing, f"memory cgroups require root: {missing}")
        yield group


def attacked(name, limits, started, target, kinds, probes):
    """Attacks a program and runs probes during the attack. Prints the figures, and fails if a limit is exceeded.

    `started(group)` starts the program in the cgroup and yields the process. `probes` are {name: (target, request, options
    of probe())}.
    """
    with memory_cgroup(name, limits.memory) as group, started(group) as process:
        with Peak(group) as peak, Attack(target, kinds, limits.clients) as attack:
            wait_for("half of the attacking clients to connect", lambda: attack.connected() * 2 >= limits.clients)
            with concurrent.futures.ThreadPoolExecutor(len(probes)) as threads:
                measure = lambda probed: probe(*probed[:2], limits.seconds, **probed[2])
                figures = dict(zip(probes, threads.map(measure, probes.values())))
            status = process.poll()
        kills = group.kills()
    print("\n".join(f"  {count} {what}" for what, count in sorted(attack.counts().items())))
    print(f"memory: peak {peak.used >> 20} of {limits.memory >> 20} MiB, including {peak.sockets >> 20} MiB of socket buffers")
    for each, found in figures.items():
        print(f"{each}: {found}")
    slow = {each: str(found) for each, found in figures.items() if found.percentile(99) >= limits.p99}
    assert not slow, f"p99 is not below {limits.p99} s: {slow}"
    assert kills == 0 and status is None, f"the program was killed: {kills} OOM kills, exit status {status}"
    assert peak.used < limits.memory, f"memory reached the limit: {peak.used} of {limits.memory} bytes"
    assert attack.counts().get("bytes read", 0) > 0, "the attacking clients received no response"
