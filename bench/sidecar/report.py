"""The tables, and the verdicts on the targets."""

from common.machine import AROUND, MEASURED, described
from common.table import Aims, cell, ratios, table

from . import rest
from .scenes import CONNECTIONS, MESSAGES, RATES

AIMS = Aims("sidecar / nginx")


def opening(each, options):
    print(f"## The sidecar beside other proxies\n\n{described()}. "
          f"Medians of {options.rounds} rounds of {options.seconds} s in turns, "
          "lowest to highest in parentheses.")
    versions = ", ".join(f"{proxy.name} {proxy.version}" for proxy in each)
    print(f"{versions}. Each has core {MEASURED} to itself; the app and the load are on {AROUND}.")


def rows(each, columns):
    """Returns one row per proxy; a column is a function of the proxy."""
    return [[proxy.name, *(column(proxy) for column in columns)] for proxy in each]


def show(scene, each, first, columns):
    """Prints a table; `columns` maps heads to the keys of figures."""
    take = [lambda proxy, what=what: cell(scene.figures.get((what, proxy.name), [])) for what in columns.values()]
    table((first, *columns), rows(each, take))


def judge(scene, what, noted, limit, least=False):
    figures = [scene.figures.get((noted, name), "-") for name in ("sidecar", "nginx")]
    AIMS.judge(what, ratios(*figures), limit, least)


def requests(scene, each):
    heads = {f"{count} connection{'s' if count > 1 else ''}": count for count in CONNECTIONS}
    for noted, first in (("rate", "requests a second"), ("cpu", "CPU of a request, µs"),
                         ("busy", "its core was busy, %")):
        show(scene, each, first, {head: (noted, count) for head, count in heads.items()})
    more = {"a new connection each, a second": ("rate", "new"), "CPU, µs": ("cpu", "new"),
            "403, a second": ("rate", "403"), "403, CPU, µs": ("cpu", "403")}
    show(scene, each, "", more)
    print("-: oauth2-proxy and CHP cannot compare an owner, so they check nobody here.\n")
    memory = {proxy.name: scene.figures["after load", proxy.name][-1] for proxy in each}
    table(("memory after this load, MiB", "RSS", "Pss"),
          rows(each, [lambda proxy: cell([memory[proxy.name][0]]), lambda proxy: cell([memory[proxy.name][1]])]))
    for head, what in [*heads.items(), ("new connections", "new"), ("403", "403")]:
        judge(scene, f"CPU of a request: {head}", ("cpu", what), 0.9)
        judge(scene, f"requests a second: {head}", ("rate", what), 1, least=True)


def latency(scene, each):
    heads = {f"{rate:,}/s, p{percent}": (rate, percent) for rate in RATES for percent in (50, 99)}
    show(scene, each, "added to the app's own time, µs", heads)
    print("-: it does not keep up with that rate.\n")
    alone = [cell(scene.figures.get(((*what, "app"), "the app alone"), [])) for what in heads.values()]
    table(("the app alone takes, µs", *heads), [["", *alone]])
    for head, what in heads.items():
        judge(scene, f"added latency: {head}", what, 1)


def echoes(scene, each):
    heads = {}
    for name in MESSAGES:
        heads |= {f"{name}, a second": ("rate", name), f"{name}, CPU, µs": ("cpu", name),
                  f"{name}, p99, µs": ("p99", name)}
    show(scene, each, "WebSocket echoes, 16 at once", heads)
    for name in MESSAGES:
        judge(scene, f"WebSocket echoes of {name} a second", ("rate", name), 1, least=True)
        judge(scene, f"CPU of an echo of {name}", ("cpu", name), 0.9)


def bodies(scene, each):
    heads = {}
    for way in ("up", "down"):
        heads |= {f"{way}, MiB/s": (way, "rate"), f"{way}, CPU s per GiB": (way, "cpu"),
                  f"{way}, highest RSS, MiB": (way, "peak")}
    show(scene, each, "one large body", heads)
    for way in ("up", "down"):
        judge(scene, f"large body {way}: MiB/s", (way, "rate"), 1, least=True)
        judge(scene, f"large body {way}: CPU", (way, "cpu"), 0.9)


def at_rest(scene, each):
    heads = {"RSS": "rest rss", "Pss": "rest pss", "in no file": "rest own", "RSS, WebSockets": "sockets rss",
             "Pss, WebSockets": "sockets pss", "KiB a WebSocket": "socket", "ms from start to first answer": "start"}
    take = [lambda proxy, what=what: cell(scene.figures[what, proxy.name]) for what in heads.values()]
    take.append(lambda proxy: cell([rest.sizes(proxy)]))
    table(("at rest, MiB", *heads, "program and libraries, MB"), rows(each, take))
    own = scene.figures["rest pss", "sidecar"]
    AIMS.judge("Pss at rest / 1.5 MiB", [figure / 1.5 for figure in own], 1)
    for noted, what in (("rest pss", "Pss at rest"), ("sockets pss", "Pss with idle WebSockets")):
        least = [min(figures) for figures in zip(*(scene.figures[noted, p.name] for p in each if p.name != "sidecar"))]
        AIMS.judge(f"{what} / the smallest of the other proxies", ratios(scene.figures[noted, "sidecar"], least), 1)
    judge(scene, "time to the first answer", "start", 1)


def closing():
    print("Targets, checked in each round: at most 0.9 of nginx's CPU, at least its rate, at most its latency.\n")
    AIMS.show()
