"""One open page: its event stream, read as it arrives."""

import asyncio
import contextlib
import time

# Bytes that a listener buffers. They are memory of the bench, not of the launcher.
LIMIT = 1 << 16


class Listener:
    """The event stream of this person's page; `query` selects its contents."""

    def __init__(self, stage, person, query=""):
        self.stage, self.path, self.person = stage, f"/fragments/events{query}", person
        self.expected = {}
        # Time of the last event.
        self.last = 0.0
        self.writer = self.task = None

    async def open(self):
        stream = self.stage.stream(self.path, {"X-Auth-Request-Email": self.person})
        reader, self.writer = await asyncio.open_connection(sock=stream, limit=LIMIT)
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.split(b"\r\n")[0] or b"text/event-stream" not in head:
            raise ConnectionError(f"no event stream: {head[:300]!r}")
        self.last = time.perf_counter()
        self.task = asyncio.create_task(self.listen(reader))

    async def listen(self, reader):
        while True:
            # The chunked body also has lines with chunk sizes, which never begin with `data: `. No decoding is needed.
            line = await reader.readline()
            now = time.perf_counter()
            if not line:
                raise ConnectionError("a stream ended")
            if line.startswith(b"data: "):
                self.last = now
                waiting = self.expected.pop(line[6:].strip().decode(), None)
                if waiting and not waiting.done():
                    waiting.set_result(now)

    def next(self, name):
        """Returns a future with the time of the next event about this instance."""
        self.expected[name] = asyncio.get_running_loop().create_future()
        return self.expected[name]

    async def close(self):
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task
        self.writer.close()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()
