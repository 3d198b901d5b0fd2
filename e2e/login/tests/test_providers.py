"""Remote login providers: oauth2-proxy accepts the chart's configuration and redirects to the provider."""

import http.client
import re
import subprocess
import urllib.parse

import pytest

from chain import until
from chart import program, render
from harness import DEADLINE, free_port

PROVIDERS = {
    "google": ("accounts.google.com", "/o/oauth2/auth", {"email", "profile"}),
    "github": ("github.com", "/login/oauth/authorize", {"user:email", "read:org"}),
}
# {login proxy: host to which the provider redirects users after the login}.
HOSTS = {"login": "launcher.example.org", "workshops-login": "login.workshops.example.net"}
SECRETS = {
    "OAUTH2_PROXY_CLIENT_ID": "the-client",
    "OAUTH2_PROXY_CLIENT_SECRET": "its-secret",
    "OAUTH2_PROXY_COOKIE_SECRET": "0123456789abcdef0123456789abcdef",
}


def redirect_of(text, host, folder):
    """Runs oauth2-proxy with this configuration, and returns its answer to a page request for this host."""
    port = free_port()
    text, replaced = re.subn(r'http_address = ".*"', f'http_address = "127.0.0.1:{port}"', text)
    assert replaced == 1, text
    config, log = folder / "oauth2-proxy.cfg", folder / "log"
    config.write_text(text)
    with log.open("w") as stream:
        process = subprocess.Popen([program("oauth2-proxy"), f"--config={config}"], env=SECRETS, stdout=stream, stderr=stream)

    def answer():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
        connection.request("GET", "/", headers={"Accept": "text/html", "Host": host})
        return connection.getresponse()

    try:
        found = until("oauth2-proxy to answer or to exit", lambda: process.poll() is not None or answer())
        assert process.poll() is None, log.read_text()
        return found
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_login_redirect_has_endpoint_client_scope_and_callback(provider, tmp_path):
    host, path, scopes = PROVIDERS[provider]
    for name, text in render(provider).login_configurations.items():
        answer = redirect_of(text, HOSTS[name], tmp_path)
        assert answer.status == 302, name
        url = urllib.parse.urlsplit(answer.headers["Location"])
        query = dict(urllib.parse.parse_qsl(url.query))
        assert (url.scheme, url.hostname, url.path) == ("https", host, path)
        assert (query["client_id"], query["response_type"]) == ("the-client", "code")
        assert scopes <= set(query["scope"].split()), query["scope"]
        assert query["redirect_uri"] == f"https://{HOSTS[name]}/oauth2/callback"
