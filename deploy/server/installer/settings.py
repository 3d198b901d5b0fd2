"""The answers of the administrator: their defaults, their rules, and the file that stores them."""

import dataclasses
import json
import pathlib
import re
import urllib.parse
from typing import List

from . import stored
from .problem import Problems

LOGINS = ("google", "github", "oidc", "local")
TLS = ("files", "acme", "private-ca")
ENGINES = ("docker", "podman")
# Ports on 127.0.0.1, counted from `local_port`.
LOCAL_PORTS = ("launcher_port", "telemetry_port", "login_port", "workshops_login_port", "dex_port", "ping_port")
LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
# The characters need no quotes in .env files and in YAML.
EMAIL = re.compile(rf"[A-Za-z0-9._%+-]{{1,64}}@({LABEL}\.)+{LABEL}")
# Second-level names below which domains are sold, as in example.ac.uk.
SOLD_BELOW = re.compile(r"(ac|co|com|edu|gob|gov|gouv|ne|net|or|org|sch)\.[a-z]{2}")


@dataclasses.dataclass
class Settings:
    """All answers. Secrets are not among them."""

    domain: str = ""
    workshops_domain: str = ""
    admins: List[str] = dataclasses.field(default_factory=list)
    login: str = ""
    email_domains: List[str] = dataclasses.field(default_factory=list)
    issuer: str = ""
    client_id: str = ""
    # GitHub needs a second client, because a client has one redirect address there.
    workshops_client_id: str = ""
    github_org: str = ""
    github_teams: List[str] = dataclasses.field(default_factory=list)
    tls: str = ""
    certificate: str = ""
    key: str = ""
    # The same files as above when empty.
    workshops_certificate: str = ""
    workshops_key: str = ""
    acme_provider: str = ""
    # Let's Encrypt when empty.
    acme_server: str = ""
    help_url: str = ""
    engine: str = ""
    # The engine's usual socket when empty.
    engine_socket: str = ""
    data_dir: str = "/var/lib/workshop-launcher"
    http_port: int = 80
    https_port: int = 443
    local_port: int = 8700
    internet: bool = True
    fleet: str = "containers"

    @property
    def port_suffix(self):
        return "" if self.https_port == 443 else f":{self.https_port}"

    @property
    def url(self):
        """The launcher's address."""
        return f"https://{self.domain}{self.port_suffix}"

    @property
    def login_host(self):
        """The login host of the workshops' domain. No workshop has this name: theirs end in ten random characters."""
        return f"login.{self.workshops_domain}"

    @property
    def login_url(self):
        return f"https://{self.login_host}{self.port_suffix}"

    @property
    def redirects(self):
        """The addresses to register at the login provider: the launcher's, the workshops'."""
        return (f"{self.url}/oauth2/callback", f"{self.login_url}/oauth2/callback")

    @property
    def logout_url(self):
        """Ends the launcher's session, then the workshops', then leads to a page that needs no login."""
        quote = urllib.parse.quote
        workshops = f"{self.login_url}/oauth2/sign_out?rd={quote(f'{self.url}/signed-out', safe='')}"
        return f"/oauth2/sign_out?rd={quote(workshops, safe='')}"

    @property
    def ports(self):
        """The ports on 127.0.0.1, by name."""
        return {name: self.local_port + index for index, name in enumerate(LOCAL_PORTS)}


def load(path):
    """Reads the stored answers; the defaults if there are none."""
    path = pathlib.Path(path)
    return loads(path.read_bytes(), path) if path.exists() else Settings()


def loads(content, where):
    """Reads stored answers. Ignores those of other versions that this version does not know."""
    settings, remedy = Settings(), "Restore the file from a backup, or remove it and answer again"
    for name, value in stored.parse(content, where, remedy).items():
        if name not in settings.__dict__:
            continue
        if type(value) is not type(getattr(settings, name)) or (isinstance(value, list) and not all(isinstance(one, str) for one in value)):
            stored.refuse(where, name, remedy)
        setattr(settings, name, value)
    return settings


def dump(settings):
    """Returns the content of the file that stores the answers."""
    return (json.dumps(dataclasses.asdict(settings), indent=2, ensure_ascii=False) + "\n").encode()


def check(settings):
    """Raises one error that lists all wrong and missing answers."""
    found = [*_domain_problems(settings), *_login_problems(settings), *_tls_problems(settings), *_other_problems(settings)]
    if found:
        raise Problems("these settings are missing or wrong:", found, code=2)


def warnings(settings):
    """Returns texts about settings that work, but protect less."""
    found = []
    if one_site(settings.domain, settings.workshops_domain):
        found.append(
            f"{settings.domain} and *.{settings.workshops_domain} belong to one registrable domain. To a browser they are "
            "one site, so a workshop's page can send requests with the user's cookies. The launcher refuses its changes, "
            "but a second domain protects better. Buy one for --workshops-domain if students may be hostile"
        )
    if settings.login == "google" and "*" in settings.email_domains:
        found.append("every Google account can log in. Set --email-domain to your domain, unless your OAuth client is internal")
    if settings.tls == "private-ca":
        found.append(
            "browsers do not trust the private authority: use it for a trial only. Import private-ca/ca.pem into the browsers"
        )
    return found


