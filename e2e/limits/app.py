"""The app behind the attacked sidecar."""

import asyncio
import contextlib

from limits.attack import allow_files


async def _answer(reader, writer):
    with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        while True:
            request = await reader.readuntil(b"\r\n\r\n")
            if request.startswith(b"PUT"):
                while await reader.read(65536):
                    pass
            elif request.startswith(b"GET /large"):
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n")
                for _ in range(1024):
                    writer.write(bytes(65536))
                    await writer.drain()
            else:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                await writer.drain()
    writer.close()


def serve(port):
    """Runs an app with a small and a large response. Call it in a separate process, because it blocks."""

    async def run():
        server = await asyncio.start_server(_answer, "127.0.0.1", port, backlog=1024)
        await server.serve_forever()

    allow_files(4096)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())
