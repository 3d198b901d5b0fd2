"""Checks compose.yaml and the configuration of Traefik and the login proxies, without starting them."""

import re
import tomllib

import pytest
import yaml

from installed import CLIENT, ROOT, SERVER

TEXT = (SERVER / "compose.yaml").read_text()
SERVICES = yaml.safe_load(TEXT)["services"]
LAUNCHER = SERVICES["launcher"]["environment"]
CHART = ROOT / "charts/workshop-launcher"
IMAGES = dict(line.split("=", 1) for line in (SERVER / "versions.env").read_text().splitlines() if line[:1].isalpha())
# Programs of workshops, which the launcher starts.
IN_WORKSHOPS = {"SIDECAR_IMAGE", "MATERIAL_IMAGE"}


def mounts(service):
    """Returns the mounts of a service as (source, target, options)."""
    return [tuple((one + ":").split(":")[:3]) for one in SERVICES[service].get("volumes", [])]


def rendered(kind):
    """Returns the chart's objects of this kind, by the last part of their names."""
    objects = [one for one in yaml.safe_load_all((CHART / "rendered/minimal.yaml").read_text()) if one]
    return {one["metadata"]["name"].removeprefix("workshop-launcher-"): one for one in objects if one["kind"] == kind}


def proxies(home):
    return {name: tomllib.loads(home.text(f"{name}/oauth2-proxy.cfg")) for name in ("login", "workshops-login")}


def edge(home):
    return yaml.safe_load(home.text("traefik/dynamic/edge.yaml"))["http"]


def test_only_launcher_gets_engine_socket():
    named = re.compile("sock|engine", re.IGNORECASE)
    assert {name for name in SERVICES for source, target, _ in mounts(name) if named.search(source + target)} == {"launcher"}
    assert LAUNCHER["SERVICE_ENGINE_SOCKET"] == "${ENGINE_SOCKET}" and not re.search("docker.sock|podman", TEXT)


@pytest.mark.parametrize(
    ("engine", "given", "mount"),
    [
        ("docker", "", ["/run/docker.sock", "/run/engine.sock", "/run/engine.sock"]),
        ("podman", "", ["/run/podman", "/run/engine", "/run/engine/podman.sock"]),
        ("podman", "/run/user/1000/podman/podman.sock", ["/run/user/1000/podman", "/run/engine", "/run/engine/podman.sock"]),
        ("podman", "/srv/engine.sock", ["/srv/engine.sock", "/run/engine.sock", "/run/engine.sock"]),
    ],
)
def test_launcher_gets_folder_of_podman_socket(school, engine, given, mount):
    told = school.run("--engine", engine, *(("--engine-socket", given) if given else ()))
    assert ("the launcher loses the socket" in told) == (given == "/srv/engine.sock")
    school.run("--engine", engine)
    assert [school.variables()[name] for name in ("ENGINE_SOURCE", "ENGINE_TARGET", "ENGINE_SOCKET")] == mount
    # The stored socket may be the one of the other engine.
    school.run("--engine", "docker")
    assert school.variables()["ENGINE_SOURCE"] == "/run/docker.sock"


