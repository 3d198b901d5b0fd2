#!/usr/bin/env bash
# server.sh [launcher|sidecar|material]...: builds these images, by default all, from this checkout into the container engine of
# this machine, under the names that deploy/server/versions.env has. ENGINE names the command, by default docker or podman.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

ENGINE=${ENGINE:-$(command -v docker || command -v podman)} \
  || fail "a container engine is missing. On Debian or Ubuntu: apt-get install docker.io"
"$ENGINE" version >/dev/null || fail "$ENGINE does not answer. Start it, or run this script as root"
(($#)) || set -- launcher sidecar material
images/build.sh "$@"
for name; do
  reference=$(sed -n "s/^${name^^}_IMAGE=//p" deploy/server/versions.env)
  say "building $reference"
  "$ENGINE" build --quiet --tag "$reference" "$CARGO_TARGET_DIR/images/$name" >/dev/null
done
