"""The quickstart on the tests' cluster: `quickstart/up` installs it, and Chromium opens it below localhost.

Only two programs are stubs. `kind` returns the tests' cluster, and publishes a port as the real one does. `docker` does
nothing, because the images are in the cluster already, under the names that the quickstart's files have.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

import fixed_names
from chain import TIMEOUT, cluster_ip, doctor_report, helm, kubectl
from fixed_names import BUILT, NAMESPACE, RELEASE
from harness import ROOT
from test_browser import IN_NAMESPACE, OUTSIDE, isolated_network, run_script
from yaml_files import load

pytestmark = fixed_names.only_on_own_cluster

PLATFORM = ROOT / "quickstart/platform"
# `kind create cluster` returns the tests' cluster. Its configuration names the published port, which socat forwards.
KIND = f"""#!/bin/sh
set -eu
case "$1 $2" in
"create cluster")
  config=$(cat)
  port() {{ printf '%s' "$config" | sed -n "s/.*$1: \\([0-9]*\\).*/\\1/p"; }}
  cp "$CLUSTER_KUBECONFIG" "$KUBECONFIG"
  socat "TCP-LISTEN:$(port hostPort),bind=127.0.0.1,fork,reuseaddr" "TCP:{OUTSIDE}:$(port containerPort)" \\
    >/dev/null 2>&1 </dev/null &
  ;;
"delete cluster") ;;
*) exit 1 ;;
esac
"""


def references():
    """Returns the images of the quickstart that a registry has, with the tests' images for them: {reference: name}."""
    (template,) = load((ROOT / "quickstart/values.yaml").read_text())["templates"]
    found = {fixed_names.IMAGES["oauth2Proxy"]: "oauth2-proxy", template["image"]: "jupyter"}
    for name in ("traefik", "dex"):
        found[re.search(r"^ *image: (\S+)$", (PLATFORM / f"{name}.yaml").read_text(), re.MULTILINE)[1]] = name
    return found


def start(folder):
    """Runs `quickstart/up kind` in a copy of the checkout, in the network namespace. Returns its output."""
    for name in ("quickstart", "packaging/local", "charts"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "bin").mkdir()
    for name, text in (("kind", KIND), ("docker", "#!/bin/sh\n")):
        (folder / "bin" / name).write_text(text)
        (folder / "bin" / name).chmod(0o755)
    # The loopback address of the API server is not reachable in the network namespace.
    server = f"server: https://{cluster_ip('default', 'kubernetes')}"
    (folder / "kubeconfig").write_text(re.sub(r"server: .*", server, kubectl("config", "view", "--raw")))
    binaries = pathlib.Path(os.environ["LOGIN_BIN"])
    variables = {
        "PATH": f"{folder / 'bin'}:{binaries}:{os.environ['PATH']}",
        "CLUSTER_KUBECONFIG": str(folder / "kubeconfig"),
        "ENGINE": "docker",
        "LAUNCHER_IMAGE": f"{BUILT}/launcher:test",
        "SIDECAR_IMAGE": f"{BUILT}/sidecar:test",
        "TRAEFIK_CRDS": str(binaries / "traefik-crds.yaml"),
    }
    done = subprocess.run(
        [*IN_NAMESPACE, folder / "quickstart/up", "kind"],
        env=os.environ | variables, capture_output=True, text=True, timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def quickstart():
    """The quickstart, which `quickstart/up kind` has installed. Yields the output of the script."""
    with tempfile.TemporaryDirectory(prefix="quickstart-") as folder, isolated_network():
        try:
            fixed_names.prepare(references(), PLATFORM)
            yield start(pathlib.Path(folder))
        finally:
            fixed_names.remove(references(), PLATFORM)


def test_quickstart_works_in_browser(quickstart):
    assert "http://launcher.localhost:8080/" in quickstart
    run_script("test-quickstart", {})


def test_helm_test_reaches_login_page_through_ingress(quickstart):
    """The cluster's DNS resolves the quickstart's names to Traefik, so the doctor sends its requests through Traefik."""
    printed = helm("test", RELEASE, "--namespace", NAMESPACE, "--logs", TIMEOUT)
    found = doctor_report(printed)
    assert {"database", "operator", "edge proxy", "identity header", "login"} <= found.keys(), printed
    assert set(found.values()) == {"ok"}, printed
