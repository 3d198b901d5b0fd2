"""Traces of a workshop start: the collector receives one trace with the spans of launcher and operator."""

import hashlib
import http.server
import struct
import threading

from harness import wait_for
from world import World

STEPS = ("launch", "queue", "apply", "schedule", "prepare", "pull-image", "start-app")
SECOND = 10**9
# Duration, in ns, that the operator reports for a step whose start and end have the same timestamp.
SHORTEST = 1000


class Collector(http.server.ThreadingHTTPServer):
    """Receives spans as OTLP over HTTP. `spans` maps (trace, parent, name) to (start, end) in nanoseconds."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.spans, self.keys = {}, set()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def of(self, trace):
        return {name: (parent, *times) for (found, parent, name), times in list(self.spans.items()) if found == trace}

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.keys.add(self.headers["X-Key"])
        for resource in fields(sent, 1):
            for scope in fields(resource, 2):
                for span in fields(scope, 2):
                    trace, parent, name = (b"".join(fields(span, number)) for number in (1, 4, 5))
                    times = tuple(struct.unpack("<Q", each)[0] for number in (7, 8) for each in fields(span, number))
                    self.server.spans[trace, parent, name.decode()] = times
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def fields(message, wanted):
    """Yields each value of one field of a Protocol Buffers message, as bytes."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        kind = key & 7
        size = {1: 8, 5: 4}.get(kind)
        if kind == 0:
            _, end = varint(message, at)
        elif size:
            end = at + size
        else:
            size, at = varint(message, at)
            end = at + size
        if key >> 3 == wanted:
            yield message[at:end]
        at = end


def varint(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def test_workshop_start_is_one_trace():
    with Collector() as collector, World("traces", processes=False) as world:
        settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=swordfish"}
        world.launcher, world.operator = world.new_launcher(**settings), world.new_operator(**settings)
        world.launcher.start()
        world.operator.start()
        name = world.running()
        digest = hashlib.sha256(f"workshop start\n{name}".encode()).digest()
        trace, root = digest[:16], digest[16:24]

        def all_spans():
            found = collector.of(trace)
            return found.keys() >= {"start", *STEPS} and found

        spans = wait_for("the spans of all steps", all_spans, 30)
        assert collector.keys == {"swordfish"}

    parent, began, ended = spans.pop("start")
    assert parent == b""
    assert {parent for parent, *_ in spans.values()} == {root}
    assert spans.keys() == set(STEPS)
    for step, (_, from_, to) in spans.items():
        assert began <= from_ <= to <= ended, (step, spans, began, ended)
    on_cluster = [spans[step] for step in STEPS[3:]]
    gaps = {next_[1] - one[2] for one, next_ in zip(on_cluster, on_cluster[1:])}
    assert gaps <= {0, -SHORTEST}, on_cluster
    assert on_cluster[-1][2] - on_cluster[0][1] > SECOND // 10, "expected the pod start to take over 0.1 s"
