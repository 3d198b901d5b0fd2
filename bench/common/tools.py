"""The programs that the benches need: their paths, builds and versions."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Directory of the built programs. Git ignores it, and `make clean` removes it.
PLACE = ROOT / ".local" / "bench"
# Overrides a target directory of Cargo's own configuration, so that the benches measure the programs that they build.
TARGET = ROOT / os.environ.setdefault("CARGO_TARGET_DIR", str(ROOT / "target"))
SIDECAR = TARGET / "release/launcher-sidecar"
LAUNCHER = TARGET / "release/launcher"
LOAD = PLACE / "bin/load"
# Path of a current Caddy. Without this program, the benches use the installed Caddy. To build it, in 15 minutes:
# `GOBIN=$PWD/.local/bench/bin go install github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9`.
OWN_CADDY = PLACE / "bin/caddy"
CHP = PLACE / "chp/node_modules/configurable-http-proxy"
CHP_VERSION = "5.3.0"
HUB = PLACE / "jupyterhub"
HUB_VERSION = "6.1.1"
FLOOR = PLACE / "floor/release/bench-floor"
DEBIAN = {"nginx": "nginx-light", "haproxy": "haproxy", "caddy": "caddy", "wrk": "wrk", "taskset": "util-linux"}


def need(*programs):
    """Exits with installation instructions if one of the programs is missing."""
    missing = [program for program in programs if not shutil.which(program)]
    if not missing:
        return
    packages = [DEBIAN[program] for program in missing if program in DEBIAN]
    others = [program for program in missing if program not in DEBIAN]
    lines = [f"missing: {', '.join(missing)}"]
    if packages:
        lines.append(f"  apt-get install --no-install-recommends {' '.join(packages)}")
    if "go" in others:
        lines.append("  Go 1.24 or newer: https://go.dev/dl")
    if {"node", "npm"} & set(others):
        lines.append("  Node.js 20 or newer: https://nodejs.org")
    if "cargo" in others:
        lines.append("  Rust: https://rustup.rs")
    sys.exit("\n".join(lines))


def run(*command, cwd=ROOT, **environment):
    print(f"  {' '.join(map(str, command))}", file=sys.stderr, flush=True)
    inherited = os.environ | {"GOFLAGS": "", "GOWORK": "off"} | environment
    done = subprocess.run([*map(str, command)], cwd=cwd, env=inherited, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} ended with status {done.returncode}")
    return done.stdout


def build_ours(package):
    need("cargo")
    run("cargo", "build", "--release", "--locked", "-p", package)


def build_load():
    need("go", "taskset")
    (PLACE / "bin").mkdir(parents=True, exist_ok=True)
    source = ROOT / "bench/load"
    run("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", LOAD, ".", cwd=source, CGO_ENABLED="0")


def build_proxies():
    """Returns the folder of Traefik and oauth2-proxy, built as for the login tests."""
    need("nginx", "haproxy", "wrk", "go", "node", "npm", *(() if OWN_CADDY.exists() else ("caddy",)))
    if not CHP.exists():
        run("npm", "install", "--no-fund", "--no-audit", "--prefix", PLACE / "chp",
            f"configurable-http-proxy@{CHP_VERSION}")
    return pathlib.Path(run("e2e/login/build.sh", "traefik", "oauth2-proxy").splitlines()[-1])


def build_hub():
    python = HUB / "bin/python"
    if not (HUB / "bin/jupyterhub").exists():
        run(sys.executable, "-m", "venv", HUB)
        run(python, "-m", "pip", "install", "--quiet", f"jupyterhub=={HUB_VERSION}")
    return python


def build_floor():
    """Builds the program with the versions in the launcher's Cargo.lock: cargo drops the packages that it does not need."""
    need("cargo")
    place = PLACE / "floor-source"
    shutil.copytree(ROOT / "bench/api/floor", place, dirs_exist_ok=True)
    shutil.copy(ROOT / "Cargo.lock", place)
    run("cargo", "build", "--release", "--target-dir", FLOOR.parents[1], cwd=place)


def version(*command):
    """Returns the first word of a program's output that looks like a version."""
    said = subprocess.run([*map(str, command)], capture_output=True, text=True)
    found = re.search(r"\d+\.\d+[\w.+-]*", said.stdout + said.stderr)
    return found.group(0) if found else "?"


def size_mb(path):
    """Returns the size in MB of a file, or of all files below a folder."""
    path = pathlib.Path(path).resolve()
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file() and not each.is_symlink()]
    return sum(each.stat().st_size for each in files) / 1e6


def pinned(module):
    """Returns the version that the tests pin: programs built from a module do not know their own version."""
    pins = (ROOT / "e2e/cluster/tools/go.mod").read_text()
    return re.search(rf"{re.escape(module)} v(\S+)", pins).group(1)


def caddy_version(program):
    """Returns the version that `go` knows: a Caddy built from a module does not know its own version."""
    said = subprocess.run(["go", "version", "-m", program], capture_output=True, text=True).stdout
    found = re.search(r"caddyserver/caddy/v2\s+v(\S+)", said)
    return found.group(1) if found else version(program, "version")
