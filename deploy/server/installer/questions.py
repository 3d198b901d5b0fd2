"""The flags and the questions of setup. Flags have precedence over stored answers; questions ask for the rest."""

import getpass
import pathlib

from . import files, secret
from . import settings as answers
from .installation import acme_variables

# Flags with a text, by the setting that they fill.
TEXTS = {
    "domain": ("HOST", "host name of the launcher, as in launcher.example.org"),
    "workshops_domain": (
        "DOMAIN",
        "domain whose subdomains are the workshops, as in workshops.example.net; preferably another registrable domain "
        "than that of the launcher. Default: workshops.HOST",
    ),
    "login": ("|".join(answers.LOGINS), "who checks the users: a provider, or local accounts"),
    "client_id": ("ID", "id of the client that you registered at the provider"),
    "workshops_client_id": ("ID", "id of the second client, with github only"),
    "issuer": ("URL", "issuer of the provider, with oidc only"),
    "github_org": ("NAME", "only members of this organisation may log in, with github only"),
    "tls": ("|".join(answers.TLS), "certificates from files, from Let's Encrypt by DNS-01, or from a private authority for a trial"),
    "acme_provider": ("NAME", "the DNS provider, by its name at https://go-acme.github.io/lego/dns/"),
    "acme_server": ("URL", "another ACME server than Let's Encrypt"),
    "help_url": ("URL", "where users get help: a URL, or mailto: with an address"),
    "engine": ("|".join(answers.ENGINES), "the container engine. Default: the stored one; at the first run, the first that answers"),
    "engine_socket": ("PATH", "the engine's socket. Default: the engine's usual one"),
    "data_dir": ("PATH", "folder of the database and of the workshops' sockets. Default: /var/lib/workshop-launcher"),
}
PATHS = {
    "certificate": "certificate with its chain, in PEM",
    "key": "key of the certificate, in PEM",
    "workshops_certificate": "certificate of the workshops, if the first is not valid for them",
    "workshops_key": "key of the certificate of the workshops",
}
LISTS = {
    "admins": ("--admin", "ADDRESS", "e-mail address of an admin. Can be repeated"),
    "email_domains": ("--email-domain", "DOMAIN", 'domain whose addresses may log in; "*" for all. Can be repeated'),
    "github_teams": ("--github-team", "NAME", "only members of these teams may log in. Can be repeated"),
}
NUMBERS = {
    "http_port": "public port that redirects to HTTPS. Default: 80",
    "https_port": "public port of HTTPS. Default: 443",
    "local_port": "first of six ports on 127.0.0.1. Default: 8700",
}
SECRETS = {
    "client_secret": "file with the secret of the client",
    "workshops_client_secret": "file with the secret of the second client, with github only",
}


def flag(name):
    return f"--{name.replace('_', '-')}"


def add_flags(parser):
    """Adds the flags of all settings. No flag takes a secret: other users could see it in the list of processes."""
    for name, (form, text) in TEXTS.items():
        parser.add_argument(flag(name), metavar=form, help=text)
    for name, (option, form, text) in LISTS.items():
        parser.add_argument(option, metavar=form, dest=name, action="append", help=text)
    for name, text in SECRETS.items():
        parser.add_argument(f"{flag(name)}-file", metavar="FILE", help=text)
    for name, text in PATHS.items():
        parser.add_argument(flag(name), metavar="FILE", help=text)
    parser.add_argument("--acme-env", metavar="FILE", help="file with the variables of the DNS provider, NAME=VALUE a line")
    for name, text in NUMBERS.items():
        parser.add_argument(flag(name), metavar="PORT", type=int, help=text)
    parser.add_argument("--internet", choices=("yes", "no"), help="whether workshops can connect to the internet. Default: yes")


