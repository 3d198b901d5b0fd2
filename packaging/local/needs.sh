# Requirements of this machine, for the scripts that source this file.
# As root on Debian, installs missing packages; otherwise names them.
# shellcheck shell=bash

# Overrides a target directory of Cargo's own configuration, so that the scripts run the programs that they build.
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/target}
export CARGO_TARGET_DIR

say() { printf '%s\n' "$*" >&2; }

fail() {
  say "error: $*"
  exit 1
}

can_install() { [[ "$(id -u)" == 0 ]] && command -v apt-get >/dev/null; }

# install_packages PACKAGE...: installs Debian packages; if that fails, updates the package lists and tries again.
install_packages() {
  say "installing with apt-get: $*"
  local -a install=(env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600)
  "${install[@]}" "$@" >&2 || { apt-get update >&2 && "${install[@]}" "$@" >&2; }
}

# need_command COMMAND PACKAGE: ensures that the command exists: installs its package, or fails and names the package.
need_command() {
  command -v "$1" >/dev/null && return
  can_install || fail "$1 is missing. On Debian: apt-get install $2"
  install_packages "$2"
  command -v "$1" >/dev/null || fail "the package $2 does not provide the command $1"
}

# need_chromium: ensures a Chromium. Debian has one without windows, which takes half of the CPU time. A user who cannot
# install it can use the other one.
need_chromium() {
  if can_install && grep --quiet '^ID=debian$' /etc/os-release; then
    need_command chromium-headless-shell chromium-headless-shell
  fi
  chromium_path >/dev/null || need_command chromium chromium
}

# chromium_path: prints the path of the Chromium that tests use.
chromium_path() { type -P chromium-headless-shell || type -P chromium; }

# need_rust: ensures cargo, and the C compiler that the bundled SQLite requires.
need_rust() {
  if ! command -v cargo >/dev/null && [[ -x "$HOME/.cargo/bin/cargo" ]]; then
    export PATH="$HOME/.cargo/bin:$PATH"
  fi
  command -v cargo >/dev/null \
    || fail "cargo is missing. Install Rust $(rust_version) or newer from https://rustup.rs (Debian's own is too old)"
  need_command cc build-essential
}

# need_go: ensures Go.
need_go() {
  command -v go >/dev/null || fail "Go 1.24 or newer is missing: https://go.dev/dl (it downloads the required release itself)"
}

rust_version() { sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml; }

# python_with_venv: prints a Python of at least 3.11 that can create virtual environments.
python_with_venv() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$python"
      return
    fi
  done
  return 1
}

# need_python: sets PYTHON, for the sourcing script, to such a Python.
# shellcheck disable=SC2034
need_python() {
  PYTHON=$(python_with_venv) && return
  can_install || fail "Python 3.11 or newer with its venv module is missing. On Debian 12 or Ubuntu 24.04: apt-get install python3-venv"
  install_packages python3-venv
  PYTHON=$(python_with_venv) || fail "this system's python3-venv is older than Python 3.11: put a newer one on the PATH as python3"
}
