"""Generates all files of the configuration's folder, from settings, secrets, accounts and certificates."""

import pathlib

from . import accounts as local_accounts
from . import configuration, secret
from . import settings as answers
from .files import File, Folder
from .problem import Problem

SOURCES = pathlib.Path(__file__).resolve().parent.parent
# The user of the login proxies and of Dex, in their containers: the same number as in their images.
UNPRIVILEGED = 65532
# The file of authorities in the launcher's image.
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
LAUNCHER_ENV = """\
# Further settings of the launcher, one NAME=VALUE a line: docs/settings.md. setup never changes this file.
# After a change, run setup again. Settings that compose.yaml sets have no effect here.
#SERVICE_MAX_INSTANCES_PER_USER=3
"""


def images(root):
    """Returns the images of this version, {variable: reference}. The administrator's own images.env has precedence."""
    found, own = _variables(SOURCES / "versions.env"), pathlib.Path(root) / "images.env"
    replaced = _variables(own) if own.exists() else {}
    if unknown := set(replaced) - set(found):
        raise Problem(f"{own} has unknown names: {', '.join(sorted(unknown))}. Known names: {', '.join(found)}")
    return found | replaced


def brand_name(root):
    """Returns the name of the installation, which the administrator sets for the launcher. Compose reads it in the same way."""
    own = pathlib.Path(root) / "launcher.env"
    name = _variables(own).get("SERVICE_BRAND_NAME", "").strip() if own.exists() else ""
    is_quoted = len(name) > 1 and name[0] == name[-1] and name[0] in "'\""
    return (name[1:-1] if is_quoted else name.split(" #", 1)[0].rstrip()) or "Workshops"


def _variables(path):
    """Returns the lines NAME=VALUE of a file."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def generate(settings, secrets, accounts, pairs, *, brand, authority=None, acme_env=b"", rootless=False):
    """Returns all files and folders: {path: File or Folder}. The same input gives the same bytes."""
    owner = None if rootless else UNPRIVILEGED
    found = {
        "login": Folder(owner),
        "workshops-login": Folder(owner),
        "dex": Folder(owner),
        "launcher": Folder(),
        "traefik": Folder(),
        "traefik/dynamic": Folder(),
        "traefik/certificates": Folder(),
        "acme": Folder(),
        "settings.json": File(answers.dump(settings)),
        "secrets.json": File(secret.dump(secrets)),
        "accounts.json": File(local_accounts.dump(accounts)),
        "acme.env": File(acme_env),
        "login/oauth2-proxy.cfg": File(configuration.login_proxy(settings, secrets), owner),
        "workshops-login/oauth2-proxy.cfg": File(configuration.workshops_login_proxy(settings, secrets), owner),
        "dex/dex.yaml": File(configuration.dex(settings, secrets, accounts, brand), owner),
        "launcher/proxy-secret": File(f"{secrets['proxy_secret']}\n".encode()),
        "traefik/traefik.yaml": File(configuration.traefik(settings)),
        "traefik/dynamic/edge.yaml": File(configuration.edge(settings, secrets, pairs)),
        "compose.yaml": File((SOURCES / "compose.yaml").read_bytes()),
    }
    for pair in pairs:
        found[f"traefik/certificates/{pair.file_name}.pem"] = File(pair.certificate)
        found[f"traefik/certificates/{pair.file_name}.key"] = File(pair.key)
    if authority:
        found["private-ca"] = Folder()
        found |= {f"private-ca/{name}": File(content) for name, content in authority.items()}
        found["launcher/authorities.pem"] = File(authority["ca.pem"])
    return found


def environment(settings, chosen, found, *, engine_mount, rootless=False):
    """Returns the .env of compose.yaml. `chosen` has the images, `found` the other files."""
    source, target, socket = engine_mount

    def digest(name):
        return found[name].digest[:16]

    private = "launcher/authorities.pem" in found
    values = chosen | {
        "COMPOSE_PROFILES": "local-accounts" if settings.login == "local" else "",
        "UNPRIVILEGED_USER": "0:0" if rootless else f"{UNPRIVILEGED}:{UNPRIVILEGED}",
        "PUBLIC_URL": settings.url,
        "WORKSHOP_DOMAIN": settings.workshops_domain,
        "ADMIN_EMAILS": ",".join(settings.admins),
        "LOGOUT_URL": settings.logout_url,
        "HELP_URL": settings.help_url,
        "DATA_DIR": settings.data_dir,
        "ENGINE_SOURCE": source,
        "ENGINE_TARGET": target,
        "ENGINE_SOCKET": socket,
        "FLEET": settings.fleet,
        "CONTAINER_INTERNET": "true" if settings.internet else "false",
        "LAUNCHER_PORT": settings.ports["launcher_port"],
        "TELEMETRY_PORT": settings.ports["telemetry_port"],
        "TRUSTED_AUTHORITIES": "/etc/workshop-launcher/authorities.pem" if private else AUTHORITIES,
        "TRAEFIK_CONFIGURATION": digest("traefik/traefik.yaml"),
        "LOGIN_CONFIGURATION": digest("login/oauth2-proxy.cfg"),
        "WORKSHOPS_LOGIN_CONFIGURATION": digest("workshops-login/oauth2-proxy.cfg"),
        "DEX_CONFIGURATION": digest("dex/dex.yaml"),
        "LAUNCHER_CONFIGURATION": digest("launcher/templates.json"),
    }
    lines = ["# Written by setup: changes here are lost.", *(f"{name}={value}" for name, value in values.items())]
    return File("\n".join([*lines, ""]).encode())


def created():
    """Returns the files that setup creates once, and the administrator may change."""
    return {
        "launcher.env": File(LAUNCHER_ENV.encode()),
        "launcher/templates.json": File((SOURCES / "templates.json").read_bytes()),
    }
