"""Validates the chart's rendered objects with an API server. Needs KUBECONFIG and kubectl."""

import json
import os
import pathlib
import subprocess
import uuid

import pytest

from chart import ALL_SETS, LOGIN, ROOT, program, render
from harness import DEADLINE, wait_for
from test_docs import blocks
from yaml_files import load_all

MONITORING = "github.com/prometheus-operator/prometheus-operator"


def kubectl(*words, input=None):
    """Runs kubectl. Returns its output with warnings. Fails if kubectl fails."""
    command = ["kubectl", *map(str, words)]
    done = subprocess.run(command, input=input, capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout + done.stderr


def wait_until_established(*files):
    """Waits until the API server serves the resource definitions of these files.

    `kubectl wait` and a filter in `jsonpath` are not used, because they fail while a resource definition has no conditions.
    """
    state = (
        'go-template={{range .items}}{{$is := "False"}}{{range .status.conditions}}{{if eq .type "Established"}}'
        "{{$is = .status}}{{end}}{{end}}{{$is}},{{end}}"
    )

    def established():
        states = kubectl("get", *files, "--output", state).split(",")[:-1]
        return states and set(states) == {"True"}

    wait_for("the API server to serve the new resource definitions", established)


@pytest.fixture(scope="module")
def monitoring():
    """Installs ServiceMonitor and PrometheusRule during the tests, unless the cluster already has these kinds."""
    if kubectl("get", "customresourcedefinitions", "servicemonitors.monitoring.coreos.com", "--ignore-not-found"):
        yield
        return
    environment = os.environ | {"GOFLAGS": "-mod=readonly", "GOWORK": "off"}
    command = ["go", "mod", "download", "-json", MONITORING]
    found = subprocess.run(command, cwd=LOGIN / "monitoring", env=environment, capture_output=True, check=True)
    folder = pathlib.Path(json.loads(found.stdout)["Dir"]) / "example/prometheus-operator-crd"
    names = ("servicemonitors", "prometheusrules")
    files = [word for name in names for word in ("--filename", folder / f"monitoring.coreos.com_{name}.yaml")]
    try:
        kubectl("apply", "--server-side", *files)
        wait_until_established(*files)
        yield
    finally:
        kubectl("delete", "--ignore-not-found", "--wait=false", *files)


@pytest.fixture(scope="module")
def namespace(monitoring):
    """Creates the namespaces of the release and of its workshops.

    Both warn about pods that violate the restricted Pod Security Standard, so that the test can fail on these warnings.
    """
    name = f"chart-{uuid.uuid4().hex[:8]}"
    labels = {"pod-security.kubernetes.io/warn": "restricted"}
    made = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": one, "labels": labels}}
        for one in (name, f"{name}-workshops")
    ]
    for resources in (program("traefik").with_name("traefik-crds.yaml"), program("gateway-crds.yaml")):
        kubectl("apply", "--server-side", "--filename", resources)
        # kubectl cannot apply objects of these kinds before the API server serves them.
        wait_until_established("--filename", resources)
    kubectl("apply", "--server-side", "--filename", ROOT / "crds/workshops.yaml")
    try:
        kubectl("create", "--filename", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": made}))
        yield name
    finally:
        kubectl("delete", "namespace", name, f"{name}-workshops", "--ignore-not-found", "--wait=false")


@pytest.mark.parametrize("name", ALL_SETS)
def test_api_server_accepts_all_objects_without_warnings(name, namespace):
    rendering = render(name, f"workshops.namespace={namespace}-workshops", namespace=namespace)
    # The cluster has no cert-manager. A pod needs an existing service account, which a dry run does not create. The pod of
    # `helm test` has the settings of the launcher's Deployment.
    found = [one for one in rendering.objects if one["kind"] not in ("Certificate", "Pod")]
    for one in found:
        # A dry run creates no namespace: that of the workshops stands for those of the classes.
        if one["metadata"].get("namespace", namespace) != namespace:
            one["metadata"]["namespace"] = f"{namespace}-workshops"
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": found})
    words = ("apply", "--server-side", "--dry-run=server", "--force-conflicts", "--validate=strict", "--filename", "-")
    said = kubectl(*words, input=listed)
    assert said.count("serverside-applied (server dry run)") == len(found), said
    assert "Warning" not in said, said


def documented_objects():
    """Returns the Kubernetes objects in the examples of the pages about the ingress."""
    found = [one for page in ("front.md", "gateway.md") for _, text in blocks(page) for one in load_all(text)]
    return [one for one in found if "kind" in one]


@pytest.mark.parametrize("example", documented_objects(), ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_api_server_accepts_documented_objects(example, namespace):
    example["metadata"]["namespace"] = namespace
    words = ("apply", "--server-side", "--dry-run=server", "--validate=strict", "--filename", "-")
    said = kubectl(*words, input=json.dumps(example))
    assert said.count("serverside-applied (server dry run)") == 1 and "Warning" not in said, said
