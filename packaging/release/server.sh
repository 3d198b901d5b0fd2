#!/usr/bin/env bash
# server.sh FOLDER LAUNCHER SIDECAR MATERIAL: packs deploy/server, the set-up of one server. Its versions.env names the images of
# the release, by references with digests, which the engine pulls.
set -euo pipefail
# shellcheck source=packaging/release/environment.sh
source "$(dirname "$0")/environment.sh"

[[ "$#" == 4 ]] || fail "usage: server.sh FOLDER LAUNCHER SIDECAR MATERIAL"
name=workshop-launcher-server-$VERSION
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$name/deploy" "$work/$name/docs"
cp --recursive deploy/server "$work/$name/deploy/"
find "$work/$name/deploy/server" -name __pycache__ -prune -exec rm -rf {} +
cp docs/server.md "$work/$name/docs/"
cp CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$work/$name/"
versions=$work/$name/deploy/server/versions.env
sed --in-place "s|^LAUNCHER_IMAGE=.*|LAUNCHER_IMAGE=$2|; s|^SIDECAR_IMAGE=.*|SIDECAR_IMAGE=$3|
  s|^MATERIAL_IMAGE=.*|MATERIAL_IMAGE=$4|
  s|^# .make server-images. builds .*|# The first three are those of this release.|" "$versions"
for reference in "$2" "$3" "$4"; do
  grep --quiet --fixed-strings "$reference" "$versions" || fail "versions.env has changed: server.sh finds no place for $reference"
done
pack "$work/$name" "$1/$name.tar.gz"
