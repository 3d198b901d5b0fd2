"""Resource use of a process."""

import pathlib
import threading
import time

TICKS = 100


def machine_cpu():
    """Returns the CPU seconds that all processes of this machine have used since its start."""
    fields = pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    user, nice, system, _, _, interrupts, soft_interrupts, *_ = map(int, fields)
    return (user + nice + system + interrupts + soft_interrupts) / TICKS


def until_idle(seconds=120):
    """Waits until the machine uses less than 0.3 CPUs for three seconds in a row. The kubelet still removes
    containers for some seconds after the API server has no pod any more."""
    deadline, quiet = time.monotonic() + seconds, 0
    while quiet < 3:
        if time.monotonic() > deadline:
            raise AssertionError(f"the machine was not idle within {seconds} s: end all other programs")
        before = machine_cpu()
        time.sleep(1)
        quiet = quiet + 1 if machine_cpu() - before < 0.3 else 0


class Usage(threading.Thread):
    """Resource use of a process: CPU seconds, memory in MiB, sampled every second."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.process = pathlib.Path(f"/proc/{pid}")
        self.memory = []
        self.over = threading.Event()

    def cpu(self):
        fields = (self.process / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def field(self, name):
        lines = (self.process / "status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:"))

    def run(self):
        while not self.over.wait(1):
            self.memory.append(self.field("VmRSS"))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()
