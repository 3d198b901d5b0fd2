"""The sidecar and its peers: commands that start each in front of an app, on one core, with the same owner check."""

import dataclasses
import pathlib
import shutil

from common import tools
from common.machine import MEASURED, answers, free_port

HERE = pathlib.Path(__file__).resolve().parent
OWNER = "alice@example.org"
IDENTITY = f"X-Auth-Request-Email: {OWNER}"
# Limits Go programs to one core.
GO = {"GOMAXPROCS": "1"}
# Caddy stores no data.
NO_HOME = {name: "/nonexistent" for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}


@dataclasses.dataclass(frozen=True)
class Proxy:
    name: str
    version: str
    # Files that the proxy needs to run.
    files: tuple
    # Function of (port of the proxy, port of the app, folder for its files) that returns the command.
    command: object
    environment: object = lambda port, app: {}
    checks: bool = True


def write(place, template, port, app):
    """Writes the configuration from peers/ into a separate folder; returns its path."""
    place.mkdir(parents=True, exist_ok=True)
    text = (HERE / "peers" / template).read_text()
    (place / template).write_text(text.format(port=port, app=app, dir=place, owner=OWNER))
    return place / template


def nginx(place, template, port, app=0):
    config = write(place, template, port, app)
    return ["nginx", "-e", place / "start.log", "-p", place, "-c", config]


def sidecar_settings(port, app):
    return {
        "SERVICE_OWNER_EMAIL": OWNER, "SERVICE_APP_PORT": str(app), "SERVICE_LISTEN_ADDR": f"127.0.0.1:{port}",
        "SERVICE_TELEMETRY_ADDR": f"127.0.0.1:{free_port()}",
    }


def traefik(place, port, app, program):
    rules = write(place, "traefik.yaml", port, app)
    return [
        program, f"--providers.file.filename={rules}", "--providers.file.watch=false", "--log.level=ERROR",
        f"--entryPoints.web.address=127.0.0.1:{port}", "--global.checkNewVersion=false",
        "--global.sendAnonymousUsage=false", "--entryPoints.web.transport.respondingTimeouts.readTimeout=0",
    ]


def oauth2_proxy(port, app, program):
    # This configuration requires no login. Otherwise oauth2-proxy would also decrypt a session for each request.
    return [
        program, f"--http-address=127.0.0.1:{port}", f"--upstream=http://127.0.0.1:{app}", "--provider=github",
        "--client-id=bench", "--client-secret=bench", "--cookie-secret=0123456789abcdef0123456789abcdef",
        "--email-domain=*", "--skip-auth-route=.*", "--request-logging=false", "--standard-logging=false",
        "--auth-logging=false", "--upstream-timeout=1h",
    ]


def all_of_them(programs):
    """Returns all proxies, the sidecar first. `programs` is the folder of Traefik and oauth2-proxy."""
    which = lambda name: pathlib.Path(shutil.which(name))  # noqa: E731
    node, chp = which("node"), tools.CHP
    caddy = tools.OWN_CADDY if tools.OWN_CADDY.exists() else which("caddy")
    proxy, edge = programs / "oauth2-proxy", programs / "traefik"
    return [
        Proxy("sidecar", tools.version(tools.SIDECAR, "--version"), (tools.SIDECAR,),
              lambda port, app, place: [tools.SIDECAR], sidecar_settings),
        Proxy("nginx", tools.version("nginx", "-v"), (which("nginx"),),
              lambda port, app, place: nginx(place, "nginx-proxy.conf", port, app)),
        Proxy("HAProxy", tools.version("haproxy", "-v"), (which("haproxy"),),
              lambda port, app, place: ["haproxy", "-db", "-f", write(place, "haproxy.cfg", port, app)]),
        Proxy("Caddy", tools.caddy_version(caddy), (caddy,),
              lambda port, app, place: [caddy, "run", "--adapter", "caddyfile", "--config",
                                        write(place, "Caddyfile", port, app)],
              lambda port, app: GO | NO_HOME),
        Proxy("Traefik", tools.pinned("github.com/traefik/traefik/v3"), (edge,),
              lambda port, app, place: traefik(place, port, app, edge), lambda port, app: GO),
        Proxy("oauth2-proxy", tools.pinned("github.com/oauth2-proxy/oauth2-proxy/v7"), (proxy,),
              lambda port, app, place: oauth2_proxy(port, app, proxy), lambda port, app: GO, checks=False),
        Proxy("CHP", f"{tools.CHP_VERSION}, Node {tools.version('node', '--version')}", (node, chp.parent),
              lambda port, app, place: [node, chp / "bin/configurable-http-proxy", "--ip=127.0.0.1", f"--port={port}",
                                        "--api-ip=127.0.0.1", f"--api-port={free_port()}", "--log-level=error",
                                        f"--default-target=http://127.0.0.1:{app}"], checks=False),
    ]


@dataclasses.dataclass(frozen=True)
class Running:
    proxy: Proxy
    pid: int
    port: int
    # Seconds from the proxy's start to the app's first answer through the proxy.
    seconds: float
    process: object


def put(started, proxy, app, place):
    """Starts this proxy in front of the app."""
    port = free_port()
    command = proxy.command(port, app, place / f"{proxy.name}-{port}")
    process, seconds = started.start(
        command, MEASURED, lambda: answers(port, headers=[IDENTITY]) == 200, proxy.environment(port, app))
    return Running(proxy, process.pid, port, seconds, process)