@pytest.mark.parametrize("name", SERVICES)
def test_service_has_no_more_rights_than_it_needs(name):
    service = SERVICES[name]
    fixed = {"read_only": True, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges:true"], "restart": "always", "network_mode": "host"}
    assert {key: service[key] for key in fixed} == fixed
    allowed = {"traefik": ["NET_BIND_SERVICE"], "launcher": ["CHOWN", "DAC_OVERRIDE", "FOWNER"]}
    assert service.get("cap_add", []) == allowed.get(name, [])
    assert {"privileged", "pid", "ipc", "userns_mode", "devices", "volumes_from", "ports", "sysctls"}.isdisjoint(service)
    assert int(service["mem_limit"].rstrip("m")) <= 512 and service["pids_limit"] <= 1000
    writable = {(source, target) for source, target, options in mounts(name) if options != "ro"}
    own = {"traefik": {("./acme", "/acme")}, "launcher": {("${DATA_DIR}", "${DATA_DIR}"), ("${ENGINE_SOURCE}", "${ENGINE_TARGET}")}}
    assert writable == own.get(name, set())


def test_images_are_pinned_in_one_file():
    assert {service["image"] for service in SERVICES.values()} == {f"${{{name}}}" for name in IMAGES.keys() - IN_WORKSHOPS}
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    for name in IN_WORKSHOPS | {"LAUNCHER_IMAGE"}:
        assert IMAGES[name] == f"localhost/workshop-launcher/{name.removesuffix('_IMAGE').lower()}:{version}"
    others = [IMAGES[name] for name in IMAGES.keys() - IN_WORKSHOPS - {"LAUNCHER_IMAGE"}]
    assert all(re.fullmatch(r"[a-z0-9./-]+:v[0-9.]+@sha256:[0-9a-f]{64}", reference) for reference in others)
    assert IMAGES["OAUTH2_PROXY_IMAGE"] == yaml.safe_load((CHART / "values.yaml").read_text())["images"]["oauth2Proxy"]
    assert re.search(r"^server-images:.*\n\t@exec images/server.sh$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert "versions.env" in (ROOT / "images/server.sh").read_text()


def test_variables_and_paths_of_compose_file_are_written(school):
    assert set(re.findall(r"\$\{([A-Z0-9_]+)\}", TEXT)) == set(school.variables()) - {"COMPOSE_PROFILES"}
    paths = [school.root / source for name in SERVICES for source, _, _ in mounts(name) if not source.startswith("$")]
    assert paths and all(path.is_dir() for path in paths)
    assert all((school.root / one).is_file() for service in SERVICES.values() for one in service.get("env_file", []))
    # The administrator can set the user of apps in the file. A variable of the service would have precedence.
    assert "SERVICE_RUN_AS_USER" not in LAUNCHER and SERVICES["launcher"]["env_file"] == ["launcher.env"]


def test_all_programs_except_traefik_listen_on_loopback(school):
    private = [LAUNCHER["SERVICE_LISTEN_ADDR"], LAUNCHER["SERVICE_TELEMETRY_ADDR"], *(one["http_address"] for one in proxies(school).values())]
    private += [yaml.safe_load(school.text("dex/dex.yaml"))["web"]["http"]]
    assert all(address.startswith("127.0.0.1:") for address in private), private
    addresses = {name: one["address"] for name, one in yaml.safe_load(school.text("traefik/traefik.yaml"))["entryPoints"].items()}
    public = {name: address for name, address in addresses.items() if not address.startswith("127.0.0.1:")}
    assert public == {"web": ":80", "websecure": ":443"}


def test_every_route_to_launcher_requires_login(school):
    logins = {"workshops": "workshops", "launcher": "pages", "launcher-api": "api"}
    for name, router in edge(school)["routers"].items():
        if router["service"] == "launcher" and name != "launcher-signed-out":
            assert router["middlewares"] == ["strip", logins[name], "proof"], name
        else:
            assert router["middlewares"][0] == "strip" and not {*logins.values(), "proof"} & set(router["middlewares"]), name
    assert edge(school)["routers"]["dex"]["middlewares"] == ["strip", "dex-rate"]
    assert edge(school)["middlewares"]["dex-rate"]["rateLimit"]["average"] <= 20
    assert yaml.safe_load(school.text("traefik/dynamic/edge.yaml"))["tls"]["options"]["default"]["sniStrict"] is True


def test_identity_headers_are_those_of_chart(school):
    ours, chart = edge(school)["middlewares"], {name: one["spec"] for name, one in rendered("Middleware").items()}
    assert ours["strip"] == chart["strip"]
    for name in ("pages", "api", "workshops"):
        first, second = (one[name]["forwardAuth"] for one in (ours, chart))
        # Only the hosts of the addresses differ.
        assert {**first, "address": first["address"].split("/")[3:]} == {**second, "address": second["address"].split("/")[3:]}


def test_login_proxies_have_settings_of_chart(school):
    """The chart's own test of these settings covers a login; here, a change of the chart must not be forgotten."""
    maps = {name: one["data"]["oauth2-proxy.cfg"] for name, one in rendered("ConfigMap").items() if "oauth2-proxy.cfg" in one["data"]}
    chart = {name: tomllib.loads(text) for name, text in maps.items()}
    school.write("secret", "of-the-provider")
    school.run("--login", "oidc", "--issuer", chart["login"]["oidc_issuer_url"], *CLIENT)
    # The chart passes the secrets in environment variables, and does not know the addresses of its edge proxy.
    different = {"client_id", "client_secret", "cookie_secret", "trusted_proxy_ips", "http_address", "email_domains"}
    found = proxies(school)
    for name in found:
        first, second = ({key: value for key, value in one[name].items() if key not in different} for one in (found, chart))
        assert first == second and not (different - {"http_address", "email_domains"}) & chart[name].keys()
    assert found["login"]["cookie_secret"] != found["workshops-login"]["cookie_secret"]


def test_edge_answers_401_at_the_same_paths_as_the_chart(school):
    school.run()
    words = re.search(r"PathRegexp\(`\^/\(([a-z|]+)\)\(/\|\$\)`\)", edge(school)["routers"]["launcher-api"]["rule"])[1].split("|")
    paths = [path["path"] for rule in rendered("Ingress")["api"]["spec"]["rules"] for path in rule["http"]["paths"]]
    assert [f"/{word}" for word in words] == paths
