"""The chart for tests: rendered by the real Helm, read as objects."""

import functools
import json
import pathlib
import subprocess

import yaml

LOGIN = pathlib.Path(__file__).resolve().parent
ROOT = LOGIN.parents[1]
CHART = ROOT / "charts/workshop-launcher"
RELEASE = "workshop-launcher"
SETS = sorted(path.name.removesuffix("-values.yaml") for path in (CHART / "ci").glob("*-values.yaml"))


@functools.cache
def program(name):
    """Returns the path of a pinned program; builds it first if necessary."""
    words = ["bash", "-c", f'source {LOGIN}/common.sh; need_login_programs {name}; printf %s "$LOGIN_BIN/{name}"']
    return pathlib.Path(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def values_of(name):
    """Returns the path of a typical set of values."""
    return CHART / f"ci/{name}-values.yaml"


def helm(*words):
    """Runs the real Helm; returns (status, all output)."""
    done = subprocess.run([program("helm"), *map(str, words)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


@functools.cache
def render(name, *words, namespace="launcher"):
    """Returns the text of `helm template` with a typical set of values."""
    common = ("--namespace", namespace, "--kube-version", "1.34", "--values", values_of(name))
    status, text = helm("template", RELEASE, CHART, *common, *words)
    assert status == 0, text
    return text


def objects(name, *kinds):
    """Returns the objects rendered from a typical set of values, of these kinds or all."""
    rendered = [found for found in yaml.safe_load_all(render(name)) if found]
    return [found for found in rendered if not kinds or found["kind"] in kinds]


def containers(name):
    """Yields each container of each Deployment: (name of the Deployment, pod, container)."""
    for deployment in objects(name, "Deployment"):
        pod = deployment["spec"]["template"]["spec"]
        for container in pod["containers"]:
            yield deployment["metadata"]["name"], pod, container


def configurations(name):
    """Returns the two configurations of oauth2-proxy: {name of the ConfigMap: text}."""
    found = ((one["metadata"]["name"], one["data"]) for one in objects(name, "ConfigMap"))
    return {name: data["oauth2-proxy.cfg"] for name, data in found if "oauth2-proxy.cfg" in data}


def leaves(schema, prefix=""):
    """Yields the dotted names of all values in a schema; a map or a list is one value."""
    for name, below in schema["properties"].items():
        if "properties" in below:
            yield from leaves(below, f"{prefix}{name}.")
        else:
            yield prefix + name


def defaults(values, schema, prefix=""):
    """Yields the dotted names of all values in values.yaml."""
    for name, value in values.items():
        below = schema["properties"][name]
        if "properties" in below:
            yield from defaults(value, below, f"{prefix}{name}.")
        else:
            yield prefix + name


def values_schema():
    """Returns the chart's schema without the part that Helm itself adds to values."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    del schema["properties"]["global"]
    return schema
