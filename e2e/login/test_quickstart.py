"""Tests of the quickstart: its accounts, its images and its scripts, with stubs instead of kind, Docker and Helm.

tests/test_quickstart_cluster.py runs it: there, its values and its platform prove that they fit.
"""

import functools
import os
import re
import shutil
import socket
import subprocess

import pytest

from chart import ROOT, values_in
from yaml_files import load, load_all

QUICKSTART = ROOT / "quickstart"
PORT = 8080
ORIGIN = f"http://launcher.localhost:{PORT}"
PROGRAMS = ("kind", "k3d", "minikube", "kubectl", "helm", "docker", "podman", "curl")
# Writes its name and arguments to a log, and reads its input. `docker save` writes its archive.
STUB = """#!/bin/sh
printf '%s %s\\n' "${0##*/}" "$*" >>"$CALLS"
case "$*" in
*' -') cat >/dev/null ;;
'save --output '*) : >"$3" ;;
esac
case "${0##*/}" in curl) printf 302 ;; esac
"""
VALUES = values_in(QUICKSTART / "values.yaml")


@functools.cache
def platform():
    """Returns the objects of platform/: {(kind, namespace, name): object}."""
    texts = [path.read_text() for path in sorted((QUICKSTART / "platform").glob("*.yaml"))]
    found = [one for text in texts for one in load_all(text)]
    return {(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]): one for one in found}


def container(name):
    (only,) = platform()["Deployment", name, name]["spec"]["template"]["spec"]["containers"]
    return only


def dex():
    return load(platform()["ConfigMap", "dex", "dex"]["data"]["dex.yaml"])


def test_accounts_are_one_student_and_one_admin():
    accounts = {one["email"] for one in dex()["staticPasswords"]}
    assert accounts == {"student@example.org", "teacher@example.org"}
    assert VALUES["api"]["adminEmails"] == ["teacher@example.org"]
    told = (QUICKSTART / "README.md").read_text()
    assert all(account in told for account in accounts)


def test_images_are_those_of_the_server():
    lines = (ROOT / "deploy/server/versions.env").read_text().splitlines()
    versions = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
    assert container("traefik")["image"] == versions["TRAEFIK_IMAGE"]
    assert container("dex")["image"] == versions["DEX_IMAGE"]
    images = VALUES["images"]
    assert (images["launcher"], images["sidecar"]) == (versions["LAUNCHER_IMAGE"], versions["SIDECAR_IMAGE"])


def test_readme_needs_at_most_four_commands():
    before_login = (QUICKSTART / "README.md").read_text().split("Then open")[0]
    commands = re.findall(r"^    (\S.*)$", before_login, re.MULTILINE)
    assert commands[-1] == "quickstart/up kind" and len(commands) <= 4


