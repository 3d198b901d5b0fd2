"""The configuration of Traefik, of the login proxies and of Dex, from the texts in the folder `configuration`."""

import json
import pathlib
import string

from . import accounts as local_accounts

TEXTS = pathlib.Path(__file__).resolve().parent.parent / "configuration"
# Headers that only the edge proxy may set: the same as in the Helm chart.
IDENTITY_HEADERS = (
    "X-Auth-Request-Email", "X-Auth-Request-User", "X-Auth-Request-Groups", "X-Auth-Request-Preferred-Username",
    "X-Auth-Request-Access-Token", "X-Auth-Request-Redirect", "X-Auth-Request-Proof", "X-Forwarded-Email",
    "X-Forwarded-User", "X-Forwarded-Groups", "X-Forwarded-Preferred-Username", "X-Forwarded-Access-Token",
)
IDENTITY_PATTERN = "(?i)^x[^a-z0-9]*(auth[^a-z0-9]*request|forwarded[^a-z0-9]*(user|email|groups|preferred|access))"
DEX_ROUTER = """\
    dex:
      rule: Host(`$host`) && PathRegexp(`^/dex(/|$$)`)
      priority: 20
      middlewares: [strip, dex-rate]
      service: dex"""
DEX_MIDDLEWARE = """\
    # For each client address, of which a class often has one.
    dex-rate: {rateLimit: {average: 20, burst: 400}}"""
DEX_SERVICE = """\
    dex: {loadBalancer: {servers: [{url: "http://127.0.0.1:$dex_port"}]}}"""
ACME = """\
certificatesResolvers:
  acme:
    acme:
      email: "$email"
      storage: /acme/acme.json
$server      dnsChallenge: {provider: "$provider"}"""


def login_proxy(settings, secrets):
    own = {
        "cookie_name": "__Host-_oauth2_proxy",
        "redirect_url": settings.redirects[0],
        "whitelist_domains": [_authority(settings.url), _authority(settings.login_url)],
    }
    client = ("launcher", secrets["dex_launcher"]) if settings.login == "local" else (settings.client_id, secrets["client_secret"])
    return _oauth2_proxy(settings, own, settings.ports["login_port"], client, secrets["login_cookie"])


def workshops_login_proxy(settings, secrets):
    own = {
        "cookie_name": "__Secure-_oauth2_proxy_workshops",
        # One session for all workshops.
        "cookie_domains": [f".{settings.workshops_domain}"],
        "redirect_url": settings.redirects[1],
        "whitelist_domains": [f".{settings.workshops_domain}{settings.port_suffix}", _authority(settings.url)],
        # Requests to /api are an app's, not page visits.
        "api_routes": ["^/api(/|$)"],
    }
    if settings.login == "local":
        client = ("workshops", secrets["dex_workshops"])
    elif settings.login == "github":
        client = (settings.workshops_client_id, secrets["workshops_client_secret"])
    else:
        client = (settings.client_id, secrets["client_secret"])
    return _oauth2_proxy(settings, own, settings.ports["workshops_login_port"], client, secrets["workshops_cookie"])


def _oauth2_proxy(settings, own, port, client, cookie_secret):
    domains = ["*"] if settings.login == "local" else settings.email_domains
    return _render(
        "oauth2-proxy.cfg",
        own=_toml(own),
        port=port,
        client_id=json.dumps(client[0]),
        client_secret=json.dumps(client[1]),
        cookie_secret=json.dumps(cookie_secret),
        email_domains=json.dumps(domains),
        provider=_toml(_provider(settings)),
    )


def _provider(settings):
    """Returns the settings of the login provider."""
    if settings.login == "local":
        # The login proxies connect to Dex directly: neither the public address nor its certificate is needed for that.
        direct = f"http://127.0.0.1:{settings.ports['dex_port']}/dex"
        issuer = f"{settings.url}/dex"
        endpoints = {"login_url": f"{issuer}/auth", "redeem_url": f"{direct}/token", "oidc_jwks_url": f"{direct}/keys"}
        return _oidc(issuer) | {"skip_oidc_discovery": True} | endpoints
    if settings.login == "oidc":
        return _oidc(settings.issuer)
    found = {"provider": settings.login}
    if settings.github_org and settings.login == "github":
        found["github_org"] = settings.github_org
        if settings.github_teams:
            found["github_team"] = ",".join(settings.github_teams)
    return found


def _oidc(issuer):
    return {"provider": "oidc", "scope": "openid email profile", "oidc_issuer_url": issuer}


def _authority(url):
    return url.split("//", 1)[1]


def _toml(values):
    """Returns lines of TOML: JSON's strings, booleans and lists of strings are valid there."""
    return "\n".join(f"{name} = {json.dumps(value)}" for name, value in values.items())


def dex(settings, secrets, accounts, brand):
    lines = [
        json.dumps(
            {
                "email": address,
                "username": account["name"] or address.split("@")[0],
                "userID": local_accounts.user_id(address),
                "hash": account["hash"],
            }
        )
        for address, account in sorted(accounts.items())
    ]
    return _render(
        "dex.yaml",
        issuer=f"{settings.url}/dex",
        dex_port=settings.ports["dex_port"],
        brand=json.dumps(brand, ensure_ascii=False),
        launcher_secret=secrets["dex_launcher"],
        workshops_secret=secrets["dex_workshops"],
        launcher_redirect=settings.redirects[0],
        workshops_redirect=settings.redirects[1],
        accounts="".join(f"\n- {line}" for line in lines) or " []",
    )


def traefik(settings):
    tls, resolvers = "{}", ""
    if settings.tls == "acme":
        names = ", ".join(f'{{main: "{name}"}}' for name in (settings.domain, f"*.{settings.workshops_domain}"))
        tls = f"{{certResolver: acme, domains: [{names}]}}"
        server = f'      caServer: "{settings.acme_server}"\n' if settings.acme_server else ""
        resolvers = string.Template(ACME).substitute(
            email=settings.admins[0], server=server, provider=settings.acme_provider
        )
    return _render(
        "traefik.yaml",
        http_port=settings.http_port,
        https_port=settings.https_port,
        ping_port=settings.ports["ping_port"],
        entry_point_tls=tls,
        resolvers=resolvers,
    )


def edge(settings, secrets, pairs):
    """Traefik's routes."""
    values = {"host": settings.domain, "workshops": settings.workshops_domain, **settings.ports}
    local = settings.login == "local"
    parts = {"dex_router": DEX_ROUTER, "dex_middleware": DEX_MIDDLEWARE, "dex_service": DEX_SERVICE}
    stripped = [spelling for name in IDENTITY_HEADERS for spelling in (name, name.replace("-", "_"), name.replace("-", "."))]
    return _render(
        "edge.yaml",
        **values,
        **{name: string.Template(text if local else "").substitute(values) for name, text in parts.items()},
        workshops_pattern=settings.workshops_domain.replace(".", r"\."),
        identity_headers="\n".join(f'          {name}: ""' for name in stripped),
        identity_pattern=IDENTITY_PATTERN,
        proof=secrets["proxy_secret"],
        certificates=_certificates(pairs),
    )


def _certificates(pairs):
    folder = "/etc/traefik/certificates"
    lines = [f"  - {{certFile: {folder}/{pair.file_name}.pem, keyFile: {folder}/{pair.file_name}.key}}" for pair in pairs]
    return "\n".join(["  certificates:", *lines]) if lines else ""


def _render(name, **values):
    return string.Template((TEXTS / name).read_text(encoding="utf-8")).substitute(values).encode()
