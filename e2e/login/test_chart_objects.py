"""Tests of the chart's rendered objects: programs, secrets, permissions, names. Needs the debug build of the launcher, but no
cluster."""

import base64
import contextlib
import functools
import json
import re
import shutil
import subprocess
import urllib.parse

import pytest
import yaml

from chart import (
    CHART, COMPONENTS, FRONT_SETS, RELEASE, ROOT, SETS, Rendering, assert_programs_accept, known_settings, program, render,
    template, values_in, values_of, values_schema,
)
from harness import DEADLINE, exchange, free_port, wait_for
from yaml_files import load, load_all

IMAGES = values_in(CHART / "values.yaml")["images"]
LOGIN_SECRETS = {f"OAUTH2_PROXY_{word}" for word in ("CLIENT_ID", "CLIENT_SECRET", "COOKIE_SECRET")}
LOGINS = ("login", "workshops-login")
# Variables that libraries read: OpenTelemetry, the driver of PostgreSQL. The programs' own --help does not list them.
OF_LIBRARY = {"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_RESOURCE_ATTRIBUTES", "PGSSLMODE", "PGSSLROOTCERT"}
# A file with CA certificates, which replaces the file of a private CA.
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
# Variables of the values extraEnv in ci/.
EXTRA = {"EXTRA", "EXTRA_SECRET"}
every_set = pytest.mark.parametrize("name", SETS)


@every_set
def test_containers_get_secrets_only_by_reference(name):
    found = render(name)
    secrets = {one["metadata"]["name"].removeprefix(f"{RELEASE}-") for one in found.named("Secret").values()}
    assert secrets <= {"proxy-secret", "front", *LOGINS, "launcher-login", "workshops-login"}
    for config in found.named("ConfigMap").values():
        assert not re.search("secret|client_id|password", json.dumps(config["data"]), re.IGNORECASE)
    telemetry = {"OTEL_EXPORTER_OTLP_HEADERS"} if name == "full" else set()
    database = {"SERVICE_DATABASE_URL"} if name in ("full", "github") else set()
    expected = {"launcher": database | telemetry, "operator": telemetry, **dict.fromkeys(LOGINS, LOGIN_SECRETS)}
    for component, container in found.containers.items():
        referred = {variable["name"] for variable in container.get("env", []) if "value" not in variable}
        assert referred - EXTRA == expected.get(component, set()), component


@every_set
def test_programs_accept_every_rendered_setting(name, tmp_path):
    found = render(name)
    for component in ("launcher", "operator"):
        container = found.containers[component]
        known = set(re.findall(r"\[env: (\w+)", known_settings(*container["args"])))
        assert {variable["name"] for variable in container["env"]} - known <= OF_LIBRARY | EXTRA
    assert_programs_accept(found, tmp_path)


def setting_of(name):
    """Returns the setting with the name of a value: SERVICE_START_TIMEOUT for workshops.startTimeoutSeconds."""
    words = re.sub("(?<=[a-z])(?=[A-Z])", "_", name.rpartition(".")[2].removesuffix("Seconds"))
    return f"SERVICE_{words.upper()}"


def test_largest_accepted_numbers_render_with_all_digits(tmp_path):
    """By default, Helm writes a million as 1e+06. The programs cannot read this notation."""
    numbers = {name: one["maximum"] for name, one in values_schema().items() if one.get("type") == "integer"}
    # With an HTTP proxy for course material, limits.maxMaterialChecks does not apply.
    without = "--set=workshops.materialProxy.url="
    found = render("full", without, *(f"--set-json={name}={number}" for name, number in numbers.items()))
    assert re.findall(r".*\de\+\d.*", found.text) == []
    passed_on = set()
    for component in ("launcher", "operator"):
        variables = found.env(component)
        own = {name: variables[setting_of(name)] for name in numbers if setting_of(name) in variables}
        assert own == {name: str(numbers[name]) for name in own}
        passed_on |= own.keys()
    # All others are numbers of pods and ports.
    assert {name.rpartition(".")[2] for name in numbers.keys() - passed_on} == {"replicas", "port"}
    assert_programs_accept(found, tmp_path)


