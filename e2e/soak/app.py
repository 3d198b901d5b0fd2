"""App of the soak test on the local fleet: answers HTTP requests and echoes WebSocket messages."""

import os

from websockets.datastructures import Headers
from websockets.http11 import Response
from websockets.sync.server import serve


def answer(connection, request):
    """Answers a plain HTTP request with a page. Returns None for a WebSocket upgrade."""
    if request.headers.get("Upgrade"):
        return None
    return Response(200, "OK", Headers({"Content-Length": "3", "Content-Type": "text/plain"}), b"up\n")


def echo(connection):
    for message in connection:
        connection.send(message)


with serve(echo, "127.0.0.1", int(os.environ["PORT"]), process_request=answer, compression=None) as server:
    server.serve_forever()
