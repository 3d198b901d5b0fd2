"""A proxy in front of the API server. It injects the faults that a test requests.

Launcher and operator speak HTTP to the proxy (`World.kubeconfig(account, server=proxy.url)`). The proxy speaks TLS to
the API server, forwards bearer tokens and streams watches. Tests name a call by its verb and resource:
"PATCH workshops/status", "WATCH pods", "PUT leases". A rule counts down, so that a test can assert that its faults occurred.
"""

import asyncio
import contextlib
import dataclasses
import json
import ssl
import threading

import aiohttp
import yarl
from aiohttp import web

from api_server import api_server
from harness import DEADLINE, free_port, wait_for

REASONS = {409: "Conflict", 410: "Expired", 429: "TooManyRequests", 500: "InternalError", 504: "Timeout"}
HOP_BY_HOP = {"connection", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}

CONFLICT, TOO_MANY, BROKEN = "409", "429", "500"
DONE_BUT_504, DONE_BUT_RESET = "504 after success", "connection reset after success"
RESET, HANG = "connection reset", "hang"
EXPIRED = "410 in the watch"


@dataclasses.dataclass
class Rule:
    """Injects `fault` into the next `left` calls of one kind, for objects whose names begin with `name`."""

    fault: str
    call: str
    left: int
    name: str

    def takes(self, call, name):
        """Returns True if the fault must be injected into this call. Such a call is counted."""
        if self.left < 1 or call != self.call or not name.startswith(self.name):
            return False
        self.left -= 1
        return True


class Proxy:
    """The proxy. Its event loop runs in a separate thread. Usage: `with Proxy() as proxy`."""

    def __init__(self):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.rules = []
        self.calls = set()
        self.watches = {}
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        self._run(self._open())
        return self

    def __exit__(self, *_):
        self._run(self._close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def _run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout=DEADLINE)

    # Methods for tests.

    def inject(self, fault, call, times=1, name=""):
        """Injects this fault into the next `times` calls of this kind. Returns the rule, which counts down."""
        rule = Rule(fault, call, times, name)
        self.rules.append(rule)
        return rule

    def stop_faults(self):
        """Stops injecting faults."""
        self.rules.clear()

    def drop_watches(self, at_least):
        """Waits until the program has this many watches, and resets the connections of all."""
        wait_for(f"{at_least} watches", lambda: len(self.watches) >= at_least)
        self._run(self._drop_watches())

    def begin_outage(self):
        """Simulates an outage of the API server: refuses new connections and resets existing connections."""
        self._run(self._begin_outage())

    def end_outage(self):
        """Ends the simulated outage: accepts connections again."""
        self._run(self._listen())

    # Implementation: HTTP server for launcher and operator, HTTP client of the API server.

    async def _open(self):
        authority, self.server = api_server().authority, api_server().url
        connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cadata=authority), limit=0)
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=DEADLINE)
        self.session = aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=False)
        application = web.Application(client_max_size=8 << 20)
        application.router.add_route("*", "/{path:.*}", self._handle)
        # handler_cancellation: when a client disconnects, the proxy also closes the upstream watch of this client.
        self.runner = web.AppRunner(application, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await self.runner.setup()
        await self._listen()

    async def _listen(self):
        self.listener = await self.loop.create_server(self.runner.server, "127.0.0.1", self.port)

    async def _begin_outage(self):
        self.listener.close()
        for connection in self.runner.server.connections:
            if connection.transport:
                connection.transport.abort()

    async def _close(self):
        await self._begin_outage()
        await self.runner.cleanup()
        await self.session.close()

    async def _drop_watches(self):
        for request in list(self.watches.values()):
            cut(request)

    async def _handle(self, request):
        body = await request.read()
        call, name = named(request, body)
        self.calls.add(call)
        fault = next((rule.fault for rule in self.rules if rule.takes(call, name)), None)
        with contextlib.suppress(ConnectionResetError):
            return await self._answer(request, body, call, fault)
        return cut(request)

    async def _answer(self, request, body, call, fault):
        if fault in (CONFLICT, TOO_MANY, BROKEN):
            return refusal(int(fault))
        if fault in (DONE_BUT_504, DONE_BUT_RESET):
            # Shielded: the upstream call must complete even if the client disconnects.
            await asyncio.shield(self._do(request, body))
            return refusal(504) if fault == DONE_BUT_504 else cut(request)
        if fault == RESET:
            return cut(request)
        if fault == HANG:
            await asyncio.Event().wait()
        if fault == EXPIRED:
            return web.Response(text=json.dumps({"type": "ERROR", "object": status(410)}) + "\n")
        return await self._forward(request, body, call)

    def _ask(self, request, body):
        url = yarl.URL(self.server + request.raw_path, encoded=True)
        return self.session.request(request.method, url, headers=end_to_end_headers(request.headers), data=body or None)

    async def _do(self, request, body):
        async with self._ask(request, body) as answer:
            await answer.read()

    async def _forward(self, request, body, call):
        async with self._ask(request, body) as answer:
            response = web.StreamResponse(status=answer.status, headers=end_to_end_headers(answer.headers))
            await response.prepare(request)
            if call.startswith("WATCH"):
                self.watches[id(request)] = request
            try:
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
            finally:
                self.watches.pop(id(request), None)
            await response.write_eof()
            return response


def named(request, body):
    """Returns the call and the name of the object, for example ("PATCH workshops/status", "notes-abc")."""
    _, _, rest = request.path.partition("/namespaces/")
    kind, name, part = ([*rest.split("/")[1:], "", "", ""])[:3]
    verb = request.method
    if verb == "GET" and kind and not name:
        verb = "WATCH" if request.query.get("watch") in ("true", "1") else "LIST"
    if verb == "POST" and not name:
        with contextlib.suppress(ValueError):
            name = json.loads(body).get("metadata", {}).get("name", "")
    return f"{verb} {kind or 'namespaces'}{'/' * bool(part)}{part}", name


def end_to_end_headers(headers):
    """Returns all headers except hop-by-hop headers."""
    return [(name, value) for name, value in headers.items() if name.lower() not in HOP_BY_HOP]


def status(code):
    """Returns the Kubernetes Status object for this HTTP status code."""
    said = {"status": "Failure", "message": "fault injected by the test", "reason": REASONS[code], "code": code}
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}} | said


def refusal(code):
    """Returns an error response with this HTTP status code and a Kubernetes Status object."""
    headers = {"Retry-After": "1"} if code == 429 else None
    return web.json_response(status(code), status=code, headers=headers)


def cut(request):
    """Resets the client's connection. Handlers must return a response, but the returned response is never sent."""
    if request.transport:
        request.transport.abort()
    return web.Response()
