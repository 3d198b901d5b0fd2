"""Load generators: wrk for rates, bench/load for latencies at a fixed rate, echoes and large bodies. They run on the
other cores."""

import json
import re
import subprocess
import sys

from common import tools
from common.machine import AROUND

from .proxies import IDENTITY

# Header lines of a browser; both load generators add Host.
BROWSER = [
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language: en-US,en;q=0.5",
    "Accept-Encoding: gzip, deflate, br",
    "Cookie: _xsrf=2|0a1b2c3d|0123456789abcdef0123456789abcdef|1700000000; username=workshop",
    "X-Forwarded-Proto: https",
]


def output(command):
    done = subprocess.run(["taskset", "-c", AROUND, *map(str, command)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def headers(lines):
    return [word for line in lines for word in ("-H", line)]


def wrk(port, connections, seconds, lines=(IDENTITY, *BROWSER), refused=False):
    """Returns the answered requests and their rate. With `refused` every answer must be a refusal, otherwise none may
    be."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", *headers(lines), f"http://127.0.0.1:{port}/"]
    status, said, wrong = output(command)
    if status:
        sys.exit(said + wrong)
    requests = int(re.search(r"(\d+) requests in", said).group(1))
    bad = int((re.search(r"Non-2xx or 3xx responses: (\d+)", said) or [0, 0])[1])
    if not requests or bad != (requests if refused else 0):
        sys.exit(f"{bad} of {requests} answers were refusals:\n{said}")
    return requests, float(re.search(r"Requests/sec:\s+([\d.]+)", said).group(1))


def ours(part, port, *words, lines=(IDENTITY, *BROWSER)):
    """Returns the output of bench/load, or None after a wrong answer."""
    status, said, wrong = output([tools.LOAD, part, f"-port={port}", *words, *headers(lines)])
    if status:
        print(f"  {part} {' '.join(words)}: {wrong.strip()}", file=sys.stderr)
        return None
    return json.loads(said)


def at_rate(port, rate, seconds):
    """Returns p50 and p99 in microseconds, or None if the program does not reach that rate."""
    said = ours("ask", port, f"-rate={rate}", "-connections=16", f"-for={seconds}s")
    if said is None or said["requests"] / said["seconds"] < 0.97 * rate:
        return None
    return said["p50"], said["p99"]
