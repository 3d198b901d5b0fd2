"""Open pages: the launcher's costs of their event streams, and the delay until a change reaches its page."""

import asyncio
import contextlib
import itertools
import json
import sys
import time

from listener import Listener
from stage import ADMIN, RUNS, Stage
from wire import content_length, request

from common.table import percentile

AT_ONCE = 8
# Number of admins who have the list of all instances open.
ADMINS = 8
# Maximum seconds until an event reports a change; after that the change counts as lost.
LOST = 10
# Measured moments of a change.
ANSWERED = "the request is answered"
HEARD = "the person's page receives the event"
SHOWN = "the person's page has the new list"
OVERSEEN = "the last admin page receives the event"


def run(chosen):
    admins = [f"admin{number}@example.org" for number in range(ADMINS)]
    people = [f"person{number:03}@example.org" for number in range(chosen.people)]
    settings = {"SERVICE_MAX_CONCURRENT_STARTS": "4", "SERVICE_ADMIN_EMAILS": ",".join([ADMIN, *admins])}
    with Stage(program=chosen.program, **settings) as stage:
        lasting = {"lifetime_seconds": 7200, "extension_seconds": 60, "max_lifetime_seconds": 86400}
        names = stage.launch(stage.template(command=RUNS, **lasting), people)
        stage.wait_until_running(len(people))
        asyncio.run(Crowd(stage, dict(zip(people, names)), admins).measure(chosen.changes))


class Crowd:
    """People with one open page each, and one workshop each that they extend."""

    def __init__(self, stage, workshops, admins):
        self.stage, self.workshops, self.admins = stage, workshops, admins
        self.pages, self.watchers = {}, []

    async def measure(self, changes):
        before = await self.settled()
        self.pages = {person: Listener(self.stage, person) for person in self.workshops}
        await self.opened(self.pages.values())
        print(f"\n| {len(self.workshops)} running, memory of the launcher | RSS | Pss |\n|---|---|---|")
        tell_memory("no page open", before)
        with_streams = await self.settled()
        tell_memory(f"{len(self.pages)} pages open", with_streams)
        self.watchers = [Listener(self.stage, admin, "?of=all") for admin in self.admins]
        await self.opened(self.watchers)
        results = {"one at a time": await self.turns(changes, 1)}
        results[f"{AT_ONCE} at once"] = await self.turns(changes, AT_ONCE)
        tell_memory(f"and {len(self.watchers)} of admins, after {2 * changes} changes", await self.settled())
        for listener in [*self.pages.values(), *self.watchers]:
            await listener.close()
        tell_memory("all closed", await self.settled())
        grown = (with_streams[1] - before[1]) * 1024 / len(self.pages)
        print(f"\nAn open page takes {grown:.1f} kB (Pss).\n")
        print("| from asking for a change, until | | p50 | p99 | longest |\n|---|---|---|---|---|")
        for how, result in results.items():
            for what, times in result.items():
                figures = [f"{figure:.1f} ms" for figure in (percentile(times, 50), percentile(times, 99), max(times))]
                print(f"| {what} | {how} | {' | '.join(figures)} |")

    async def opened(self, listeners):
        """Opens all listeners, 16 at a time, and waits until no more events arrive."""
        gate = asyncio.Semaphore(16)

        async def open_one(listener):
            async with gate:
                await listener.open()

        await asyncio.gather(*(open_one(listener) for listener in listeners))
        await quiet(listeners)

    async def settled(self):
        """Returns the memory once it has stopped changing."""
        last = self.stage.memory()
        for _ in range(20):
            await asyncio.sleep(0.5)
            now = self.stage.memory()
            if abs(now[1] - last[1]) < 0.05:
                return now
            last = now
        return last

    async def turns(self, count, workers):
        """Makes `count` changes, by `workers` people at a time; returns the milliseconds until each moment of each
        change."""
        await quiet([*self.pages.values(), *self.watchers])
        # An extension may cause a second event, after the fleet has applied it. People take turns, so that this event
        # arrives long before the same person's next extension, and does not count as the event of that extension.
        waiting = itertools.islice(itertools.cycle(self.workshops), count)
        times = {what: [] for what in (ANSWERED, HEARD, SHOWN, OVERSEEN)}

        async def work():
            reader, writer = await asyncio.open_connection("127.0.0.1", self.stage.port)
            with contextlib.closing(writer):
                for person in waiting:
                    for what, took in (await self.change(reader, writer, person)).items():
                        times[what].append(took * 1000)

        await asyncio.gather(*(work() for _ in range(workers)))
        if any(len(found) != count for found in times.values()):
            sys.exit(f"fewer events than the {count} changes")
        return times

    async def change(self, reader, writer, person):
        """Extends this person's workshop; returns the seconds until each moment."""
        name = self.workshops[person]
        heard = self.pages[person].next(name)
        seen = [watcher.next(name) for watcher in self.watchers]
        started = time.perf_counter()
        answered = asyncio.create_task(ask(reader, writer, "POST", f"/api/v1/instances/{name}/extend", person))
        async with asyncio.timeout(LOST):
            told = await heard
            status, body, answer = await answered
            if status != 200:
                sys.exit(f"extending answered {status}: {body[:300].decode()}")
            end = json.loads(body)["expires_at"]
            status, page, shown = await ask(reader, writer, "GET", "/fragments/workshops", person)
            if status != 200 or f'datetime="{end}'.encode()[:29] not in page:
                sys.exit(f"the list of {person} lacks the expiry {end}")
            last = max(await asyncio.gather(*seen))
        moments = {ANSWERED: answer, HEARD: told, SHOWN: shown, OVERSEEN: last}
        return {what: moment - started for what, moment in moments.items()}


async def ask(reader, writer, method, path, person):
    """Sends a request; returns the status, the body, and the time of the answer."""
    writer.write(request(method, path, person))
    head = await reader.readuntil(b"\r\n\r\n")
    body = await reader.readexactly(content_length(head))
    return int(head.split(b" ", 2)[1]), body, time.perf_counter()


async def quiet(listeners):
    """Waits until no listener has received an event for a second."""
    while max(listener.last for listener in listeners) > time.perf_counter() - 1:
        await asyncio.sleep(0.1)


def tell_memory(what, memory):
    print(f"| {what} | {memory[0]:.1f} MiB | {memory[1]:.1f} MiB |", flush=True)
