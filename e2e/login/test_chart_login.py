"""Tests of the login's values: defaults, and the Secrets that the chart creates. No cluster is needed."""

import base64
import re

import pytest

from chart import RELEASE, configurations, objects, render
from yaml_files import load_all

LOGIN, WORKSHOPS_LOGIN = f"{RELEASE}-login", f"{RELEASE}-workshops-login"
CLIENT = ("--set", "login.clientID=id,login.clientSecret=hush")


def secrets(name, *words):
    """Renders a set of values with these options of helm. Returns the data of the login's Secrets: {name: {key: value}}."""
    found = [one for one in load_all(render(name, *words)) if one and one["kind"] == "Secret"]
    return {
        one["metadata"]["name"]: {key: base64.b64decode(value).decode() for key, value in one["data"].items()}
        for one in found
        if one["metadata"]["name"].endswith("login")
    }


def pods_of(*words):
    """Returns the pod templates of both login proxies: {name of the Deployment: template}."""
    found = [one for one in load_all(render("minimal", *words)) if one and one["kind"] == "Deployment"]
    made = {one["metadata"]["name"]: one["spec"]["template"] for one in found}
    return {name: made[name] for name in (LOGIN, WORKSHOPS_LOGIN)}


def settings(text):
    return dict(line.split(" = ", 1) for line in text.splitlines())


@pytest.mark.parametrize("proxy", [LOGIN, WORKSHOPS_LOGIN])
def test_provider_and_email_domain_have_defaults(proxy):
    found = settings(configurations("minimal")[proxy])
    assert (found["provider"], found["email_domains"]) == ('"oidc"', '["example.org"]')


def test_login_proxies_read_secrets_of_default_names():
    for name, template in pods_of().items():
        env = template["spec"]["containers"][0]["env"]
        assert {one["valueFrom"]["secretKeyRef"]["name"] for one in env} == {name}
    assert not secrets("minimal")


def test_client_in_values_becomes_secrets_of_both_login_proxies():
    client = {"client-id": "example.apps.googleusercontent.com", "client-secret": "example-of-a-client-secret"}
    cookies = [f"ZXhhbXBsZS1vZi1hLWNvb2tpZS1zZWNyZXQtLT{number}LS0=" for number in ("Et", "It")]
    assert secrets("google") == {
        LOGIN: client | {"cookie-secret": cookies[0]}, WORKSHOPS_LOGIN: client | {"cookie-secret": cookies[1]},
    }
    for deployment in objects("google", "Deployment"):
        name = deployment["metadata"]["name"]
        if name in (LOGIN, WORKSHOPS_LOGIN):
            env = deployment["spec"]["template"]["spec"]["containers"][0]["env"]
            assert {one["valueFrom"]["secretKeyRef"]["name"] for one in env} == {name}


def test_created_secrets_remain_after_upgrade_without_client():
    found = [one for one in objects("google", "Secret") if one["metadata"]["name"].endswith("login")]
    assert len(found) == 2
    assert all(one["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep" for one in found)


def test_workshops_login_can_have_its_own_client():
    found = secrets("minimal", *CLIENT, "--set", "login.workshopsClientID=other,login.workshopsClientSecret=silence")
    assert (found[LOGIN]["client-id"], found[LOGIN]["client-secret"]) == ("id", "hush")
    assert (found[WORKSHOPS_LOGIN]["client-id"], found[WORKSHOPS_LOGIN]["client-secret"]) == ("other", "silence")


def test_created_secrets_have_configured_names_and_keys():
    """YAML reads unquoted names like true and 2026 as other types."""
    names = "login.secret=own-login,login.secretKeys.clientID=true,login.secretKeys.cookieSecret=2026"
    found = secrets("minimal", *CLIENT, "--set-string", names)
    assert set(found) == {"own-login", WORKSHOPS_LOGIN}
    assert {frozenset(one) for one in found.values()} == {frozenset({"true", "client-secret", "2026"})}


def test_generated_cookie_secrets_are_32_random_bytes():
    """Helm cannot look up an existing Secret here, so each rendering generates new ones."""
    made = [one["cookie-secret"] for words in (CLIENT, (*CLIENT, "--debug")) for one in secrets("minimal", *words).values()]
    assert all(re.fullmatch("[A-Za-z0-9_-]{43}=", one) for one in made)
    assert {len(base64.urlsafe_b64decode(one)) for one in made} == {32}
    assert len(set(made)) == 4


def test_changed_client_secret_restarts_login_proxies():
    def checksums(*words):
        return {name: pod["metadata"]["annotations"].get("checksum/secret") for name, pod in pods_of(*words).items()}

    first, second = checksums(*CLIENT), checksums("--set", "login.clientID=id,login.clientSecret=other")
    assert first == checksums(*CLIENT) and all(first[name] != second[name] for name in first)
    assert set(checksums().values()) == {None}
