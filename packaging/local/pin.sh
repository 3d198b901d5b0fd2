#!/usr/bin/env bash
# Pins the Python packages at their current releases, with the hashes of their wheels for Linux: x86_64 and aarch64, glibc
# and musl, CPython 3.11 to 3.14. venv.sh installs no other files. For another Python, extend CPYTHON below.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

need_python
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"$PYTHON" -m venv "$tools"
"$tools/bin/python" -m pip install --quiet --disable-pip-version-check uv
for requirements in packaging/local/jupyter e2e/browser/apps e2e/cluster/tests/requirements; do
  rm -f "$tools/pylock.toml"
  "$tools/bin/uv" pip compile --quiet --universal --python-version 3.11 --no-header "$requirements.in" \
    --output-file "$tools/pylock.toml"
  "$PYTHON" - "$tools/pylock.toml" >"$requirements.txt" <<'PY'
import re
import sys
import tomllib

CPYTHON = r"(?:cp(31[1-4])-cp\1|cp3\d+-abi3|(?:py2\.)?py3-none)"
WHEEL = re.compile(rf".*-{CPYTHON}-(?:any|[^-]*linux[^-]*_(?:x86_64|aarch64))\.whl")

with open(sys.argv[1], "rb") as lock:
    packages = tomllib.load(lock)["packages"]
for package in packages:
    wheels = [wheel["hashes"]["sha256"] for wheel in package.get("wheels", []) if WHEEL.fullmatch(wheel["url"])]
    # A package for other systems has no such wheel.
    if wheels:
        marker = f" ; {package['marker']}" if "marker" in package else ""
        hashes = (f"    --hash=sha256:{digest}" for digest in sorted(wheels))
        print(f"{package['name']}=={package['version']}{marker}", *hashes, sep=" \\\n")
PY
done
