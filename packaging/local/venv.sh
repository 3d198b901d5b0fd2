#!/usr/bin/env bash
# venv.sh NAME REQUIREMENTS: makes .local/NAME a virtual environment with exactly the pinned requirements. Creates it again
# only when the requirements, Python or the path changed.
# With SHARED_VENVS, a folder, .local/NAME is a link to an environment in that folder, which other checkouts use too. Those
# that no checkout needed for 30 days are deleted.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

link=.local/$1
requirements=$2
need_python

# stamp VENV: identifies an environment in this folder.
stamp() {
  { cat "$requirements" && "$PYTHON" -c 'import sys; print(sys.version, sys.executable)' && realpath --canonicalize-missing "$1"; } | sha256sum
}

complete() { [[ -f "$1/stamp" && "$(<"$1/stamp")" == "$(stamp "$1")" && -x "$1/bin/python" ]] && touch "$1/stamp"; }

if complete "$link"; then
  exit 0
fi
mkdir -p .local
rm -rf "$link"
venv=$PWD/$link
if [[ -n "${SHARED_VENVS:-}" ]]; then
  mkdir -p "$SHARED_VENVS"
  exec 8>"$SHARED_VENVS/lock"
  flock 8
  find "$SHARED_VENVS" -mindepth 2 -maxdepth 2 -name stamp -mtime +30 -printf '%h\0' | xargs --null --no-run-if-empty rm -rf
  venv=$SHARED_VENVS/$1-$(stamp "$SHARED_VENVS/$1" | cut --characters=-16)
  ln -s "$venv" "$link"
  if complete "$venv"; then
    exit 0
  fi
fi

say "creating $link from $requirements"
rm -rf "$venv"
"$PYTHON" -m venv "$venv"
# --no-deps: the file names every package; pip check below verifies it.
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --require-hashes --no-deps \
  --only-binary :all: --requirement "$requirements"
"$venv/bin/python" -m pip --disable-pip-version-check check >&2
stamp "$venv" >"$venv/stamp"
