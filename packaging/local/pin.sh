#!/usr/bin/env bash
# Pins the Python packages at their current releases, with the hashes of their files for every platform.
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
  "$tools/bin/uv" pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
    --no-header --no-emit-index-url --no-annotate "$requirements.in" --output-file "$requirements.txt"
done