def test_checks_of_course_material_reach_what_the_policies_allow_and_none_run_with_a_proxy():
    excepted = {"SERVICE_MAX_MATERIAL_CHECKS": "2", "SERVICE_MATERIAL_CHECK_EXCEPT": "198.51.100.0/24,203.0.113.7/32"}
    for changes, expected in [
        ((), {"SERVICE_MAX_MATERIAL_CHECKS": "2"}),
        (("--set-json=networkPolicy.exceptAlso=[\"198.51.100.0/24\",\"203.0.113.7/32\"]",), excepted),
        (("--set=limits.maxMaterialChecks=0",), {"SERVICE_MAX_MATERIAL_CHECKS": "0"}),
        (("--set=workshops.materialProxy.url=http://proxy.example.org:3128",), {"SERVICE_MAX_MATERIAL_CHECKS": "0"}),
    ]:
        found = render("minimal", *changes).env("launcher")
        assert {name: value for name, value in found.items() if "MATERIAL_CHECK" in name} == expected, changes


@functools.cache
def check_configuration(configuration, folder):
    """Runs the configuration test of oauth2-proxy, once for each text. Returns (status, output)."""
    (folder / "cfg").write_text(configuration.replace("/etc/oauth2-proxy-ca/ca.crt", AUTHORITIES))
    words = [program("oauth2-proxy"), "--config", folder / "cfg", "--config-test"]
    secrets = dict.fromkeys(LOGIN_SECRETS, "0123456789abcdef" * 2)
    done = subprocess.run(words, env=secrets, capture_output=True, text=True, timeout=DEADLINE)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("objects")


@every_set
def test_oauth2_proxy_accepts_its_configurations(name, folder):
    for text in render(name).login_configurations.values():
        status, said = check_configuration(text, folder)
        assert status == 0, said
        assert not re.search("skip_auth|trusted_ip|ping_user_agent|cookie_refresh", text), "a setting bypasses the login"


def test_both_login_proxies_admit_only_the_configured_domains_and_teams():
    github = {"github_org": '"example"', "github_team": '"course,staff"', "email_domains": '["*"]'}
    for name, expected in {"github": github, "minimal": {"email_domains": '["example.org"]'}}.items():
        for component, text in render(name).login_configurations.items():
            settings = dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line)
            restrictions = ("email_domains", "github_org", "github_team")
            assert {key: settings[key] for key in restrictions if key in settings} == expected, (name, component)


def test_plain_http_has_cookies_and_urls_that_browsers_accept():
    """Browsers do not store a cookie with the attribute Secure or a prefix of its name that requires it."""
    for name, is_secure in {"trial": False, "minimal": True}.items():
        found = render(name)
        prefixes = ("__Host-", "__Secure-") if is_secure else ("", "")
        names = [f'cookie_name = "{prefix}_oauth2_proxy' for prefix in prefixes]
        for text, cookie in zip(found.login_configurations.values(), names, strict=True):
            assert f"cookie_secure = {str(is_secure).lower()}\n" in text and cookie in text, name
        scheme = found.env("operator").get("SERVICE_WORKSHOP_SCHEME", "https")
        urls = [found.env(component)["SERVICE_PUBLIC_URL"] for component in ("launcher", "operator")]
        assert {scheme, *(url.partition("://")[0] for url in urls)} == {"https" if is_secure else "http"}


def test_workshops_wait_for_isolation_only_with_network_policies():
    """Without policies, the isolation never begins: no workshop would start."""
    for change, expected in [
        ("networkPolicy.enabled=true", "true"),
        ("networkPolicy.waitForIsolation=false", "false"),
        ("networkPolicy.enabled=false", "false"),
    ]:
        assert render("minimal", change).env("operator")["SERVICE_WAIT_FOR_ISOLATION"] == expected, change


