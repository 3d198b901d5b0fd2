#!/usr/bin/env bash
# venv.sh NAME REQUIREMENTS: creates the virtual environment .local/NAME with exactly the pinned requirements. Creates
# it again only when the requirements, Python or the path changed.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

name=$1
requirements=$2
venv="$PWD/.local/$name"
need_python

stamp=$({ cat "$requirements" && "$PYTHON" -VV && printf '%s\n' "$PYTHON" "$venv"; } | sha256sum)
if [[ -f "$venv/stamp" && "$(<"$venv/stamp")" == "$stamp" && -x "$venv/bin/python" ]]; then
  exit 0
fi

say "creating .local/$name from $requirements"
rm -rf "$venv"
"$PYTHON" -m venv "$venv"
# --no-deps: the file names every package; pip check below verifies it.
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --require-hashes --no-deps \
  --only-binary :all: --requirement "$requirements"
"$venv/bin/python" -m pip --disable-pip-version-check check >&2
printf '%s\n' "$stamp" >"$venv/stamp"
