"""Test app: answers each request with the bytes of its head, and echoes WebSocket messages."""
import base64
import hashlib
import os
import socket
import threading


def serve(connection):
    head = b""
    while b"\r\n\r\n" not in head:
        received = connection.recv(65536)
        if not received:
            return
        head += received
    keys = [line.split(b":")[1].strip() for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key:")]
    if keys:
        accept = base64.b64encode(hashlib.sha1(keys[0] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
        connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
        )
        echo_frames(connection)
    else:
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nSet-Cookie: one=1\r\nSet-Cookie: two=2\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
            % len(head)
        )
        connection.sendall(head)
    connection.close()


def echo_frames(connection):
    stream = connection.makefile("rb")
    while header := stream.read(2):
        length, mask = header[1] & 127, stream.read(4)
        data = bytes(byte ^ mask[index % 4] for index, byte in enumerate(stream.read(length)))
        connection.sendall(bytes([header[0], length]) + data)


listener = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
