"""Checks over HTTP that a login works, and that forged identities are refused."""

import contextlib
import http.client
import socket
import ssl
import time
import urllib.parse

from .problem import Problem

# Seconds until a login works; the first certificate of ACME takes some minutes.
PATIENCE = {"acme": 600}
FORGED = "X-Auth-Request-Email"
PROVIDERS = {"google": "https://accounts.google.com/", "github": "https://github.com/login/"}


class Insecure(Problem):
    """A request that must be refused succeeds."""


class Site:
    """The server's own addresses, asked on 127.0.0.1: neither DNS nor a router is needed."""

    def __init__(self, settings, authority=None):
        """`authority`: PEM of the private authority, if there is one."""
        self.settings = settings
        self.context = ssl.create_default_context(cadata=authority.decode() if authority else None)
        # True after a certificate that this server does not trust; the login may work nevertheless.
        self.untrusted = False

    def ask(self, host, path, headers=None):
        """Sends one request. Returns (status, headers, body)."""
        context = self.context
        if self.untrusted:
            context = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection(host, timeout=10)
        plain = socket.create_connection(("127.0.0.1", self.settings.https_port), timeout=10)
        with contextlib.closing(connection), contextlib.closing(plain):
            connection.sock = context.wrap_socket(plain, server_hostname=host)
            sent = {"Host": f"{host}{self.settings.port_suffix}", "Connection": "close", **(headers or {})}
            connection.request("GET", path, headers=sent)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read(1 << 20).decode(errors="replace")

    def ready(self):
        """Raises unless the launcher says that it is ready."""
        connection = http.client.HTTPConnection("127.0.0.1", self.settings.ports["telemetry_port"], timeout=10)
        with contextlib.closing(connection):
            connection.request("GET", "/readyz")
            answer = connection.getresponse()
            if answer.status != 200:
                raise Problem(f"the launcher is not ready: {answer.read(2000).decode(errors='replace').strip()}")

    def sign_in(self):
        """Raises unless the launcher's page and the workshops' login lead to the login provider."""
        settings = self.settings
        for host, path in ((settings.domain, "/"), (settings.login_host, "/oauth2/start")):
            status, headers, _ = self.ask(host, path, {"Accept": "text/html"})
            place = headers.get("Location", "")
            expected = self._provider()
            if status not in (302, 303, 307) or not place.startswith(expected):
                raise Problem(f"https://{host}{path} answers {status} {place}, not a redirect to {expected}")
        if settings.login == "local":
            self._form(headers["Location"])

    def _provider(self):
        if self.settings.login == "local":
            return f"{self.settings.url}/dex/"
        return PROVIDERS.get(self.settings.login, "http")

    def _form(self, place):
        """Raises unless Dex shows its form."""
        for _ in range(5):
            parts = urllib.parse.urlsplit(place)
            status, headers, body = self.ask(parts.hostname, f"{parts.path}?{parts.query}", {"Accept": "text/html"})
            if status == 200 and 'name="password"' in body:
                return
            if not headers.get("Location"):
                break
            place = urllib.parse.urljoin(place, headers["Location"])
        raise Problem(f"Dex does not show its form at {place.split('?')[0]}: status {status}")

    def forged(self):
        """Raises if a request with a forged identity succeeds."""
        admin = self.settings.admins[0]
        for name in (FORGED, FORGED.replace("-", "_"), FORGED.lower()):
            status, _, _ = self.ask(self.settings.domain, "/api/v1/me", {name: admin})
            self._refused(status, f"a request with the forged header {name}")
        connection = http.client.HTTPConnection("127.0.0.1", self.settings.ports["launcher_port"], timeout=10)
        with contextlib.closing(connection):
            connection.request("GET", "/api/v1/me", headers={"Host": self.settings.domain, FORGED: admin})
            self._refused(connection.getresponse().status, "a request to the launcher without the proxy secret")

    @staticmethod
    def _refused(status, request):
        if 200 <= status < 300:
            raise Insecure(f"{request} gets {status}: everyone can use the launcher without a login. Stop it at once: setup stop")
        if status not in (400, 401, 403):
            raise Problem(f"{request} gets {status}, not 401")


def wait(site, say):
    """Waits until a login works. Raises the last fault when the time is over."""
    seconds = PATIENCE.get(site.settings.tls, 180)
    deadline, told = time.monotonic() + seconds, time.monotonic() + 15
    while True:
        try:
            site.ready()
            site.sign_in()
            site.forged()
            return
        except ssl.SSLCertVerificationError as error:
            if site.settings.tls == "files" or site.settings.acme_server:
                site.untrusted = True
                say(f"warning: this server does not trust the certificate: {error.verify_message}")
                continue
            fault = f"the certificate is not valid yet: {error.verify_message}"
        except Insecure:
            raise
        except (OSError, http.client.HTTPException, Problem) as error:
            fault = str(error) or type(error).__name__
        if time.monotonic() > deadline:
            raise Problem(f"no login works after {seconds} seconds. {fault}")
        if time.monotonic() > told:
            say(f"waiting: {fault}")
            told = time.monotonic() + 15
        time.sleep(0.5)
