"""Processes of a bench: started on dedicated cores, measured from /proc, and terminated."""

import contextlib
import os
import pathlib
import platform
import re
import resource
import signal
import socket
import subprocess
import sys
import time

CORES = sorted(os.sched_getaffinity(0))
# The measured program runs alone on the last core. Its app and the load generator share the other cores.
MEASURED = str(CORES[-1])
AROUND = ",".join(map(str, CORES[:-1] or CORES))
PATIENCE = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def prepare():
    """Lets a bench terminate its processes on SIGTERM, and raises its limit of open files to the maximum."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def described():
    """Returns the machine, its load, and the time, for the head of a report."""
    load = f"load {os.getloadavg()[0]:.1f} before"
    return f"{os.cpu_count()} CPUs, {load}, Linux {platform.release()}, {time.strftime('%F %R %Z')}"


def load_average():
    return f"load average before: {' '.join(f'{figure:.1f}' for figure in os.getloadavg())}"


def tree(pid):
    """Returns the pids of a process and all its descendants."""
    found = [pid]
    for each in found:
        for task in pathlib.Path(f"/proc/{each}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def cpu_seconds(pid, children=True):
    """Returns CPU seconds in nanosecond steps: the ticks of /proc/PID/stat are too coarse for a round of a second."""
    total = 0
    for each in tree(pid) if children else [pid]:
        for task in pathlib.Path(f"/proc/{each}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def memory(pid, children=True):
    """Returns RSS and Pss in MiB."""
    fields = {"Rss": 0, "Pss": 0}
    for each in tree(pid) if children else [pid]:
        rollup = pathlib.Path(f"/proc/{each}/smaps_rollup").read_text()
        for name, kib in re.findall(r"^(Rss|Pss):\s+(\d+)", rollup, re.M):
            fields[name] += int(kib) / 1024
    return fields["Rss"], fields["Pss"]


def pss(pids):
    """Returns the proportional set size of these processes, in MiB."""
    return sum(memory(pid, children=False)[1] for pid in pids)


def named(*names):
    """Returns the pids of all processes whose names begin so. The kernel abbreviates names to 15 characters."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            found += [int(path.parent.name)] if path.read_text().startswith(names) else []
    return found


def unshared(pid):
    """Returns the processes' anonymous memory in MiB: the cost of one more instance of a program that already runs."""
    rollups = (pathlib.Path(f"/proc/{each}/smaps_rollup").read_text() for each in tree(pid))
    return sum(int(re.search(r"^Pss_Anon:\s+(\d+)", rollup, re.M).group(1)) for rollup in rollups) / 1024


def forget_peak(pid):
    for each in tree(pid):
        pathlib.Path(f"/proc/{each}/clear_refs").write_text("5")


def peak(pid):
    """Returns the highest RSS since forget_peak, in MiB."""
    return sum(
        int(re.search(r"^VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{each}/status").read_text(), re.M).group(1)) / 1024
        for each in tree(pid)
    )


def answers(port, path="/", headers=()):
    """Returns the status of a GET, or None without an answer."""
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Connection: close", *headers, "", ""]
    with contextlib.suppress(OSError, ValueError, IndexError):
        with socket.create_connection(("127.0.0.1", port), 2) as line:
            line.sendall("\r\n".join(lines).encode())
            return int(line.recv(4096).split()[1])
    return None


class Started:
    """`with Started() as started`: terminates at the end of the block all processes that it started."""

    def __enter__(self):
        self.processes = []
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            self.end(process)

    def end(self, process):
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(self, command, cores, ready, environment=None, log=subprocess.DEVNULL):
        """Starts a process and waits until ready() holds; returns the process, and the seconds until then."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
        began = time.perf_counter()
        process = subprocess.Popen(
            ["taskset", "-c", cores, *map(str, command)], env=inherited | (environment or {}),
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )
        self.processes.append(process)
        while not ready():
            if process.poll() is not None:
                sys.exit(f"{' '.join(map(str, command))} ended with status {process.returncode}")
            if time.perf_counter() - began > PATIENCE:
                sys.exit(f"{command[0]} is not ready after {PATIENCE} s")
            time.sleep(0.001)
        return process, time.perf_counter() - began
