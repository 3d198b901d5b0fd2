"""Prepares programs and services for tests: builds and starts what is missing, and sets the variables of the tests.

Workers of pytest-xdist inherit the variables of the process that starts them.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ("cargo", "test", "--workspace", "--all-features", "--locked", "--no-run", "--quiet")


def output(*command):
    """Runs a command in the root of the repository. Returns its output as lines."""
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def launcher_program():
    """Builds the launcher and launcher-material with the options of the tier `build`. Returns the launcher's path.

    Cargo builds the programs of a crate for its integration tests.
    """
    output(*BUILD, "--test", "program", "--test", "material")
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug/launcher"


def contract_program():
    """Builds kubernetes-contract."""
    output(*BUILD, "--test", "fleet_contract")


def jupyter():
    """Installs JupyterLab, and sets TEST_JUPYTER to its path."""
    output("flock", ".local/jupyter.lock", "packaging/local/venv.sh", "jupyter", "packaging/local/jupyter.txt")
    os.environ["TEST_JUPYTER"] = str(ROOT / ".local/jupyter/bin/jupyter-lab")


def apps():
    """Installs the programs of the apps in apps.test.mjs, and sets TEST_APPS to their folder."""
    output("e2e/browser/apps.sh")
    os.environ["TEST_APPS"] = str(ROOT / ".local/apps/bin")


def browser():
    """Sets CHROMIUM, and installs the packages of the browser's tests."""
    os.environ["CHROMIUM"] = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    folder = ROOT / "e2e/browser"
    pins, installed = folder / "package-lock.json", folder / "node_modules/installed-lock.json"
    if not installed.exists() or installed.read_bytes() != pins.read_bytes():
        output("npm", "--prefix", str(folder), "ci", "--no-audit", "--no-fund")
        shutil.copy(pins, installed)


def login_programs(*names):
    """Builds these programs, or all of the login tests, and sets LOGIN_BIN to their folder."""
    os.environ["LOGIN_BIN"] = output("e2e/login/build.sh", *names)[-1]


def cluster():
    """Boots the cluster. Sets KUBECONFIG and PATH."""
    output("e2e/cluster/up.sh")
    found = output("bash", "-c", 'source e2e/cluster/env.sh; printf "%s\n" "$KUBECONFIG" "$PATH"')
    os.environ["KUBECONFIG"], os.environ["PATH"] = found


def cluster_images():
    """Builds the images of the cluster's tests, and imports them into the cluster."""
    output("e2e/cluster/images.sh")


def login_images():
    """Builds the images of the login chain, and imports them into the cluster."""
    output("e2e/login/images.sh")


@contextlib.contextmanager
def postgres():
    """A PostgreSQL server for the block. Sets TEST_POSTGRES to its URL."""
    command = ["e2e/postgres/server.sh", "run", "sh", "-c", 'printf "%s\n" "$TEST_POSTGRES"; exec cat']
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        os.environ["TEST_POSTGRES"] = server.stdout.readline().strip()
        assert os.environ["TEST_POSTGRES"], "PostgreSQL did not start"
        yield
        server.stdin.close()


# Steps of each tier before its first test. All other tiers prepare what they need in fixtures.
STEPS = {
    "chart": (launcher_program, lambda: login_programs("helm", "promtool")),
    "containers": (launcher_program,),
    "container_faults": (launcher_program,),
    "podman": (launcher_program,),
    "cluster": (launcher_program, contract_program, cluster, cluster_images),
    "chart_live": (cluster, lambda: login_programs("helm", "traefik", "gateway-crds.yaml")),
    "login": (launcher_program, browser, cluster, login_programs, cluster_images, login_images),
}


def prepare(markers, at_end):
    """Prepares what the tests need whose marker expression begins with a tier. `at_end` registers functions that run after
    the last test."""
    tier = markers.partition(" ")[0]
    for step in STEPS.get(tier, ()):
        step()
    if tier == "cluster":
        server = postgres()
        server.__enter__()
        at_end(lambda: server.__exit__(None, None, None))
