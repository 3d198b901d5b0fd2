"""Attacks a program in a memory cgroup with many clients, while probes measure other requests. Linux and root only."""

import argparse
import contextlib
import os
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from harness import ROOT  # noqa: E402
from limits.attack import Attack, probe  # noqa: E402
from memory_cgroup import MemoryCgroup, Unavailable  # noqa: E402

# Exit status of a test that is skipped because this machine has no memory cgroup.
SKIPPED = 77
BUILT = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug"


def options(description, program):
    """Parses the options of the command line: seconds, clients, program, p99."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--clients", type=int, default=2000)
    parser.add_argument("--program", default=BUILT / program, help="path of the program (default: the debug build)")
    parser.add_argument("--p99", type=float, default=1.0, help="maximum 99th percentile of other requests, in seconds")
    return parser.parse_args()


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


def attacked(name, limit, started, kinds, probes, words):
    """Attacks a program and runs probes during the attack. Prints the figures and returns the failures.

    `started(group)` starts the program in the cgroup and yields (process, target). `probes(target)` returns
    {name: (target, request, options of probe())}. `words` are the options of the command line.
    """
    figures = {}

    def measure(each, target, request, more):
        figures[each] = probe(target, request, words.seconds, **more)

    with MemoryCgroup(name, limit) as group, contextlib.ExitStack() as stack:
        process, target = stack.enter_context(started(group))
        with Peak(group) as peak, Attack(target, kinds, words.clients) as attack:
            # Let the attack open its connections before the probes start.
            time.sleep(1)
            threads = [threading.Thread(target=measure, args=(each, *asked)) for each, asked in probes(target).items()]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            status = process.poll()
        kills = group.kills()
    print("\n".join(f"  {count} {what}" for what, count in sorted(attack.counts().items())))
    print(f"memory: peak {peak.used >> 20} of {limit >> 20} MiB, including {peak.sockets >> 20} MiB of socket buffers")
    for each, found in figures.items():
        print(f"{each}: {found}")
    wrong = [
        f"{each}: p99 is not below {words.p99} s" for each, found in figures.items() if found.percentile(99) >= words.p99
    ]
    if kills or status is not None:
        wrong.append(f"the program was killed: {kills} OOM kills, exit status {status}")
    if peak.used >= limit:
        wrong.append(f"memory reached the limit: {peak.used} of {limit} bytes")
    if attack.counts().get("bytes read", 0) == 0:
        wrong.append("the attacking clients received no response")
    return wrong


def end(run):
    """Calls run() and prints its failures. Exits with 0, with 1 after failures, or with SKIPPED without a cgroup."""
    try:
        wrong = run()
    except Unavailable as missing:
        print(f"skipped: {missing}")
        sys.exit(SKIPPED)
    print("\n".join(wrong) or "ok")
    sys.exit(1 if wrong else 0)
