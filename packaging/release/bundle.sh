#!/usr/bin/env bash
# bundle.sh FOLDER ARCHITECTURE-FOLDER...: completes a release from the folders that architecture.sh filled, one for each
# architecture: multi-architecture images, chart, set-up of one server, list of images, and checksums.
set -euo pipefail
# shellcheck source=packaging/release/environment.sh
source "$(dirname "$0")/environment.sh"

(($# > 1)) || fail "usage: bundle.sh FOLDER ARCHITECTURE-FOLDER..."
need_python
folder=$(realpath --canonicalize-missing "$1")
shift
rm -rf "$folder"
mkdir -p "$folder"
declare -A references
for name in launcher sidecar material; do
  archives=()
  for source; do archives+=("$source/$name-$VERSION"-*.oci.tar); done
  "$PYTHON" packaging/release/oci.py index "$folder/$name-$VERSION.oci.tar" "${archives[@]}"
  references[$name]=$REGISTRY/$name:$VERSION@$("$PYTHON" packaging/release/oci.py digest "$folder/$name-$VERSION.oci.tar")
  printf '%s\n' "${references[$name]}" >>"$folder/images.txt"
done
for source; do cp "$source"/*.cdx.json "$source"/*.tar.gz "$folder/"; done
packaging/release/chart.sh "$folder" "${references[launcher]}" "${references[sidecar]}" "${references[material]}"
packaging/release/server.sh "$folder" "${references[launcher]}" "${references[sidecar]}" "${references[material]}"
cd "$folder"
sha256sum -- * >SHA256SUMS.new
mv SHA256SUMS.new SHA256SUMS
