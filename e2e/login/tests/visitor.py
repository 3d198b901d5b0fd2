"""An HTTP client that imitates a browser: host names, TLS, cookies, redirects, and the provider's login form."""

import dataclasses
import html
import http.client
import re
import socket
import ssl
import urllib.parse

from websockets.sync.client import connect

from harness import wait_for

# Seconds to wait for a connection, and for each part of an answer. Shorter than the deadline of waits, so that a wait repeats a request
# that got lost.
ANSWER = 60
PASSWORD = "password"
MOST_REDIRECTS = 12
PAGE = {"Accept": "text/html,application/xhtml+xml", "Sec-Fetch-Site": "none"}
# Skip certificate verification: the ingress of the tests has a self-signed certificate.
TLS = ssl._create_unverified_context()
# TLS 1.2 for WebSockets: their client reads and writes in two threads. With TLS 1.3, OpenSSL loses a request that is written
# while the other thread reads a session ticket (https://github.com/openssl/openssl/issues/20446).
WEB_SOCKET_TLS = ssl._create_unverified_context()
WEB_SOCKET_TLS.maximum_version = ssl.TLSVersion.TLSv1_2


@dataclasses.dataclass
class Answer:
    """An HTTP response and its URL."""

    url: str
    status: int
    headers: http.client.HTTPMessage
    body: str

    @property
    def is_login_form(self):
        """True if the page is a login form, that is, has a password field."""
        return 'name="password"' in self.body

    @property
    def location(self):
        """The Location header as an absolute URL, or None."""
        found = self.headers.get("Location")
        return urllib.parse.urljoin(self.url, found) if found else None


class Visitor:
    """One browser profile. It stores cookies by domain, as browsers do."""

    def __init__(self, addresses):
        """`addresses` maps hosts, and domains with a leading dot, to IP addresses."""
        self.addresses = addresses
        self.cookies = {}
        # Number of login forms that this profile received.
        self.forms = 0

    def address(self, host):
        """Returns the IP address of a host."""
        for name, address in self.addresses.items():
            if host == name or (name.startswith(".") and host.endswith(name)):
                return address
        raise AssertionError(f"unknown host {host}")

    def request(self, method, url, headers=None, body=None):
        """Sends one request with this profile's cookies. Does not follow redirects."""
        parts = urllib.parse.urlsplit(url)
        target = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
        connection = self.connect(parts)
        try:
            # Like browsers, omit the default port of the scheme.
            sent = {"Host": parts.netloc, **(headers or {})}
            if cookies := self.cookies_for(parts.hostname, parts.path):
                sent["Cookie"] = cookies
            connection.request(method, target, body, sent)
            response = connection.getresponse()
            text = response.read().decode(errors="replace")
        finally:
            connection.close()
        self._keep(parts.hostname, response.headers.get_all("Set-Cookie") or [])
        answer = Answer(url, response.status, response.headers, text)
        self.forms += answer.is_login_form
        return answer

    def connect(self, parts):
        """Opens a connection to the host of this split URL."""
        secure = parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
        connection = http.client.HTTPConnection(parts.hostname, port, timeout=ANSWER)
        plain = socket.create_connection((self.address(parts.hostname), port), timeout=ANSWER)
        connection.sock = TLS.wrap_socket(plain, server_hostname=parts.hostname) if secure else plain
        return connection

    def cookies_for(self, host, path="/"):
        """Returns the Cookie header for this host and path, or an empty string if no cookie matches."""
        found = {}
        for (domain, name), (value, below, host_only) in self.cookies.items():
            same = host == domain or (not host_only and host.endswith("." + domain))
            if same and (path or "/").startswith(below):
                found[name] = value
        return "; ".join(f"{name}={value}" for name, value in found.items())

    def web_socket(self, host, path="/"):
        """Opens a WebSocket as a page of this host does, with the cookies of this browser profile."""
        return connect(
            f"wss://{host}{path}",
            sock=socket.create_connection((self.address(host), 443), timeout=ANSWER),
            ssl=WEB_SOCKET_TLS,
            server_hostname=host,
            origin=f"https://{host}",
            open_timeout=ANSWER,
            additional_headers={"Cookie": self.cookies_for(host, path)},
            # Without an answer to a ping, the client would close the connection itself. A busy machine can answer late.
            ping_interval=None,
            proxy=None,
        )

    def _keep(self, host, lines):
        for line in lines:
            (name, _, value), *attributes = (part.strip().partition("=") for part in line.split(";"))
            attributes = {key.lower(): text for key, _, text in attributes}
            domain = attributes.get("domain", "").lstrip(".")
            assert not domain or host == domain or host.endswith("." + domain), f"{host} sets a cookie for {domain}"
            gone = attributes.get("max-age") == "0" or "1970" in attributes.get("expires", "") or not value
            key = (domain or host, name)
            if gone:
                self.cookies.pop(key, None)
            else:
                self.cookies[key] = (value, attributes.get("path", "/"), not domain)

    def open(self, url):
        """Opens a page and follows redirects. Returns the last answer."""
        return self.follow(self.request("GET", url, PAGE))

    def follow(self, answer):
        """Follows redirects, and repeats a request after a 502 with a Refresh header. Returns the last answer."""
        for _ in range(MOST_REDIRECTS):
            if answer.status == 502 and "Refresh" in answer.headers:
                ask = lambda url=answer.url: self.request("GET", url, PAGE)
                answer = wait_for("another status than 502", lambda: (got := ask()).status != 502 and got)
            if not (300 <= answer.status < 400 and answer.location):
                return answer
            answer = self.request("GET", answer.location, PAGE)
        raise AssertionError(f"too many redirects, the last from {answer.url} to {answer.location}")


    def log_in(self, url, email, password=PASSWORD):
        """Opens a page. If the provider's login form appears, submits the form. Returns the resulting page."""
        answer = self.open(url)
        return self.submit(answer, login=email, password=password) if answer.is_login_form else answer

    def sign_out(self, launcher):
        """Follows the sign-out link of the launcher's start page. Returns the resulting page."""
        home = self.request("GET", f"{launcher}/", PAGE).body
        link = next(part for part in home.split('"') if part.startswith("/oauth2/sign_out")).replace("&amp;", "&")
        return self.open(f"{launcher}{link}")

    def sessions(self):
        """Returns the session cookies of both login proxies: {(domain, cookie name without the number of a part): {cookie
        name: bytes of name and value}}."""
        found = {}
        for (domain, name), (value, _, _) in self.cookies.items():
            if session := re.fullmatch(r"(.*_oauth2_proxy(?:_workshops)?)(_\d+)?", name):
                found.setdefault((domain, session[1]), {})[name] = len(name) + len(value)
        return found

    def submit(self, answer, **fields):
        """Submits the form of this page with these fields and the hidden fields. Returns the resulting page."""
        action = html.unescape(re.search(r'<form[^>]*action="([^"]*)"', answer.body).group(1))
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', answer.body))
        sent = {**PAGE, "Content-Type": "application/x-www-form-urlencoded"}
        form = urllib.parse.urlencode({**hidden, **fields})
        return self.follow(self.request("POST", urllib.parse.urljoin(answer.url, action), sent, form))

    def raw(self, host, data, port=443):
        """Sends these bytes unchanged over TLS. Returns the bytes received until the server closes the connection."""
        plain = socket.create_connection((self.address(host), port), timeout=ANSWER)
        with TLS.wrap_socket(plain, server_hostname=host) as connection:
            connection.sendall(data)
            return b"".join(iter(lambda: connection.recv(65536), b""))
