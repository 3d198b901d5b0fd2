"""Attacking clients hold connections: they send slowly, read slowly, or pipeline. A probe measures other requests.

    with Attack(Target("127.0.0.1", 8080), kinds, clients=2000) as attack:
        figures = probe(target, request, seconds=60)
    print(attack.counts())

The caller passes requests as raw bytes, so this module works with every HTTP server.
"""

import asyncio
import collections
import contextlib
import dataclasses
import itertools
import multiprocessing
import os
import resource
import socket
import time

from harness import DEADLINE

# Seconds between two bytes that a slow client sends or reads.
DRIP = 1.0
# Seconds before a client replaces a closed connection.
COMES_BACK = 0.2
PROCESSES = 2
# Timeout of a probe's request, in seconds.
GIVEN_UP = 10.0


@dataclasses.dataclass(frozen=True)
class Target:
    host: str
    port: int

    @property
    def family(self):
        return socket.AF_INET6 if ":" in self.host else socket.AF_INET


@dataclasses.dataclass(frozen=True)
class Kind:
    """The behaviour of one kind of client.

    The client sends `request` once, and then repeats `body` until the connection closes. With `slow_send` it sends one
    byte per second, otherwise as fast as the server reads. With `read` it reads responses at full speed, otherwise one
    byte per second with a small receive buffer.
    """

    name: str
    request: bytes
    body: bytes = b""
    slow_send: bool = False
    read: bool = True


def head(method, target, *lines, host="workshop.example"):
    """Returns the head of a request, with these header lines."""
    return "\r\n".join([f"{method} {target} HTTP/1.1", f"Host: {host}", *lines, "", ""]).encode()


def usual_kinds(small, large, upload):
    """Returns six kinds of attacking clients.

    `small` and `large` are complete GET requests with a small and a large response. `upload` is the head of a request
    with an endless body.
    """
    return [
        Kind("head sent slowly", small, slow_send=True),
        Kind("body sent slowly", upload, body=b"x", slow_send=True),
        Kind("body sent, response not read", upload, body=b"x" * 65536, read=False),
        Kind("response read slowly", large, read=False),
        Kind("requests pipelined, responses read", b"", body=small * 50),
        Kind("requests pipelined, responses not read", b"", body=large * 50, read=False),
    ]


async def _send(loop, connection, kind):
    if not kind.slow_send:
        await loop.sock_sendall(connection, kind.request)
        while kind.body:
            await loop.sock_sendall(connection, kind.body)
        return
    for byte in itertools.chain(kind.request, itertools.cycle(kind.body)):
        await loop.sock_sendall(connection, bytes([byte]))
        await asyncio.sleep(DRIP)  # pacing: a slow client


async def _read(loop, connection, kind, counts):
    while data := await loop.sock_recv(connection, 65536 if kind.read else 1):
        counts["bytes read"] += len(data)
        if not kind.read:
            await asyncio.sleep(DRIP)  # pacing: a slow client
    raise ConnectionResetError


async def _client(target, kind, counts, connected):
    loop, is_new = asyncio.get_running_loop(), True
    while True:
        with socket.socket(target.family, socket.SOCK_STREAM) as connection:
            connection.setblocking(False)
            if not kind.read:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            try:
                await loop.sock_connect(connection, (target.host, target.port))
                counts[f"connections: {kind.name}"] += 1
                if is_new:
                    is_new = False
                    with connected:
                        connected.value += 1
                reading = asyncio.create_task(_read(loop, connection, kind, counts))
                try:
                    await _send(loop, connection, kind)
                    await reading
                finally:
                    reading.cancel()
                    with contextlib.suppress(OSError, asyncio.CancelledError):
                        await reading
            except OSError:
                pass
        await asyncio.sleep(COMES_BACK)  # pacing: an attacker that comes back


async def _clients(target, kinds, stop, counts, connected):
    clients = [asyncio.create_task(_client(target, kind, counts, connected)) for kind in kinds]
    while not stop.is_set():
        await asyncio.sleep(0.2)  # pacing: a poll loop
    return clients