@pytest.fixture
def machine(tmp_path):
    """A copy of the quickstart, with stubs on the PATH, and a port that no program uses."""
    for folder in ("quickstart", "packaging/local"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    common = tmp_path / "quickstart/common.sh"
    common.write_text(common.read_text().replace(f"PORT={PORT} ", f"PORT={port} "))
    for name in (*(f"bin/{program}" for program in PROGRAMS), "images/server.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(STUB)
        (tmp_path / name).chmod(0o755)

    def run(*words, **variables):
        """Runs a script. Returns (status, output with errors, [call of a stub])."""
        log = tmp_path / "calls"
        log.write_text("")
        path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
        images = {name: f"registry.example.org/{name[:-6].lower()}:1" for name in IMAGES}
        done = subprocess.run(
            [tmp_path / "quickstart" / words[0], *words[1:]],
            env=os.environ | {"PATH": path, "CALLS": str(log), "ENGINE": "docker"} | images | variables,
            capture_output=True, text=True, timeout=60,
        )
        calls = log.read_text().replace(str(port), "PORT").splitlines()
        return done.returncode, done.stdout + done.stderr, calls

    return run


# {tool: (calls that create the cluster, call that deletes it, call that loads an image)}.
TOOLS = {
    "kind": (
        ["kind create cluster --name workshop-launcher --wait 180s --config -"],
        "kind delete cluster --name workshop-launcher",
        "kind load image-archive {} --name workshop-launcher",
    ),
    "k3d": (
        [
            "k3d cluster create workshop-launcher --no-lb --port 127.0.0.1:PORT:30080@server:0:direct "
            "--k3s-arg --disable=traefik@server:0 --kubeconfig-update-default=false --wait --timeout 180s",
            "k3d kubeconfig get workshop-launcher",
        ],
        "k3d cluster delete workshop-launcher",
        "k3d image import {} --cluster workshop-launcher",
    ),
    "minikube": (
        ["minikube start --profile workshop-launcher --driver docker --cni calico --ports 127.0.0.1:PORT:30080"],
        "minikube delete --profile workshop-launcher",
        "minikube image load {} --profile workshop-launcher",
    ),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_up_creates_cluster_once_and_down_removes_it(machine, tmp_path, tool):
    status, printed, calls = machine("up", tool)
    assert status == 0, printed
    assert f"{ORIGIN}/" in printed and "student@example.org" in printed
    assert [call for call in calls if call.startswith(tool)] == TOOLS[tool][0]
    (installed,) = [call for call in calls if call.startswith("helm")]
    assert "--set images.launcher=registry.example.org/launcher:1" in installed
    assert "--values quickstart/values.yaml" in installed
    secrets = {path.name: path.read_text() for path in (tmp_path / ".local/quickstart").iterdir() if "-" in path.name}
    assert set(secrets) == {"client-secret", "launcher-login", "workshops-login"}
    assert all(re.fullmatch("[0-9a-f]{32}", secret) for secret in secrets.values()) and len(set(secrets.values())) == 3
    # No secret is an argument, because other users of the machine can see arguments.
    assert not [call for call in calls if any(secret in call for secret in secrets.values())]

    status, printed, calls = machine("up", tool)
    assert status == 0, printed
    assert not [call for call in calls if call.startswith(tool)], "expected the second run to keep the cluster"

    status, printed, calls = machine("down")
    assert (status, calls) == (0, [TOOLS[tool][1]]), printed
    assert not (tmp_path / ".local/quickstart").exists()


@pytest.mark.parametrize("tool", TOOLS)
def test_up_builds_images_of_values_and_loads_them(machine, tmp_path, tool):
    status, printed, calls = machine("up", tool, LAUNCHER_IMAGE="", SIDECAR_IMAGE="")
    assert status == 0, printed
    expected = []
    for name in ("launcher", "sidecar", "material"):
        archive, reference = tmp_path / f".local/quickstart/{name}.tar", VALUES["images"][name]
        expected += [
            f"docker image inspect {reference}", f"server.sh {name}", f"docker save --output {archive} {reference}",
            TOOLS[tool][2].format(archive),
        ]
        assert not archive.exists()
    first = calls.index(expected[0])
    assert calls[first : first + len(expected)] == expected
    (installed,) = [call for call in calls if call.startswith("helm")]
    assert "images." not in installed


IMAGES = ("LAUNCHER_IMAGE", "SIDECAR_IMAGE")
# [(arguments of up, environment, error)].
REFUSED = [
    ("", {}, "name the tool that creates the cluster"),
    ("docker", {}, "name the tool that creates the cluster"),
    ("k3d", {"ENGINE": "podman"}, "k3d needs Docker"),
    ("kind", {"SIDECAR_IMAGE": ""}, "set both LAUNCHER_IMAGE and SIDECAR_IMAGE, or none"),
    ("kind", dict.fromkeys(IMAGES, "") | {"MATERIAL_IMAGE": "registry.example.org/material:1"}, "MATERIAL_IMAGE needs both"),
    ("kind", {"ENGINE": "no-such-engine"}, "no-such-engine is missing"),
]


def test_up_refuses_wrong_arguments_and_a_second_tool(machine):
    for words, variables, message in REFUSED:
        status, printed, calls = machine("up", *words.split(), **variables)
        assert (status, message in printed) == (1, True), printed
        assert not [call for call in calls if "create" in call]
    assert machine("up", "kind")[0] == 0
    status, printed, _ = machine("up", "k3d")
    assert status == 1 and "a quickstart with kind exists. Remove it: quickstart/down" in printed
