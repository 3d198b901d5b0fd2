"""A minimal load balancer in front of the release. It terminates TLS and forwards all bytes unchanged."""

import contextlib
import pathlib
import socket
import socketserver
import ssl
import subprocess
import tempfile
import threading


def certificate(folder):
    """Creates a key and a self-signed certificate in one PEM file. Returns the path of the file."""
    path = pathlib.Path(folder) / "both.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"]
    names = ["-days", "1", "-subj", "/CN=test", "-keyout", path, "-out", pathlib.Path(folder) / "certificate.pem"]
    subprocess.run([*words, *names], check=True, capture_output=True, timeout=60)
    path.write_text(path.read_text() + (pathlib.Path(folder) / "certificate.pem").read_text())
    return path


def pump(source, sink):
    """Forwards bytes from source to sink until the source ends. Then shuts down sending on the sink."""
    # Ignore a disconnected peer: it must not affect other connections.
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


class Handler(socketserver.BaseRequestHandler):
    """Terminates TLS of one connection, and forwards its bytes in both directions."""

    def handle(self):
        try:
            outside = self.server.tls.wrap_socket(self.request, server_side=True)
        except OSError:
            return
        with outside, socket.create_connection(self.server.target, timeout=20) as inside:
            inside.settimeout(None)
            back = threading.Thread(target=pump, args=(inside, outside), daemon=True)
            back.start()
            pump(outside, inside)
            back.join()


class Server(socketserver.ThreadingTCPServer):
    """Accepts connections, and handles each in a separate thread."""

    allow_reuse_address = daemon_threads = True
    request_queue_size = 64


@contextlib.contextmanager
def load_balancer(address, target):
    """Forwards connections from port 443 of this address to `target`, a (host, port) pair."""
    with tempfile.TemporaryDirectory() as folder, Server((address, 443), Handler) as server:
        server.target = target
        server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.tls.load_cert_chain(certificate(folder))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield address
        finally:
            server.shutdown()
            thread.join()