def _run(target, kinds, stop, connected, results):
    # Low CPU priority: real attackers run on other machines and take no CPU from the program.
    os.nice(19)
    counts = collections.Counter()
    asyncio.new_event_loop().run_until_complete(_clients(target, kinds, stop, counts, connected))
    results.send(counts)
    # Exit without cleanup: the kernel closes all connections at once.
    os._exit(0)


class Attack:
    """Runs this number of clients, equally many of each kind, during `with Attack(…)`."""

    def __init__(self, target, kinds, clients):
        allow_files(clients + 100)
        context = multiprocessing.get_context("spawn")
        self.stop, self.total, self.results, self.processes = context.Event(), collections.Counter(), [], []
        self.opened = context.Value("i", 0)
        everyone = list(itertools.islice(itertools.cycle(kinds), clients))
        for each in range(PROCESSES):
            result, ends = context.Pipe(duplex=False)
            self.results.append(result)
            words = (target, everyone[each::PROCESSES], self.stop, self.opened, ends)
            self.processes.append(context.Process(target=_run, args=words, daemon=True))

    def __enter__(self):
        for process in self.processes:
            process.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for process, result in zip(self.processes, self.results):
            if result.poll(DEADLINE):
                self.total += result.recv()
            process.kill()
            process.join()

    def connected(self):
        """Returns the number of clients that have connected at least once."""
        return self.opened.value

    def counts(self):
        """Returns the number of connections of each kind and the bytes read. Call it after the block."""
        return dict(self.total)


def allow_files(count):
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most if most != resource.RLIM_INFINITY else count, most))


@dataclasses.dataclass
class Figures:
    """Durations of successful requests in seconds, and the causes of failed requests."""

    seconds: list = dataclasses.field(default_factory=list)
    failures: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def percentile(self, percent):
        """Returns a percentile of the durations. A failed request counts as infinitely slow."""
        every = sorted(self.seconds) + [float("inf")] * self.failures.total()
        return every[min(len(every) - 1, len(every) * percent // 100)] if every else float("inf")

    def __str__(self):
        failed = f", failed: {dict(self.failures)}" if self.failures else ""
        each = ", ".join(f"p{percent} {self.percentile(percent) * 1000:.0f} ms" for percent in (50, 90, 99))
        return f"{len(self.seconds)} requests: {each}{failed}"


def _status(connection, request):
    connection.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer:
        if not (data := connection.recv(65536)):
            raise ConnectionResetError("connection closed before the response")
        answer += data
    lines, _, body = answer.partition(b"\r\n\r\n")
    length = next((int(line.split(b":")[1]) for line in lines.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        if not (data := connection.recv(65536)):
            raise ConnectionResetError("connection closed during the response")
        body += data
    return int(answer.split(b" ", 2)[1])


def probe(target, request, seconds, expected=200, every=0.05, keep=False):
    """Repeats the request for this number of seconds, and measures each duration including the connection setup.

    Each request opens a new connection, unless `keep` is true. If the server has closed a kept connection, the probe
    reconnects and sends the request again, as HTTP clients do.
    """
    figures, connection, ends = Figures(), None, time.monotonic() + seconds
    while time.monotonic() < ends:
        begun = time.monotonic()
        is_kept = connection is not None
        try:
            for again in (True, False):
                connection = connection or socket.create_connection((target.host, target.port), GIVEN_UP)
                try:
                    status = _status(connection, request)
                    break
                except ConnectionError:
                    connection.close()
                    connection = None
                    if not (again and is_kept):
                        raise
            if status == expected:
                figures.seconds.append(time.monotonic() - begun)
            else:
                figures.failures[f"status {status}"] += 1
        except OSError as error:
            figures.failures[type(error).__name__] += 1
            status = None
        if connection and not (keep and status):
            connection.close()
            connection = None
        time.sleep(max(0.0, every - (time.monotonic() - begun)))  # pacing: the rate of the probe
    return figures
