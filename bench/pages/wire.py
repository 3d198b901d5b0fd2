"""HTTP/1.1 over a bare socket, so that the client itself adds little to a measured time."""

import socket

TIMEOUT = 60


def request(method, path, person):
    """Returns the bytes of a request by this person, without a body."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", "Accept: text/html, application/json"]
    if person:
        lines.append(f"X-Auth-Request-Email: {person}")
    if method != "GET":
        lines.append("Content-Length: 0")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def content_length(head):
    """Returns the length of the body that follows this head. Pages and the API always send it."""
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    raise ValueError(f"response without Content-Length: {head[:300]!r}")


class Line:
    """One persistent connection: `with Line(port, person) as line`."""

    def __init__(self, port, person=None):
        self.person = person
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def get(self, path):
        return self.exchange(request("GET", path, self.person))

    def exchange(self, message):
        """Sends these bytes; returns the status and the body of the answer."""
        self.socket.sendall(message)
        received = bytearray()
        while (end := received.find(b"\r\n\r\n")) < 0:
            self.read(received)
        head = bytes(received[:end])
        whole = end + 4 + content_length(head)
        while len(received) < whole:
            self.read(received)
        return int(head.split(b" ", 2)[1]), bytes(received[end + 4 :])

    def read(self, received):
        part = self.socket.recv(1 << 20)
        if not part:
            raise ConnectionError("the launcher closed the connection")
        received += part
