"""A minimal load balancer in front of the release. It terminates TLS and forwards all bytes unchanged.

As other load balancers do, it connects again if the release refuses a connection: the Service refuses connections while
the cluster changes its endpoints.
"""

import asyncio
import contextlib
import functools
import pathlib
import ssl
import subprocess
import sys
import tempfile
import threading

CONNECT_ATTEMPTS, CONNECT_SECONDS = 10, 5


def certificate(folder, *hosts):
    """Creates a key and a self-signed certificate for these hosts in one PEM file. Returns the path of the file."""
    path = pathlib.Path(folder) / "both.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"]
    names = ["-days", "1", "-subj", "/CN=test", "-keyout", path, "-out", pathlib.Path(folder) / "certificate.pem"]
    if hosts:
        names += ["-addext", "subjectAltName=" + ",".join(f"DNS:{host}" for host in hosts)]
    subprocess.run([*words, *names], check=True, capture_output=True, timeout=60)
    path.write_text(path.read_text() + (pathlib.Path(folder) / "certificate.pem").read_text())
    return path


async def pump(source, sink):
    """Forwards bytes from source to sink until the source ends. Then ends the sink. After an error, aborts the sink."""
    try:
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
        else:
            # TLS cannot end one direction only.
            sink.close()
    except OSError:
        # A disconnected peer must not affect other connections.
        sink.transport.abort()


async def connected(target):
    """Connects to `target`, and tries again each second. Reports each error, because the client sees only an end."""
    for attempt in range(1, CONNECT_ATTEMPTS + 1):
        try:
            return await asyncio.wait_for(asyncio.open_connection(*target), CONNECT_SECONDS)
        except OSError as error:
            print(f"load balancer: attempt {attempt} to connect to {target} failed: {error}", file=sys.stderr)
            if attempt == CONNECT_ATTEMPTS:
                raise
            await asyncio.sleep(1)


async def forward(target, outside_reader, outside):
    """Forwards the bytes of one connection in both directions."""
    inside = None
    try:
        inside_reader, inside = await connected(target)
        await asyncio.gather(pump(outside_reader, inside), pump(inside_reader, outside))
    except OSError:
        pass
    finally:
        outside.close()
        if inside:
            inside.close()


async def serve(address, target, tls, ready, stop):
    """Serves until `stop` is set, and ends all connections."""
    handler = functools.partial(forward, target)
    server = await asyncio.start_server(handler, address, 443, ssl=tls, backlog=64)
    ready.set()
    await asyncio.to_thread(stop.wait)
    server.close()


@contextlib.contextmanager
def load_balancer(address, target):
    """Terminates TLS on port 443 of this address, and forwards connections to `target`, a (host, port) pair."""
    with tempfile.TemporaryDirectory() as folder:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate(folder))
        ready, stop = threading.Event(), threading.Event()
        thread = threading.Thread(target=asyncio.run, args=(serve(address, target, tls, ready, stop),))
        thread.start()
        try:
            assert ready.wait(60), f"the load balancer does not listen on {address}"
            yield address
        finally:
            stop.set()
            thread.join()