def one_site(one, other):
    """True if both names are below one registrable domain, as far as their spelling tells."""
    shared = []
    for left, right in zip(reversed(one.split(".")), reversed(other.split("."))):
        if left != right:
            break
        shared.insert(0, left)
    return len(shared) > 1 and not SOLD_BELOW.fullmatch(".".join(shared))


def is_host(text):
    return bool(re.fullmatch(rf"({LABEL}\.)+{LABEL}", text)) and len(text) <= 253 and not text.split(".")[-1].isdigit()


def _domain_problems(settings):
    host, workshops = settings.domain, settings.workshops_domain
    if not host:
        yield "--domain is missing: the host name of the launcher, as in launcher.example.org"
    elif not is_host(host):
        yield f"--domain {host} is not a host name, as in launcher.example.org, in lower case"
    if not workshops:
        yield "--workshops-domain is missing: the domain whose subdomains are the workshops, as in workshops.example.net"
    elif not is_host(workshops) or len(workshops) > 180:
        yield f"--workshops-domain {workshops} is not a domain, as in workshops.example.net, in lower case"
    elif host == workshops or host.endswith(f".{workshops}"):
        yield (
            f"--domain {host} must not lie in --workshops-domain {workshops}: workshops could set cookies for the launcher. "
            "Use another domain, or the default, workshops.DOMAIN"
        )
    if not settings.admins:
        yield "--admin is missing: the e-mail address of an admin, who edits the templates"
    for address in settings.admins:
        if not EMAIL.fullmatch(address):
            yield f"--admin {address} is not an e-mail address of letters, digits and ._%+-"


def _login_problems(settings):
    login = settings.login
    if login not in LOGINS:
        yield f"--login is {login or 'missing'}: one of {', '.join(LOGINS)}"
        return
    if login == "local":
        return
    redirects = " and ".join(settings.redirects)
    if not settings.client_id:
        yield f"--client-id is missing. Register a client with the redirect addresses {redirects}: docs/providers.md"
    if login == "github" and not settings.workshops_client_id:
        yield f"--workshops-client-id is missing. GitHub needs a second OAuth app, with the address {settings.redirects[1]}"
    if login == "oidc" and not settings.issuer:
        yield "--issuer is missing: the provider's issuer, as in https://accounts.example.org"
    if settings.issuer and not re.fullmatch(r"https?://[^\s\"'$\\#]+", settings.issuer):
        yield f"--issuer {settings.issuer} is not a URL, as in https://accounts.example.org"
    if settings.github_teams and not settings.github_org:
        yield "--github-org is missing: the organisation of the teams"
    for name in ("client_id", "workshops_client_id", "github_org"):
        if re.search(r"[\s\"'$\\#]", getattr(settings, name)):
            yield f"--{name.replace('_', '-')} contains a character that no provider uses: check what you copied"
    if not settings.email_domains:
        yield '--email-domain is missing: a domain whose addresses may log in, or "*" for every account of the provider'
    for domain in settings.email_domains:
        if domain != "*" and not is_host(domain.lstrip(".")):
            yield f'--email-domain {domain} is not a domain, as in example.org, and not "*"'


def _tls_problems(settings):
    if settings.tls not in TLS:
        yield f"--tls is {settings.tls or 'missing'}: one of {', '.join(TLS)}"
    if settings.tls == "files":
        for name in ("certificate", "key"):
            if not getattr(settings, name):
                yield f"--{name} is missing: a PEM file, with --tls files"
        if bool(settings.workshops_certificate) != bool(settings.workshops_key):
            yield "--workshops-certificate and --workshops-key go together: set both, or none if one certificate has all names"
    if settings.tls == "acme" and not re.fullmatch(r"[a-z0-9-]+", settings.acme_provider):
        yield "--acme-provider is missing: the name of your DNS provider at https://go-acme.github.io/lego/dns/, as in cloudflare"
    if settings.acme_server and not re.fullmatch(r"https://[^\s\"'$\\#]+", settings.acme_server):
        yield f"--acme-server {settings.acme_server} is not a URL, as in https://acme-staging-v02.api.letsencrypt.org/directory"


def path_problems(settings):
    """Yields texts about paths that Compose or the engine could not use."""
    for flag, path in (("--data-dir", settings.data_dir), ("--engine-socket", settings.engine_socket or "/")):
        if not re.fullmatch(r"(/[A-Za-z0-9._@+-]*)+", path) or ".." in path.split("/"):
            yield f"{flag} {path} is not an absolute path of letters, digits and ._@+-"


def _other_problems(settings):
    if settings.engine and settings.engine not in ENGINES:
        yield f"--engine {settings.engine} is unknown: one of {', '.join(ENGINES)}"
    yield from path_problems(settings)
    if settings.help_url and not re.fullmatch(r"(https?://|/|mailto:)[^\s\"'$\\#]+", settings.help_url):
        yield f"--help-url {settings.help_url} is not a URL, and not mailto: with an address"
    numbers = {"--http-port": settings.http_port, "--https-port": settings.https_port}
    numbers |= {f"--local-port (for {name})": port for name, port in settings.ports.items()}
    for flag, port in numbers.items():
        if not 1 <= port <= 65535:
            yield f"{flag}: {port} is not a port, 1 to 65535"
    if len(set(numbers.values())) < len(numbers):
        yield f"--http-port, --https-port and the {len(LOCAL_PORTS)} ports from --local-port on must differ"
