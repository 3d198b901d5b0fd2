#!/usr/bin/env python3
"""The hosts around the test server, in one network namespace: HTTP, DNS and a UDP echo on each address.

Prints `ready` when all listen, then a line for each request: `http|dns|echo ADDRESS PORT from SOURCE`.
"""

import asyncio
import io
import ipaddress
import os
import pathlib
import struct
import subprocess
import sys
import tarfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from network import ECHO_PORT, HTTP_PORTS, INTERFACE, INTERNET, SURROUNDINGS, apply_settings  # noqa: E402

DNS_PORT = 53


def material():
    """Returns an archive of course material, always with the same bytes: the tests of the fleet name its SHA-256."""
    made, text = io.BytesIO(), b"lesson\n"
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        entry = tarfile.TarInfo("lesson.txt")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    return made.getvalue()


MATERIAL = material()


def say(kind, address, port, source):
    print(f"{kind} {address} {port} from {source}", flush=True)


def dns_answer(query):
    """Returns the answer to a DNS query: the address of INTERNET for each name of type A, and no address otherwise."""
    end = query.index(0, 12) + 5
    kind = struct.unpack("!H", query[end - 4:end - 2])[0]
    count = 1 if kind == 1 else 0
    record = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + ipaddress.ip_address(INTERNET).packed
    return query[:2] + struct.pack("!HHHHH", 0x8180, 1, count, 0, 0) + query[12:end] + record * count


class Datagrams(asyncio.DatagramProtocol):
    """Answers each datagram: as a name server on port 53, otherwise with the same data."""

    def __init__(self, address, port):
        self.address, self.port = address, port

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, source):
        is_dns = self.port == DNS_PORT and len(data) > 16
        say("dns" if is_dns else "echo", self.address, self.port, source[0])
        self.transport.sendto(dns_answer(data) if is_dns else data, source)


def http_server(address, port):
    async def answer(reader, writer):
        try:
            say("http", address, port, writer.get_extra_info("peername")[0])
            # The client is a program of an engine, which may get little processor time.
            async with asyncio.timeout(120):
                head = await reader.readuntil(b"\r\n\r\n")
                text = MATERIAL if head.startswith(b"GET /material.tar ") else f"this is {address}".encode()
                writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(text), text))
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    return asyncio.start_server(answer, address, port, backlog=1024)


async def serve(http_ports, datagram_port, done):
    """Serves these ports on all addresses. Calls done() when all listen."""
    loop = asyncio.get_running_loop()
    for address in (each.partition("/")[0] for each in SURROUNDINGS):
        for port in http_ports:
            await http_server(address, port)
        await loop.create_datagram_endpoint(lambda: Datagrams(address, datagram_port), local_addr=(address, datagram_port))
    done()
    await asyncio.Event().wait()


def serve_names():
    """Serves the names in a process of their own: a flood of the other ports does not delay them. Returns when all listen."""
    ready, done = os.pipe()
    if os.fork() == 0:
        asyncio.run(serve((), DNS_PORT, lambda: os.close(done)))
    os.close(done)
    # Returns at the end of the file: the name server has closed its end.
    os.read(ready, 1)


def main():
    show = ["ip", "link", "show", INTERFACE]
    while subprocess.run(show, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        time.sleep(0.01)  # pacing: a poll loop
    lines = [f"address add {each} dev {INTERFACE}{' nodad' if ':' in each else ''}" for each in SURROUNDINGS]
    apply_settings()
    batch = "\n".join(["link set lo up", *lines, f"link set {INTERFACE} up", ""])
    subprocess.run(["ip", "-batch", "-"], input=batch, text=True, check=True)
    serve_names()
    asyncio.run(serve(HTTP_PORTS, ECHO_PORT, lambda: print("ready", flush=True)))


if __name__ == "__main__":
    main()
