"""Remote login providers: oauth2-proxy accepts the chart's configuration and redirects to the provider."""

import contextlib
import http.client
import os
import pathlib
import re
import subprocess
import urllib.parse

import pytest

from chain import LOGIN, helm
from harness import ROOT, free_port, wait_for
from yaml_files import load_all

CHART = ROOT / "charts/workshop-launcher"
PROVIDERS = {
    "google": ("accounts.google.com", "/o/oauth2/auth", {"email", "profile"}),
    "github": ("github.com", "/login/oauth/authorize", {"user:email", "read:org"}),
}
# {ConfigMap of a login proxy: host to which the provider redirects users after the login}.
HOSTS = {
    "launcher-workshop-launcher-login": "launcher.example.org",
    "launcher-workshop-launcher-workshops-login": "login.workshops.example.net",
}


def configurations(provider):
    """Returns the chart's oauth2-proxy.cfg for this provider: {name of the ConfigMap: text}."""
    values = CHART / f"ci/{provider}-values.yaml"
    name = "fullnameOverride=launcher-workshop-launcher"
    rendered = helm("template", "launcher", CHART, "--namespace", "launcher", "--values", values, "--set", name)
    objects = [found for found in load_all(rendered) if found and found["kind"] == "ConfigMap"]
    found = {one["metadata"]["name"]: one["data"].get("oauth2-proxy.cfg") for one in objects}
    return {name: text for name, text in found.items() if text}


@contextlib.contextmanager
def proxy(text, folder):
    """Runs oauth2-proxy with this configuration on a free port. Yields the port."""
    port = free_port()
    config = folder / "oauth2-proxy.cfg"
    text, replaced = re.subn(r'http_address = ".*"', f'http_address = "127.0.0.1:{port}"', text)
    assert replaced == 1, text
    config.write_text(text)
    secrets = {
        "OAUTH2_PROXY_CLIENT_ID": "the-client",
        "OAUTH2_PROXY_CLIENT_SECRET": "its-secret",
        "OAUTH2_PROXY_COOKIE_SECRET": "0123456789abcdef0123456789abcdef",
    }
    log = folder / "log"
    with log.open("w") as stream:
        program = pathlib.Path(os.environ["LOGIN_BIN"]) / "oauth2-proxy"
        process = subprocess.Popen([program, f"--config={config}"], env=secrets, stdout=stream, stderr=stream)
    try:
        wait_for("oauth2-proxy to answer", lambda: process.poll() is not None or _answers(port), 20)
        assert process.poll() is None, log.read_text()
        yield port
    finally:
        process.kill()
        process.wait()


def _answers(port):
    with contextlib.suppress(OSError):
        return _get(port, "/ping").status == 200


def _get(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


@pytest.mark.parametrize("provider", PROVIDERS)
def test_login_redirect_has_endpoint_client_scope_and_callback(provider, tmp_path):
    host, path, scopes = PROVIDERS[provider]
    found = configurations(provider)
    assert set(found) == set(HOSTS), "expected one login proxy for the launcher and one for the workshops"
    for name, text in found.items():
        with proxy(text, tmp_path) as port:
            answer = _get(port, "/", Accept="text/html", Host=HOSTS[name])
        assert answer.status == 302, name
        url = urllib.parse.urlsplit(answer.headers["Location"])
        query = dict(urllib.parse.parse_qsl(url.query))
        assert (url.scheme, url.hostname, url.path) == ("https", host, path)
        assert query["client_id"] == "the-client"
        assert query["response_type"] == "code"
        assert scopes <= set(query["scope"].split()), query["scope"]
        assert query["redirect_uri"] == f"https://{HOSTS[name]}/oauth2/callback"
