"""Course material through an HTTP proxy in real pods: only the proxy knows the server's name."""

import contextlib
import http.server
import socket
import threading

import pytest
from test_material import report, serving, workshop
from test_storage import run
from world import IMAGES, World, assert_nothing_was_forbidden

LESSON = "/home/jovyan/data/lesson.txt"
# A name without an address: RFC 2606 reserves this domain.
NAME = "course.example"


class Proxy(http.server.ThreadingHTTPServer):
    """An HTTP proxy that connects every name to the node. `targets` has the HOST:PORT of all requests."""

    daemon_threads = True

    def __init__(self, node):
        super().__init__((node, 0), Handler)
        self.node, self.targets = node, []
        self.url = f"http://{node}:{self.server_port}"

    @contextlib.contextmanager
    def running(self):
        thread = threading.Thread(target=self.serve_forever)
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            thread.join()
            self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_CONNECT(self):
        self.server.targets.append(self.path)
        port = int(self.path.rpartition(":")[2])
        with socket.create_connection((self.server.node, port)) as server:
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=copy, args=(server, self.connection))
            back.start()
            copy(self.connection, server)
            back.join()

    def log_message(self, *_):
        pass


def copy(source, target):
    """Copies all bytes until the end of the source, or until the target is closed."""
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@pytest.fixture(scope="module")
def world():
    with World("material-proxy", processes=False) as made:
        yield made


@pytest.fixture(scope="module")
def proxy(world):
    """A proxy on this machine, and an operator that starts all pods with it."""
    jsonpath = "jsonpath={.items[0].status.addresses[?(@.type=='InternalIP')].address}"
    node = world.kubectl("get", "nodes", "--output", jsonpath)
    with Proxy(node).running() as made:
        settings = {"SERVICE_MATERIAL_IMAGE": f"{IMAGES}/material:test", "SERVICE_MATERIAL_PROXY": made.url}
        world.operator = world.new_operator(**settings, SERVICE_MATERIAL_NO_PROXY=node)
        world.operator.start()
        yield made


def test_program_loads_material_through_the_proxy_and_the_app_has_no_proxy(world, proxy):
    with serving(proxy.node, {"lesson.txt": "lesson\n"}) as source:
        named = source | {"url": source["url"].replace(proxy.node, NAME)}
        with workshop(world, "named", named) as name:
            found = report(world, name)
            assert found["outcome"] == "placed", found
            assert run(world, name, f"print(open('{LESSON}').read())") == "lesson"
            environment = run(world, name, "import os; print(sorted(os.environ))")
            assert "PROXY" not in environment, environment
    port = source["url"].split(":")[2].split("/")[0]
    assert set(proxy.targets) == {f"{NAME}:{port}"}
    assert_nothing_was_forbidden(world)


def test_program_reaches_a_server_of_no_proxy_directly(world, proxy):
    proxy.targets.clear()
    with serving(proxy.node, {"lesson.txt": "lesson\n"}) as source, workshop(world, "direct", source) as name:
        assert report(world, name)["outcome"] == "placed"
    assert proxy.targets == []
