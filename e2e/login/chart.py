"""Renders the chart with Helm, and returns the rendered Kubernetes objects for tests."""

import functools
import json
import os
import pathlib
import re
import subprocess
import sys

from yaml_files import load

LOGIN = pathlib.Path(__file__).resolve().parent
ROOT = LOGIN.parents[1]
sys.path.insert(0, str(ROOT / "charts"))
import chart_values

CHART = ROOT / "charts/workshop-launcher"
RELEASE = "workshop-launcher"
# Debug build of the launcher, whose parser of settings judges the rendered settings.
LAUNCHER = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug/launcher"
ALL_SETS = sorted(path.name.removesuffix("-values.yaml") for path in (CHART / "ci").glob("*-values.yaml"))
# Sets with all objects and images of the chart itself, and with https. The others replace or omit some.
SETS = [name for name in ALL_SETS if name not in ("existing", "trial")]
# Sets with the front as edge proxy, and with Traefik.
FRONT_SETS = ["any", "full"]
TRAEFIK_SETS = [name for name in SETS if name not in FRONT_SETS]

# Groups of values with the same values for pods: `COMPONENT` in docs/helm-pods.md.
COMPONENTS = chart_values.COMPONENTS


@functools.cache
def program(name):
    """Returns the path of a program in its pinned version, such as helm. Builds a missing program."""
    words = ["bash", "-c", f'source {LOGIN}/common.sh; need_login_programs {name}; printf %s "$LOGIN_BIN/{name}"']
    return pathlib.Path(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def values_of(name):
    """Returns the path of a set of values: ci/NAME-values.yaml."""
    return CHART / f"ci/{name}-values.yaml"


@functools.cache
def values_in(path):
    """Returns the values of a file. The caller must not change them."""
    return load(path.read_text())


def helm(*words, stdin=None):
    """Runs Helm. Returns (status, output): with the errors if Helm fails, without its warnings if it succeeds."""
    command = [program("helm"), *map(str, words)]
    # Without garbage collection, Helm takes a fifth less of CPU time, and 80 MiB of memory.
    environment = os.environ | {"GOGC": "off"}
    done = subprocess.run(command, env=environment, input=stdin, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + (done.stderr if done.returncode else "")


def template(name, *changes, chart=CHART, release=RELEASE, namespace="launcher", kubernetes="1.34", stdin=None):
    """Runs `helm template`. Returns (status, output).

    `name` is a set of values, the path of a values file, or None. A change is a value for `--set`, or an option such as
    `--set-string=…`. The option `--values=-` reads `stdin`.
    """
    files = [] if name is None else ["--values", values_of(name) if isinstance(name, str) else name]
    words = [change if change.startswith("--") else f"--set={change}" for change in changes]
    common = ("--namespace", namespace, "--kube-version", kubernetes)
    return helm("template", release, chart, *common, *files, *words, stdin=stdin)


def refusal(name, *changes):
    """Returns the errors of Helm for these values. Fails if Helm accepts them."""
    status, text = template(name, *changes)
    assert status != 0, "helm accepted invalid values"
    return text


document = functools.cache(load)


class Rendering:
    """Rendered objects. Equal documents of all renderings are one Python object, so tests must not change the objects."""

    def __init__(self, text):
        self.text = text
        self.objects = [one for part in re.split(r"^---\n", text, flags=re.MULTILINE) if (one := document(part))]

    @functools.cached_property
    def keyed(self):
        """{(kind, namespace, name): object}."""
        return {(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]): one for one in self.objects}

    def named(self, *kinds):
        """Returns the objects of these kinds: {name: object}."""
        return {one["metadata"]["name"]: one for one in self.objects if one["kind"] in kinds}

    def data(self, name, kind="ConfigMap"):
        return self.named(kind)[name]["data"]

    @functools.cached_property
    def templates(self):
        """Pod templates of the Deployments: {component: template}."""
        found = (one["spec"] for one in self.named("Deployment").values())
        return {one["selector"]["matchLabels"]["app.kubernetes.io/component"]: one["template"] for one in found}

    @functools.cached_property
    def pods(self):
        return {component: one["spec"] for component, one in self.templates.items()}

    @functools.cached_property
    def containers(self):
        """The only container of each Deployment: {component: container}."""
        return {component: only for component, pod in self.pods.items() for (only,) in [pod["containers"]]}

    def env(self, component):
        """Returns the environment of a container without references to other objects: {variable: value}."""
        return {one["name"]: one["value"] for one in self.containers[component]["env"] if "value" in one}

    @property
    def login_configurations(self):
        """The configurations of both login proxies: {component: text}."""
        return {one: self.data(f"{RELEASE}-{one}")["oauth2-proxy.cfg"] for one in ("login", "workshops-login")}


@functools.cache
def render(name, *changes, again=False, **options):
    """Renders a set of values with these changes, once. `again` makes the cache distinguish a second rendering."""
    status, text = template(name, *changes, **options)
    assert status == 0, text
    return Rendering(text)


@functools.cache
def known_settings(command):
    return subprocess.run([LAUNCHER, command, "--help"], capture_output=True, text=True, check=True).stdout


def assert_programs_accept(rendering, folder, *components):
    """Starts the launcher or the operator with the rendered settings, but without a cluster.

    A program reads all its settings before it fails on the missing cluster, so its only error is about the cluster.
    """
    (folder / "secrets").write_text("0123456789abcdef" * 2)
    (folder / "secrets").chmod(0o600)
    (folder / "logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    # A launcher starts outside a pod only with a free port, and with files in this folder.
    alone = ["--listen-addr", "127.0.0.1:0", "--data-dir", folder, "--proxy-secret-file", folder / "secrets",
             "--brand-logo", folder / "logo.svg"]
    for component in components or ("launcher", "operator"):
        container = rendering.containers[component]
        own = alone if component == "launcher" else []
        words = [LAUNCHER, *container["args"], *own, "--telemetry-addr", "127.0.0.1:0"]
        environment = rendering.env(component) | {"KUBECONFIG": "/dev/null"}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=180)
        said = done.stdout + done.stderr
        assert done.returncode != 0 and re.search("kube", said, re.IGNORECASE), said
        assert "SERVICE_" not in said and "creating no Ingress" not in said, said


def value_in(values, name, default=None):
    """Returns the value with this dotted name, or the default."""
    for word in name.split("."):
        values = values.get(word) if isinstance(values, dict) else None
    return default if values is None else values


def typed(properties, definitions, prefix=""):
    """Yields (dotted name, schema) for each value below these properties."""
    for name, below in properties.items():
        if "properties" in below:
            yield from typed(below["properties"], definitions, f"{prefix}{name}.")
        else:
            yield prefix + name, definitions.get(below.get("$ref", "").rpartition("/")[2], {}) | below


@functools.cache
def values_schema():
    """Returns the schemas of the chart's values: {dotted name: schema}. A list, or a map with free keys, is one value.

    A schema with `$ref` also has the keywords of the definition.
    """
    schema = json.loads((CHART / "values.schema.json").read_text())
    # Helm adds it to all values.
    del schema["properties"]["global"]
    return dict(typed(schema["properties"], schema["definitions"]))
