"""Checks of the server: DNS, ports, memory, the engine's socket, images."""

import errno
import http.client
import json
import os
import pathlib
import re
import secrets
import shutil
import socket
import stat
import subprocess
import urllib.request

from . import generate
from .problem import Problem

MIB = 1024 * 1024
LEAST_DISK_MIB = 5 * 1024
NAMES = ("dns", "memory", "ports", "provider", "kernel")


def dns(settings):
    """Returns faults of the DNS records: both names must lead to this server."""
    own, found = addresses(), []
    # No name server has this name in its cache. Only a wildcard record answers for it.
    anything = f"setup-{secrets.token_hex(4)}.{settings.workshops_domain}"
    for host, record in ((settings.domain, settings.domain), (anything, f"*.{settings.workshops_domain}")):
        resolved = resolve(host)
        if not resolved:
            found.append(
                f"the name {record} has no address. Create a DNS record of type A for {record} with the public address of "
                "this server, and wait until it is known"
            )
        elif own and not resolved & own:
            found.append(
                f"{record} leads to {', '.join(sorted(resolved))}, and this server has the addresses {', '.join(sorted(own))}. "
                "This is correct only if a router or load balancer forwards the ports to this server"
            )
    return found


def resolve(host):
    try:
        return {one[4][0] for one in socket.getaddrinfo(host, 443, proto=socket.IPPROTO_TCP)}
    except OSError:
        return set()


def addresses():
    """Returns the addresses of this server that others may reach; an empty set if `ip` does not tell."""
    try:
        told = subprocess.run(["ip", "-json", "address"], capture_output=True, text=True, timeout=20)
        links = json.loads(told.stdout or "[]")
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return set()
    return {one["local"] for link in links for one in link.get("addr_info", []) if one.get("scope") == "global"}


def ports(settings):
    """Raises if a port is taken by another program."""
    wanted = [("", settings.http_port, "--http-port"), ("", settings.https_port, "--https-port")]
    wanted += [("127.0.0.1", port, "--local-port") for port in settings.ports.values()]
    for address, port, flag in wanted:
        with socket.socket() as listener:
            # The option admits ports whose last connections are still closing.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((address, port))
            except OSError as error:
                raise Problem(_port_problem(error, port, flag)) from None


def _port_problem(error, port, flag):
    if error.errno == errno.EACCES:
        return (
            f"this user may not listen on port {port}. Run setup as root; or, with rootless Podman: "
            f"sysctl net.ipv4.ip_unprivileged_port_start={port}"
        )
    return (
        f"another program uses port {port}. Find it with: ss -ltnp 'sport = :{port}'. Stop and disable it, as in: systemctl "
        f"disable --now nginx; or choose another port with {flag}"
    )


def memory(settings):
    """Returns a warning if the server has too little memory for the programs and one workshop of each template."""
    limits = re.findall(r"^ +mem_limit: (\d+)m$", (generate.SOURCES / "compose.yaml").read_text(encoding="utf-8"), re.MULTILINE)
    needed = sum(map(int, limits)) + 1024
    present = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MIB
    if present < needed:
        return [f"the server has {present} MiB of memory. Its own programs and one workshop may take {needed} MiB"]
    return []


def disk(settings):
    """Returns a warning if the volume of the data has little space."""
    path = pathlib.Path(settings.data_dir)
    while not path.exists():
        path = path.parent
    free = shutil.disk_usage(path).free // MIB
    if free < LEAST_DISK_MIB:
        return [f"{free} MiB are free on the volume of {path}. Images and files of workshops need several GiB"]
    return []


def engine_socket(path):
    """Raises if the engine's socket does not exist: the launcher could not start a workshop."""
    try:
        found = stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        found = False
    if not found:
        raise Problem(
            f"the engine's socket {path} does not exist. With Docker: systemctl enable --now docker. With Podman: systemctl "
            "enable --now podman.socket. Another path: --engine-socket"
        )


def limits(engine):
    """Raises if the engine ignores the limits of containers: a workshop could take the whole memory of the server."""
    if not engine.rootless:
        return
    try:
        said = json.loads(engine.run("info", "--format", "{{json .}}", check=False))
    except ValueError:
        return
    # The first is Docker's field, the second Podman's.
    version = said.get("CgroupVersion") or said.get("host", {}).get("cgroupVersion", "")
    if version in ("1", "v1"):
        raise Problem(
            f"rootless {engine.name} ignores limits of memory with cgroup version 1: a workshop could take the whole memory "
            "of the server. Start the server with cgroup version 2, or run the setup as root"
        )


def provider(settings):
    """Raises if the OpenID Connect provider does not answer, or has another issuer: the login proxies would not start."""
    if settings.login != "oidc":
        return
    url = f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration"
    try:
        with urllib.request.urlopen(url, timeout=20) as response:
            issuer = json.loads(response.read(MIB))["issuer"]
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException, RecursionError) as error:
        raise Problem(f"the login provider does not answer at {url}: {error}. Correct --issuer") from None
    if issuer != settings.issuer:
        raise Problem(f"the login provider names itself {issuer}. Set --issuer to exactly this value")


def images(engine, chosen, say, pull=False):
    """Ensures that all images are in the engine: pulls them, or says how to build them."""
    for reference in dict.fromkeys(chosen.values()):
        if engine.has_image(reference) and (not pull or reference.startswith("localhost/")):
            continue
        if reference.startswith("localhost/"):
            build = f"Build it, in the folder of the sources: ENGINE={engine.name} make server-images"
            raise Problem(f"the image {reference} is missing in {engine.name}. {build}")
        say(f"pulling {reference.split('@')[0]}")
        engine.run("pull", "--quiet", reference, timeout=1800)
