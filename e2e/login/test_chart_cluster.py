"""The objects rendered from the chart's values, as the API server judges them. Needs KUBECONFIG and kubectl."""

import json
import os
import pathlib
import subprocess
import uuid

import pytest
import yaml

from chart import LOGIN, ROOT, SETS, program, render

MONITORING = "github.com/prometheus-operator/prometheus-operator"


def kubectl(*words, input=None):
    """Runs kubectl; returns its output and its warnings."""
    command = ["kubectl", *map(str, words)]
    done = subprocess.run(command, input=input, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def monitoring():
    """Installs the Prometheus operator's kinds from its Go module, unless the cluster has them."""
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
        kubectl("wait", "--for=condition=Established", "--timeout=30s", *files)
        yield
    finally:
        kubectl("delete", "--ignore-not-found", "--wait=false", *files)


@pytest.fixture(scope="module")
def namespace(monitoring):
    """Creates the namespaces of the release and of its workshops; both warn about pods that are not restricted."""
    name = f"chart-{uuid.uuid4().hex[:8]}"
    labels = {"pod-security.kubernetes.io/warn": "restricted"}
    made = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": one, "labels": labels}}
        for one in (name, f"{name}-workshops")
    ]
    resources = program("traefik").with_name("traefik-crds.yaml")
    kubectl("apply", "--server-side", "--filename", resources)
    # kubectl knows these kinds only after the API server has established them.
    kubectl("wait", "--for=condition=Established", "--timeout=30s", "--filename", resources)
    kubectl("apply", "--server-side", "--filename", ROOT / "crds/workshops.yaml")
    try:
        kubectl("create", "--filename", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": made}))
        yield name
    finally:
        kubectl("delete", "namespace", name, f"{name}-workshops", "--ignore-not-found", "--wait=false")


@pytest.mark.parametrize("name", SETS)
def test_api_server_accepts_all_objects_without_warnings(name, namespace):
    text = render(name, "--set", f"workshops.namespace={namespace}-workshops", namespace=namespace)
    found = [one for one in yaml.safe_load_all(text) if one]
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": found})
    words = ("apply", "--server-side", "--dry-run=server", "--force-conflicts", "--validate=strict", "--filename", "-")
    said = kubectl(*words, input=listed)
    assert said.count("serverside-applied (server dry run)") == len(found), said
    assert "Warning" not in said, said