# {set of values: address of the provider's login, and scopes}.
PROVIDERS = {
    "google": ("https://accounts.google.com/o/oauth2/auth", {"email", "profile"}),
    "github": ("https://github.com/login/oauth/authorize", {"user:email", "read:org"}),
}
# Hosts of the login proxies, to which the provider redirects users after the login.
LOGIN_HOSTS = {"login": "launcher.example.org", "workshops-login": "login.workshops.example.net"}


@pytest.mark.parametrize("name", PROVIDERS)
def test_login_redirects_to_provider_with_client_scopes_and_callback(name, folder):
    for component, text in render(name).login_configurations.items():
        (folder / "cfg").write_text(text)
        port = free_port()
        words = [program("oauth2-proxy"), "--config", folder / "cfg", "--http-address", f"127.0.0.1:{port}"]
        secrets = dict.fromkeys(LOGIN_SECRETS, "0123456789abcdef" * 2) | {"OAUTH2_PROXY_CLIENT_ID": "the-client"}
        with subprocess.Popen(words, env=secrets, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as proxy:

            def start():
                assert proxy.poll() is None, "oauth2-proxy has ended"
                # With another host than that of the login proxy: the callback comes from the configuration.
                with contextlib.suppress(ConnectionRefusedError):
                    return exchange(port, "GET", "/oauth2/start")

            try:
                status, headers, _ = wait_for("oauth2-proxy to answer", start)
            finally:
                proxy.kill()
        address, _, query = headers["location"].partition("?")
        asked = dict(urllib.parse.parse_qsl(query))
        assert (status, address, asked["client_id"], asked["response_type"]) == (302, PROVIDERS[name][0], "the-client", "code")
        assert set(asked["scope"].split()) == PROVIDERS[name][1]
        assert asked["redirect_uri"] == f"https://{LOGIN_HOSTS[component]}/oauth2/callback"


def login_secrets(found):
    """Returns the Secrets that the chart creates for the login: {name: {key: value}}."""
    made = {name: one for name, one in found.named("Secret").items() if name.endswith("login")}
    assert all(one["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep" for one in made.values())
    return {
        name.removeprefix(f"{RELEASE}-"): {key: base64.b64decode(value).decode() for key, value in one["data"].items()}
        for name, one in made.items()
    }


CLIENT = "login.clientID=id,login.clientSecret=hush"


def test_client_in_values_becomes_secrets_of_both_login_proxies():
    assert not login_secrets(render("minimal"))
    client = {"client-id": "example.apps.googleusercontent.com", "client-secret": "example-of-a-client-secret"}
    cookies = [f"ZXhhbXBsZS1vZi1hLWNvb2tpZS1zZWNyZXQtLT{number}LS0=" for number in ("Et", "It")]
    made = {one: client | {"cookie-secret": cookie} for one, cookie in zip(LOGINS, cookies, strict=True)}
    assert login_secrets(render("google")) == made
    # Own keys, and a client for each login.
    found = login_secrets(render("existing"))
    assert (found["login"]["id"], found["login"]["secret"]) == ("example-of-the-launchers-client", "example-of-a-client-secret")
    assert found["workshops-login"]["id"] == "example-of-the-workshops-client"
    assert found["workshops-login"]["secret"] == "example-of-another-client-secret"
    assert [found[one]["cookie"] for one in LOGINS] == cookies
    # YAML reads unquoted names like true and 2026 as other types.
    names = "login.secret=own-login,login.secretKeys.clientID=true,login.secretKeys.cookieSecret=2026"
    found = login_secrets(render("minimal", CLIENT, f"--set-string={names}"))
    assert {name: set(one) for name, one in found.items()} == dict.fromkeys(
        ("own-login", "workshops-login"), {"true", "client-secret", "2026"}
    )


def test_generated_cookie_secrets_are_32_random_bytes():
    """Helm cannot look up an existing Secret here, so each rendering generates new ones."""
    both = [login_secrets(render("minimal", CLIENT, again=again)) for again in (False, True)]
    made = [one["cookie-secret"] for found in both for one in found.values()]
    assert all(re.fullmatch("[A-Za-z0-9_-]{43}=", one) and len(base64.urlsafe_b64decode(one)) == 32 for one in made)
    assert len(set(made)) == 4


def test_changed_client_secret_restarts_login_proxies():
    def checksums(*changes):
        found = render("minimal", *changes).templates
        return [found[one]["metadata"]["annotations"].get("checksum/secret") for one in LOGINS]

    first, second = checksums(CLIENT), checksums("login.clientID=id,login.clientSecret=other")
    assert all(one and one != other for one, other in zip(first, second, strict=True))
    assert checksums() == [None, None]


@every_set
def test_pods_have_expected_images_and_service_account_tokens(name):
    found = render(name)
    launcher, sidecar = (f"registry.example.org/{one}:0.1.0" for one in ("launcher", "sidecar"))
    edge = {"front": IMAGES["front"]} if name in FRONT_SETS else {"notice": sidecar}
    images = {"launcher": launcher, "operator": launcher, **dict.fromkeys(LOGINS, IMAGES["oauth2Proxy"]), **edge}
    assert {component: one["image"] for component, one in found.containers.items()} == images
    assert all(re.fullmatch(r"[^:@]+:[^:@]+@sha256:[0-9a-f]{64}", IMAGES[one]) for one in ("oauth2Proxy", "front"))
    assert found.env("operator")["SERVICE_SIDECAR_IMAGE"] == sidecar
    tokens = {component for component, pod in found.pods.items() if pod["automountServiceAccountToken"]}
    assert tokens == {"launcher", "operator"}
    assert not any(account["automountServiceAccountToken"] for account in found.named("ServiceAccount").values())


def test_definitions_are_the_committed_ones():
    crds = load((ROOT / "crds/workshops.yaml").read_text())["items"]
    found = render("full").named("CustomResourceDefinition")
    assert {name: one["spec"] for name, one in found.items()} == {one["metadata"]["name"]: one["spec"] for one in crds}


def test_notices_are_the_committed_ones_with_address_and_name_of_the_launcher():
    committed = {path.name: path.read_text() for path in (CHART / "notices").iterdir()}
    plain, named = ("https://launcher.example.org/", None), ("https://launcher.example.org:8443/", "Labor für &#34;Statistik&#34;")
    for name, (address, brand) in {"any": plain, "full": named}.items():
        served = {file: text for file, text in render(name).data(f"{RELEASE}-front").items() if file.endswith(".html")}
        values = {"LAUNCHER_URL": address, "WORKSHOP_NAME": '<!--# echo var="front_workshop" -->'}
        expected = {file: re.sub("|".join(values), lambda found: values[found[0]], text) for file, text in committed.items()}
        if brand:
            link = f'href="{address}" target="_top">'
            expected = {file: re.sub(f"{link}[^<]*<", f"{link}{brand}<", text) for file, text in expected.items()}
        assert {file: text.split() for file, text in served.items()} == {file: text.split() for file, text in expected.items()}


def workshop_namespaces(found):
    """Returns the namespaces in which launcher and operator work: the main one first, then those of classes."""
    variables = found.env("launcher")
    names = [variables["SERVICE_NAMESPACE"], *variables.get("SERVICE_CLASS_NAMESPACES", "").split(",")]
    assert found.env("operator").get("SERVICE_CLASS_NAMESPACES") == variables.get("SERVICE_CLASS_NAMESPACES")
    return [name for name in names if name]


def test_namespace_of_a_class_has_what_the_main_one_has_and_its_quota():
    classes = json.dumps(values_in(values_of("traefik"))["workshops"]["classNamespaces"])
    found = render("github", f"--set-json=workshops.classNamespaces={classes}")
    main, limited, other = workshop_namespaces(found)
    assert [limited, other] == ["class-statistics", "2027"]

    def objects(namespace):
        """Returns the objects of a namespace without its name: {(kind, name): object}."""
        own = {("Namespace", ""): found.keyed["Namespace", None, namespace]}
        own |= {(kind, name): one for (kind, space, name), one in found.keyed.items() if space == namespace}
        plain = lambda one: one | {"metadata": {key: one["metadata"].get(key) for key in ("labels", "annotations")}}
        return {key: plain(one) for key, one in own.items() if key[0] not in ("Role", "ResourceQuota", "LimitRange")}

    assert objects(limited) == objects(other) == objects(main)
    assert {kind for kind, _ in objects(main)} == {"Certificate", "Namespace", "NetworkPolicy", "RoleBinding", "Secret"}
    limits = {key[:2]: one["spec"] for key, one in found.keyed.items() if key[0] in ("ResourceQuota", "LimitRange")}
    assert limits == {
        ("ResourceQuota", limited): {"hard": {"pods": "40", "requests.cpu": "20", "limits.memory": "80Gi"}},
        ("LimitRange", limited): {"limits": [{"type": "Container", "max": {"memory": "4Gi"}}]},
    }


@every_set
def test_roles_match_committed_rules_in_each_workshop_namespace(name):
    found = render(name)
    committed = [one["rules"] for one in load_all((ROOT / "deploy/rbac.yaml").read_text()) if one["kind"] == "Role"]
    assert not found.named("ClusterRole", "ClusterRoleBinding")
    accounts = {component: pod.get("serviceAccountName") for component, pod in found.pods.items()}
    names = {"launcher": RELEASE, "operator": f"{RELEASE}-operator"}
    roles = {}
    for namespace in workshop_namespaces(found):
        for (component, role), rules in zip(names.items(), committed, strict=True):
            # The Lease is in the main namespace.
            is_granted = lambda rule: namespace == found.env("launcher")["SERVICE_NAMESPACE"] or rule["resources"] != ["leases"]
            roles["Role", namespace, role] = list(filter(is_granted, rules))
            binding = found.keyed["RoleBinding", namespace, role]
            assert (binding["roleRef"]["kind"], binding["roleRef"]["name"]) == ("Role", role)
            assert binding["subjects"] == [{"kind": "ServiceAccount", "name": accounts[component], "namespace": "launcher"}]
            assert list(accounts.values()).count(accounts[component]) == 1
    assert {key: one["rules"] for key, one in found.keyed.items() if key[0] == "Role"} == roles
    assert [key for key in found.keyed if key[0] == "RoleBinding"] == [("RoleBinding", *key[1:]) for key in roles]
    assert "*" not in {resource for rules in committed for rule in rules for resource in rule["resources"]}
    # The launcher creates the Secrets with launch parameters. Only the kubelet reads Secrets.
    assert [[rule["verbs"] for rule in rules if "secrets" in rule["resources"]] for rules in committed] == [[["create"]], []]


@pytest.mark.parametrize("name, others", [("minimal", set()), ("full", {f"{RELEASE}-links", f"{RELEASE}-text"})])
def test_all_objects_have_the_labels_of_the_release(name, others):
    """The others are objects of the administrator: the value `extraObjects`."""
    labels = {f"app.kubernetes.io/{label}": RELEASE for label in ("name", "instance")}.items()
    found = render(name).keyed
    assert {key[2] for key, one in found.items() if not labels <= one["metadata"].get("labels", {}).items()} == others


def test_accounts_and_namespaces_have_their_annotations_and_labels():
    accounts = {name: one["metadata"]["annotations"] for name, one in render("full").named("ServiceAccount").items()}
    assert accounts == {f"{part}-account": {"example.org/role": part} for part in ("launcher", "login", "front")}
    assert set(render("minimal").named("ServiceAccount")) == {RELEASE, f"{RELEASE}-operator"}
    labels = render("minimal").named("Namespace")["workshops"]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "baseline"


@every_set
def test_objects_with_user_data_are_kept_on_uninstall(name):
    keep = {"helm.sh/resource-policy": "keep"}.items()
    kept = {one["kind"] for one in render(name).objects if keep <= one["metadata"].get("annotations", {}).items()}
    expected = {"CustomResourceDefinition", "Namespace", "NetworkPolicy", "PersistentVolumeClaim", "Secret"}
    without = {"github": {"PersistentVolumeClaim"}, "full": {"PersistentVolumeClaim", "Namespace"}}
    assert kept == expected - without.get(name, set())


def shape(value):
    """Returns a value with each scalar replaced by the name of its type."""
    if isinstance(value, dict):
        return {name: shape(below) for name, below in value.items()}
    return [shape(below) for below in value] if isinstance(value, list) else type(value).__name__


# Names that the sets below cannot have together with the others: they exclude another name, must differ from it, or need
# an existing object.
LEFT_OUT = {
    "login.ca.secret", "database.postgresql.ca.configMap", "database.sqlite.existingClaim", "ingress.gateway.name",
    "ingress.gateway.namespace", "ingress.gateway.launcherListener", "ingress.gateway.workshopsListener",
    *(f"{component}.serviceAccount.name" for component in COMPONENTS if component != "launcher"),
}
# Values that must differ from one in NAMES.
OTHER_NAMES = ("login.workshopsSecret", "ingress.tls.workshopsSecret")


def names():
    """Yields the values that are names. Users may choose names like 2025 or true, which YAML reads as other types."""
    yield from ("workshops.namespace", "ingress.entryPoint", "ingress.podLabels.app")
    kinds = [f"#/definitions/{kind}" for kind in ("objectName", "key", "namespace")]
    for name, one in values_schema().items():
        if one.get("$ref") in kinds:
            yield name
        elif one.get("items", {}).get("$ref") in kinds:
            yield f"{name}[0]"


NAMES = sorted(set(names()) - LEFT_OUT - set(OTHER_NAMES))


def named(name, own, *others):
    """Renders a set of values with `own` as the name of the release and of OTHER_NAMES, and `others` in turn in NAMES."""
    # Keys of created Secrets must differ, and some keys are equal here. Other tests have such keys.
    client = ("clientID", "clientSecret", "cookieSecret", "workshopsCookieSecret")
    changes = [f"{value}={others[index % len(others)]}" for index, value in enumerate(NAMES)]
    changes += [f"{value}={own}" for value in OTHER_NAMES]
    # The chart refuses an issuer beside the annotations of this set.
    left_out = "ingress.tls.issuer" if name == "traefik" else "none"
    words = [f"--set-string={one}" for one in changes if not one.startswith(left_out)]
    plain = ["traces.endpoint=http://collector:4318", *(f"login.{value}=" for value in client)]
    return render(name, *words, *plain, release=own, namespace=own)


@pytest.mark.parametrize("name", ["any", "full", "github", "traefik"])
@pytest.mark.parametrize("own,others", [("2025", ["true", "null", "2026"]), ("true", ["2026", "no"])])
def test_names_that_look_like_numbers_or_booleans_render_as_strings(name, own, others, tmp_path):
    found = named(name, own, *others)
    assert shape(found.objects) == shape(named(name, "own", "others").objects)
    assert_programs_accept(found, tmp_path, "operator")


@pytest.mark.parametrize(
    "release,changes,prefix",
    [
        (RELEASE, [], RELEASE),
        ("course", [], f"course-{RELEASE}"),
        ("course", ["nameOverride=labs"], "course-labs"),
        ("course", ["fullnameOverride=labs"], "labs"),
        ("labs-2026", ["nameOverride=labs"], "labs-2026"),
    ],
)
def test_names_of_all_objects_begin_with_full_name(release, changes, prefix):
    found = render("minimal", *changes, "monitoring.namespace=monitoring", release=release)
    own = [one for one in found.objects if one["metadata"].get("namespace") == "launcher"]
    names = {one["metadata"]["name"] for one in own}
    assert {prefix, f"{prefix}-operator", f"{prefix}-proxy-secret"} <= names
    assert {name for name in names if name != prefix and not name.startswith(f"{prefix}-")} == set()
    # The override of the name changes labels and selectors together.
    name = {"app.kubernetes.io/name": "labs" if "nameOverride=labs" in changes else RELEASE}.items()
    assert all(name <= one["metadata"]["labels"].items() for one in own)
    for deployment in found.named("Deployment").values():
        spec = deployment["spec"]
        assert name <= spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    for policy in (one["spec"] for one in own if one["kind"] == "NetworkPolicy"):
        assert name <= policy["podSelector"]["matchLabels"].items()


def test_full_name_override_with_default_name_keeps_all_names():
    keys = [{(one["kind"], one["metadata"]["name"]) for one in render(name).objects} for name in ("google", "minimal")]
    assert {key for key in keys[0] ^ keys[1] if key[0] != "Secret"} == set()


@pytest.mark.parametrize("name", ["full", "minimal"])
def test_chart_version_changes_no_pod_and_no_selector(name, tmp_path):
    chart = shutil.copytree(CHART, tmp_path / "chart")
    about = (chart / "Chart.yaml").read_text()
    version = load(about)["version"]
    (chart / "Chart.yaml").write_text(about.replace(f"ersion: {version}", "ersion: 99.0.0+build"))
    changed = render(name, chart=chart).named("Deployment")
    for deployment, one in render(name).named("Deployment").items():
        assert changed[deployment]["spec"] == one["spec"]
        labels = changed[deployment]["metadata"]["labels"]
        assert labels["helm.sh/chart"] == f"{RELEASE}-99.0.0_build" and labels["app.kubernetes.io/version"] == "99.0.0_build"


def test_condition_of_parent_chart_enables_dependency(tmp_path):
    shutil.copytree(CHART, tmp_path / f"charts/{RELEASE}")
    needed = {"name": RELEASE, "version": "0.1.0", "condition": f"{RELEASE}.enabled"}
    about = {"apiVersion": "v2", "name": "course", "version": "1.0.0", "dependencies": [needed]}
    (tmp_path / "Chart.yaml").write_text(yaml.safe_dump(about))
    (tmp_path / "values.yaml").write_text(yaml.safe_dump({RELEASE: values_in(values_of("minimal"))}))
    for enabled in ("true", "false"):
        status, text = template(None, f"{RELEASE}.enabled={enabled}", chart=tmp_path, release="course")
        assert status == 0, text
        assert len(Rendering(text).named("Deployment")) == (5 if enabled == "true" else 0)


def test_chart_describes_its_images_and_resource():
    about = load((CHART / "Chart.yaml").read_text())
    notes = about["annotations"]
    assert {one["image"] for one in load(notes["artifacthub.io/images"])} == {IMAGES["oauth2Proxy"], IMAGES["front"]}
    crds = load((CHART / "files/workshops.yaml").read_text())["items"]
    described = load(notes["artifacthub.io/crds"])
    assert [one["name"] for one in described] == [crd["metadata"]["name"] for crd in crds]
    for one, crd in zip(described, crds, strict=True):
        assert one["kind"] == crd["spec"]["names"]["kind"]
        assert one["version"] in {version["name"] for version in crd["spec"]["versions"]}
    icon = base64.b64decode(about["icon"].removeprefix("data:image/svg+xml;base64,"))
    assert icon == (ROOT / "crates/launcher-api/assets/icon.svg").read_bytes()
