"""An app that tries to take its sidecar's port: it would receive the owner's requests, and the sessions of all other
visitors."""

import http.client

import pytest
from harness import DEADLINE, wait_for
from world import ALICE, BOB, IMAGES

# The hostile app. It answers on its own port and ignores SIGTERM. After a request for /steal, it takes the sidecar's port
# as soon as the port is free. After a request for /flood, it opens more connections than the sidecar accepts, each with an
# incomplete head. For 10 s it also floods the sidecar's telemetry port, which the kubelet probes every second: from the
# loopback address, and from the address of the pod.
APP = """
import http.server, os, resource, signal, socket, threading, time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
said, address = "quiet", socket.gethostbyname(socket.gethostname())

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = said.encode() if self.server.server_port != 8080 else b"stolen"
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        if self.path in DEEDS:
            threading.Thread(target=DEEDS[self.path], daemon=True).start()

def steal():
    while True:
        try:
            http.server.ThreadingHTTPServer(("0.0.0.0", 8080), Answer).serve_forever()
        except OSError:
            time.sleep(0.01)  # pacing: a poll loop

def flood():
    global said
    head = b"GET / HTTP/1.1\\r\\nX: " + b"x" * 60000
    held, until = [], time.monotonic() + 10
    for _ in range(2000):
        one = socket.create_connection(("127.0.0.1", 8080))
        one.setblocking(False)
        one.send(head)
        held.append(one)
    while time.monotonic() < until:
        sources = [("127.0.0.1", 0), (address, 0)] * 100
        silent = [socket.create_connection(("127.0.0.1", 8081), source_address=source) for source in sources]
        time.sleep(0.05)  # pacing: the flood is of connections, not of CPU time
        for one in silent:
            one.close()
    for one in held:
        one.close()
    said = "flooded"

DEEDS = {"/steal": steal, "/flood": flood}
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Answer).serve_forever()
"""
TEMPLATE = {
    "name": "hostile",
    "image": f"{IMAGES}/jupyter:test",
    "command": ["python3", "-c", APP],
    "args": [],
    "resources": {"cpu_request": "50m", "cpu_limit": "1", "memory_request": "64Mi", "memory_limit": "1Gi"},
}


@pytest.fixture
def hostile(world):
    name = world.launch(world.template(**TEMPLATE))
    world.until(name, "running")
    return name


def ask(pod, path="/", email=ALICE):
    """Asks the pod's port 8080; returns (status, body), with status 0 without an answer."""
    connection = http.client.HTTPConnection(pod["status"]["podIP"], 8080, timeout=DEADLINE)
    try:
        connection.request("GET", path, headers={"X-Auth-Request-Email": email})
        response = connection.getresponse()
        return response.status, response.read().decode()
    except (OSError, http.client.HTTPException):
        return 0, ""
    finally:
        connection.close()


def ready_since(pod):
    return next(one["lastTransitionTime"] for one in pod["status"]["conditions"] if one["type"] == "Ready")


def test_app_cannot_take_sidecar_port_while_endpoint_is_ready(world, hostile):
    pod = world.pod(hostile)
    address = pod["status"]["podIP"]

    def endpoint_is_ready():
        slices = [one for one in world.objects("endpointslices") if one["endpoints"]]
        ends = [end for one in slices for end in one["endpoints"] if end["conditions"]["ready"]]
        return address in [there for end in ends for there in end["addresses"]]

    wait_for("the endpoint to be ready", endpoint_is_ready)
    assert ask(pod, "/steal") == (200, "quiet")
    world.end(hostile)
    # The sidecar keeps the port until the endpoint removal has propagated to the proxies.
    wait_for("the port to be free for the app", lambda: ask(pod, email=BOB) == (200, "stolen"))
    assert not endpoint_is_ready()


def test_app_flood_does_not_restart_sidecar(world, hostile):
    pod = world.pod(hostile)
    assert ask(pod, "/steal") == ask(pod, "/flood") == (200, "quiet")
    wait_for("the flood to end", lambda: ask(pod) == (200, "flooded"))
    after = world.pod(hostile)
    assert world.restarts(hostile) == {"app": 0, "sidecar": 0}
    assert ready_since(after) == ready_since(pod), "the pod was not ready during the flood"
    assert ask(after, email=BOB)[0] == 403
