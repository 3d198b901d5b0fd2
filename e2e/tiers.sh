#!/usr/bin/env bash
# tiers.sh [TIER...]: runs these test tiers, or all; e2e/tiers.py declares them. `tiers.sh check` runs the tests before a
# commit, `tiers.sh times` prints the durations of the last runs.
# tiers.sh shell COMMAND: runs one command of a tier with the functions of this file.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh
need_python

# Clippy checks the crates of the workspace while cargo builds them: `cargo clippy` would compile everything once more.
# Clippy's driver is no replacement of rustc for optimised programs. These are debug builds.
if command -v rustc >/dev/null; then
  RUSTC_WORKSPACE_WRAPPER=$(rustc --print sysroot)/bin/clippy-driver
  export RUSTC_WORKSPACE_WRAPPER
fi

# Engines, Kubernetes and its tools are Go programs, which would spend a part of their CPU time on a small heap.
export GOGC=${GOGC:-400}

# Checkouts share the Python packages of the tests.
export SHARED_VENVS=${XDG_CACHE_HOME:-$HOME/.cache}/workshop-launcher/python

need_rust_tests() {
  need_rust
  [[ -x "${RUSTC_WORKSPACE_WRAPPER:-}" ]] || fail "clippy is missing: rustup component add clippy rustfmt"
  # Tests of TLS create certificates.
  need_command openssl openssl
}

# need_pytest: installs the Python packages of the tests.
need_pytest() {
  need_rust_tests
  mkdir -p .local
  flock .local/cluster.lock packaging/local/venv.sh cluster e2e/cluster/tests/requirements.txt
}

need_jupyter() { flock .local/jupyter.lock packaging/local/venv.sh jupyter packaging/local/jupyter.txt; }

need_browser() {
  need_pytest
  need_command npm npm
  [[ "$(node --version)" =~ ^v([0-9]+) && "${BASH_REMATCH[1]}" -ge 20 ]] || fail "Node 20 or newer is missing: https://nodejs.org"
  need_chromium
  need_command git git
}

need_cluster() {
  need_pytest
  e2e/postgres/server.sh needs
  e2e/cluster/up.sh needs
}

need_engines() {
  need_pytest
  e2e/containers/images.sh needs
}

# rust_tests CRATE...: runs the tests of these crates.
rust_tests() { TEST_JUPYTER=$PWD/.local/jupyter/bin/jupyter-lab "$PYTHON" e2e/rust_tests.py run "$@"; }

# tests MARKER FOLDER... [OPTION...]: runs the tests of these folders with this marker. For a repetition, TESTS_AGAIN has
# the tests to run instead, one a line.
tests() {
  local -a what=("${@:2}")
  [[ -z "${TESTS_AGAIN:-}" ]] || readarray -t what <<<"$TESTS_AGAIN"
  .local/cluster/bin/python -m pytest -m "$1" "${what[@]}"
}

# server_tests ENGINE MARKER FOLDER... [OPTION...]: runs such tests on a server with this container engine.
server_tests() { e2e/containers/server.py "$1" "$0" shell "tests $(printf '%q ' "${@:2}")"; }

# engine_tests ENGINE: runs the Rust tests of the container fleet on a server with this engine.
engine_tests() { e2e/containers/server.py --images small "$1" "$0" shell fleet_tests; }

# fleet_tests: more tests at the same time than there are processors, because they wait for the engine.
fleet_tests() { TEST_ENGINE_SOCKET=$SERVER_SOCKET RUST_TEST_THREADS=6 rust_tests launcher-fleet:containers; }

lint() {
  cargo fmt --all --check
  git ls-files '*.sh' .ci/run quickstart/up quickstart/down | xargs shellcheck --external-sources
  "$PYTHON" e2e/waits.py
  # Not a shell script with the name that the stock Jupyter images use.
  git ls-files '*.py' ':!e2e/cluster/images/jupyter/start-notebook.py' | xargs "$PYTHON" -m compileall -q
  if command -v go >/dev/null; then
    packaging/local/actionlint.sh .github/workflows/*.yml
  else
    [[ "${CI:-}" != true ]] || fail "actionlint is built with Go, which is missing: https://go.dev/dl"
    say "the workflows are not checked: actionlint is built with Go, which is missing: https://go.dev/dl"
  fi
}

if [[ "${1:-}" == shell ]]; then
  eval "$2"
else
  exec "$PYTHON" e2e/tiers.py "$@"
fi
