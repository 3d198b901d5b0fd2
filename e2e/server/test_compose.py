"""Checks compose.yaml and the configuration of Traefik and the login proxies, without starting them."""

import re
import subprocess
import tomllib

import pytest
import yaml

from conftest import ROOT, SERVER

COMPOSE = yaml.safe_load((SERVER / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
ROOTLESS = ("--engine", "podman", "--engine-socket", "/run/user/1000/podman/podman.sock")
CHART = ROOT / "charts/workshop-launcher"
IMAGES = dict(line.split("=", 1) for line in (SERVER / "versions.env").read_text().splitlines() if line[:1].isalpha())


def mounts(service):
    """Returns the mounts of a service as (source, target, options)."""
    return [tuple((one + ":").split(":")[:3]) for one in SERVICES[service].get("volumes", [])]


def test_only_launcher_gets_engine_socket():
    named = re.compile("sock|engine", re.IGNORECASE)
    having = {name for name in SERVICES for source, target, _ in mounts(name) if named.search(source + target)}
    assert having == {"launcher"}
    assert not re.search("docker.sock|podman", (SERVER / "compose.yaml").read_text())


@pytest.mark.parametrize(
    ("words", "source", "target", "socket"),
    [
        ((), "/run/docker.sock", "/run/engine.sock", "/run/engine.sock"),
        (("--engine", "podman"), "/run/podman", "/run/engine", "/run/engine/podman.sock"),
        (ROOTLESS, "/run/user/1000/podman", "/run/engine", "/run/engine/podman.sock"),
        (("--engine", "podman", "--engine-socket", "/srv/engine.sock"), "/srv/engine.sock", "/run/engine.sock", "/run/engine.sock"),
    ],
    ids=["docker", "podman", "rootless podman", "podman with another socket"],
)
def test_launcher_gets_folder_of_podman_socket(home, words, source, target, socket):
    told = home.install(*words)
    found = home.variables()
    assert [found[name] for name in ("ENGINE_SOURCE", "ENGINE_TARGET", "ENGINE_SOCKET")] == [source, target, socket]
    assert SERVICES["launcher"]["environment"]["SERVICE_ENGINE_SOCKET"] == "${ENGINE_SOCKET}"
    assert ("the launcher loses the socket" in told) == (source == "/srv/engine.sock")


@pytest.mark.parametrize("name", SERVICES)
def test_service_has_no_more_rights_than_it_needs(name):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    allowed = {"traefik": ["NET_BIND_SERVICE"], "launcher": ["CHOWN", "DAC_OVERRIDE", "FOWNER"]}
    assert service.get("cap_add", []) == allowed.get(name, [])
    refused = {"privileged", "pid", "ipc", "userns_mode", "devices", "volumes_from", "ports", "sysctls"}
    assert refused.isdisjoint(service)
    assert int(service["mem_limit"].rstrip("m")) <= 512 and service["pids_limit"] <= 1000
    assert service["restart"] == "always"


def test_administrator_can_set_user_of_apps():
    # A variable of the service would have precedence over the file.
    assert "SERVICE_RUN_AS_USER" not in SERVICES["launcher"]["environment"]
    assert SERVICES["launcher"]["env_file"] == ["launcher.env"]


@pytest.mark.parametrize("name", SERVICES)
def test_configuration_is_mounted_read_only(name):
    writable = {(source, target) for source, target, options in mounts(name) if options != "ro"}
    own = {"traefik": {("./acme", "/acme")}, "launcher": {("${DATA_DIR}", "${DATA_DIR}"), ("${ENGINE_SOURCE}", "${ENGINE_TARGET}")}}
    assert writable == own.get(name, set())


def test_images_are_pinned_in_one_file():
    assert {service["image"] for service in SERVICES.values()} == {f"${{{name}}}" for name in IMAGES} - {"${SIDECAR_IMAGE}", "${MATERIAL_IMAGE}"}
    for name, reference in IMAGES.items():
        if reference.startswith("localhost/"):
            assert re.fullmatch(r"localhost/workshop-launcher/(launcher|sidecar|material):\d+\.\d+\.\d+", reference), name
        else:
            assert re.fullmatch(r"[a-z0-9./-]+:v[0-9.]+@sha256:[0-9a-f]{64}", reference), name


def test_versions_of_own_images_are_those_of_sources():
    version = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    assert {IMAGES[name].rsplit(":", 1)[1] for name in ("LAUNCHER_IMAGE", "SIDECAR_IMAGE", "MATERIAL_IMAGE")} == {version}


def test_login_proxy_has_version_of_chart():
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert IMAGES["OAUTH2_PROXY_IMAGE"] == values["images"]["oauth2Proxy"]


def test_every_variable_of_compose_file_is_written(home):
    home.install()
    used = set(re.findall(r"\$\{([A-Z0-9_]+)\}", (SERVER / "compose.yaml").read_text()))
    assert used == set(home.variables()) - {"COMPOSE_PROFILES"}


def test_every_mounted_path_is_written(home):
    home.install()
    for name in SERVICES:
        for source, _, _ in mounts(name):
            assert source.startswith("$") or (home.root / source).is_dir(), source
        assert all((home.root / one).is_file() for one in SERVICES[name].get("env_file", []))


def test_all_programs_except_traefik_listen_on_loopback(home):
    home.install()
    launcher = SERVICES["launcher"]["environment"]
    assert launcher["SERVICE_LISTEN_ADDR"].startswith("127.0.0.1:")
    assert launcher["SERVICE_TELEMETRY_ADDR"].startswith("127.0.0.1:")
    for name in ("login", "workshops-login"):
        assert tomllib.loads(home.text(f"{name}/oauth2-proxy.cfg"))["http_address"].startswith("127.0.0.1:")
    assert yaml.safe_load(home.text("dex/dex.yaml"))["web"]["http"].startswith("127.0.0.1:")
    entry_points = yaml.safe_load(home.text("traefik/traefik.yaml"))["entryPoints"]
    public = {name: one["address"] for name, one in entry_points.items() if not one["address"].startswith("127.0.0.1:")}
    assert public == {"web": ":80", "websecure": ":443"}
    assert {service["network_mode"] for service in SERVICES.values()} == {"host"}


def edge(home):
    return yaml.safe_load(home.text("traefik/dynamic/edge.yaml"))


def test_every_route_to_launcher_requires_login(home):
    home.install()
    for name, router in edge(home)["http"]["routers"].items():
        assert router["middlewares"][0] == "strip", name
        if router["service"] == "launcher" and name != "launcher-signed-out":
            login = "workshops" if name == "workshops" else {"launcher": "pages", "launcher-api": "api"}[name]
            assert router["middlewares"] == ["strip", login, "proof"], name
        else:
            assert not {"pages", "api", "workshops", "proof"} & set(router["middlewares"]), name
    assert edge(home)["tls"]["options"]["default"]["sniStrict"] is True


def test_identity_headers_are_those_of_chart(home):
    home.install()
    middlewares = edge(home)["http"]["middlewares"]
    rendered = [one for one in yaml.safe_load_all((CHART / "rendered/minimal.yaml").read_text()) if one]
    chart = {one["metadata"]["name"].removeprefix("workshop-launcher-"): one["spec"] for one in rendered if one["kind"] == "Middleware"}
    assert middlewares["strip"] == chart["strip"]
    for name in ("pages", "api", "workshops"):
        ours, theirs = middlewares[name]["forwardAuth"], chart[name]["forwardAuth"]
        assert {**ours, "address": ""} == {**theirs, "address": ""}
        assert ours["address"].partition("://")[2].partition("/")[2] == theirs["address"].partition("://")[2].partition("/")[2]


def test_login_proxies_have_settings_of_chart(home):
    """The chart's own test of these settings covers a login; here, a change of the chart must not be forgotten."""
    rendered = [one for one in yaml.safe_load_all((CHART / "rendered/minimal.yaml").read_text()) if one]
    chart = {
        one["metadata"]["name"].removeprefix("workshop-launcher-"): tomllib.loads(one["data"]["oauth2-proxy.cfg"])
        for one in rendered
        if one["kind"] == "ConfigMap" and "oauth2-proxy.cfg" in one["data"]
    }
    issuer = chart["login"]["oidc_issuer_url"]
    (home.work / "secret").write_text("of the provider".replace(" ", "-"))
    home.run(
        "--domain", "launcher.example.org", "--workshops-domain", "workshops.example.net", "--admin", "ada@example.org",
        "--login", "oidc", "--issuer", issuer, "--client-id", "id", "--client-secret-file", "secret",
        "--email-domain", "example.org", "--tls", "private-ca", "--data-dir", home.data,
    )
    for name in ("login", "workshops-login"):
        ours = tomllib.loads(home.text(f"{name}/oauth2-proxy.cfg"))
        # The chart passes the secrets in environment variables, and does not know the addresses of its edge proxy.
        different = {"client_id", "client_secret", "cookie_secret", "trusted_proxy_ips"}
        own = {key: value for key, value in ours.items() if key not in different}
        assert {**own, "http_address": "", "email_domains": ""} == {**chart[name], "http_address": "", "email_domains": ""}
    cookies = [tomllib.loads(home.text(f"{name}/oauth2-proxy.cfg"))["cookie_secret"] for name in ("login", "workshops-login")]
    assert cookies[0] != cookies[1]


def test_make_target_builds_images_of_compose_file():
    told = subprocess.run(["make", "--dry-run", "server-images"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "images/server.sh" in told
    script = (ROOT / "images/server.sh").read_text()
    assert "versions.env" in script