def take_flags(arguments, installation):
    """Copies the given flags into settings and secrets."""
    settings = installation.settings
    if arguments.engine is not None and settings.engine not in ("", arguments.engine):
        # The stored socket is the one of the other engine.
        settings.engine_socket = ""
    for name in (*TEXTS, *LISTS, *NUMBERS):
        value = getattr(arguments, name)
        if value is not None:
            setattr(settings, name, value)
    for name in PATHS:
        value = getattr(arguments, name)
        if value is not None:
            setattr(settings, name, str(pathlib.Path(value).absolute()) if value else "")
    if arguments.internet is not None:
        settings.internet = arguments.internet == "yes"
    for name in SECRETS:
        path = getattr(arguments, f"{name}_file")
        if path is not None:
            installation.secrets[name] = secret.given(files.read(path, "the client secret"), path)
    if arguments.acme_env is not None:
        content = files.read(arguments.acme_env, "the variables of the DNS provider")
        installation.acme_env = acme_variables(content, arguments.acme_env)
    if settings.domain and not settings.workshops_domain and answers.is_host(settings.domain):
        # In a dialogue, this is the default of the question.
        settings.workshops_domain = "" if arguments.interactive else f"workshops.{settings.domain}"


def ask_rest(installation):
    """Asks for the answers that are missing."""
    settings = installation.settings
    _ask(settings, "domain", "Host name of the launcher, as in launcher.example.org")
    _ask(settings, "workshops_domain", "Domain of the workshops; another registrable domain protects better", f"workshops.{settings.domain}")
    if not settings.admins:
        settings.admins = input("E-mail address of the admin: ").split()
    _ask(settings, "login", f"Login ({', '.join(answers.LOGINS)})", "local")
    if settings.login in ("google", "github", "oidc"):
        _ask_provider(installation)
    _ask(settings, "tls", f"Certificates ({', '.join(answers.TLS)})", "acme")
    if settings.tls == "files":
        for name in ("certificate", "key"):
            _ask(settings, name, f"Path: {PATHS[name]}")
            setattr(settings, name, str(pathlib.Path(getattr(settings, name)).absolute()))
    if settings.tls == "acme":
        _ask(settings, "acme_provider", "Name of the DNS provider at https://go-acme.github.io/lego/dns/")
        if not installation.acme_env:
            path = input("Path of the file with its variables, NAME=VALUE a line: ").strip()
            installation.acme_env = acme_variables(files.read(path, "the variables of the DNS provider"), path)


def _ask_provider(installation):
    settings = installation.settings
    print("Register a client at the provider, with these redirect addresses (docs/providers.md):")
    for address in settings.redirects:
        print(f"  {address}")
    if settings.login == "oidc":
        _ask(settings, "issuer", "Issuer, as in https://accounts.example.org")
    kinds = ["", "workshops_"] if settings.login == "github" else [""]
    for kind in kinds:
        which = " of the workshops" if kind else ""
        _ask(settings, f"{kind}client_id", f"Id of the client{which}")
        if not installation.secrets[f"{kind}client_secret"]:
            text = getpass.getpass(f"Secret of the client{which} (not shown): ")
            installation.secrets[f"{kind}client_secret"] = secret.given(text.encode(), "the answer")
    if settings.login == "github":
        _ask(settings, "github_org", "Organisation whose members may log in")
    if not settings.email_domains:
        settings.email_domains = input('Domains whose addresses may log in, or "*" for all: ').replace(",", " ").split()


def _ask(settings, name, text, default=""):
    """Asks unless the setting has a value."""
    if not getattr(settings, name):
        shown = f" [{default}]" if default else ""
        setattr(settings, name, input(f"{text}{shown}: ").strip() or default)


def missing_secrets(installation):
    """Returns texts about secrets that are missing for the chosen login and certificates."""
    settings, found = installation.settings, []
    if settings.login in ("google", "github", "oidc") and not installation.secrets["client_secret"]:
        found.append("--client-secret-file is missing: a file with the secret of the client")
    if settings.login == "github" and not installation.secrets["workshops_client_secret"]:
        found.append("--workshops-client-secret-file is missing: a file with the secret of the second client")
    if settings.tls == "acme" and not installation.acme_env:
        found.append("--acme-env is missing: a file with the variables of the DNS provider")
    return found
