"""Renders the chart with Helm, and returns the rendered Kubernetes objects for tests."""

import functools
import json
import pathlib
import subprocess

import yaml
from yaml_files import load_all

LOGIN = pathlib.Path(__file__).resolve().parent
ROOT = LOGIN.parents[1]
CHART = ROOT / "charts/workshop-launcher"
RELEASE = "workshop-launcher"
ALL_SETS = sorted(path.name.removesuffix("-values.yaml") for path in (CHART / "ci").glob("*-values.yaml"))
# Sets with all objects and images of the chart itself, and with https. The others replace or omit some.
SETS = [name for name in ALL_SETS if name not in ("existing", "trial")]
# Sets with the front as edge proxy, and with Traefik.
FRONT_SETS = ["any", "gateway"]
TRAEFIK_SETS = [name for name in SETS if name not in FRONT_SETS]


@functools.cache
def program(name):
    """Returns the path of a program in its pinned version, such as helm. Builds a missing program."""
    words = ["bash", "-c", f'source {LOGIN}/common.sh; need_login_programs {name}; printf %s "$LOGIN_BIN/{name}"']
    return pathlib.Path(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def values_of(name):
    """Returns the path of a set of values: ci/NAME-values.yaml."""
    return CHART / f"ci/{name}-values.yaml"


def helm(*words):
    """Runs Helm. Returns (status, output): with the errors if Helm fails, without its warnings if it succeeds."""
    done = subprocess.run([program("helm"), *map(str, words)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + (done.stderr if done.returncode else "")


@functools.cache
def render(name, *words, namespace="launcher"):
    """Returns the output of `helm template` for a set of values."""
    common = ("--namespace", namespace, "--kube-version", "1.34", "--values", values_of(name))
    status, text = helm("template", RELEASE, CHART, *common, *words)
    assert status == 0, text
    return text


def objects(name, *kinds):
    """Returns the rendered objects of a set of values: those of these kinds, or all without kinds."""
    rendered = [found for found in load_all(render(name)) if found]
    return [found for found in rendered if not kinds or found["kind"] in kinds]


def containers(name):
    """Yields (name of the Deployment, pod, container) for each container of each Deployment."""
    for deployment in objects(name, "Deployment"):
        pod = deployment["spec"]["template"]["spec"]
        for container in pod["containers"]:
            yield deployment["metadata"]["name"], pod, container


def configurations(name):
    """Returns the configurations of both login proxies: {name of the ConfigMap: text}."""
    found = ((one["metadata"]["name"], one["data"]) for one in objects(name, "ConfigMap"))
    return {name: data["oauth2-proxy.cfg"] for name, data in found if "oauth2-proxy.cfg" in data}


def leaves(schema, prefix="", deprecated=False):
    """Yields the dotted names of the values in a schema: only current names, or only deprecated names.

    A list, or a map with free keys, counts as one value.
    """
    for name, below in schema["properties"].items():
        if "properties" in below:
            yield from leaves(below, f"{prefix}{name}.", deprecated)
        elif below.get("deprecated", False) == deprecated:
            yield prefix + name


def defaults(values, schema, prefix=""):
    """Yields the dotted names of all values in values.yaml. The schema tells which maps are groups of values."""
    for name, value in values.items():
        below = schema["properties"][name]
        if "properties" in below:
            yield from defaults(value, below, f"{prefix}{name}.")
        else:
            yield prefix + name


def values_schema():
    """Returns the schema of the chart's values, without `global`, which Helm adds to all values."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    del schema["properties"]["global"]
    return schema
