#!/usr/bin/env bash
# architecture.sh FOLDER: builds everything that depends on the architecture, for the one of this machine: the images,
# their SBOMs, and the tarball of the programs. Fails if an image is larger than its limit.
set -euo pipefail
# shellcheck source=packaging/release/environment.sh
source "$(dirname "$0")/environment.sh"

[[ "$#" == 1 ]] || fail "usage: architecture.sh FOLDER"
need_python
folder=$(realpath --canonicalize-missing "$1")
rm -rf "$folder"
mkdir -p "$folder"
files=$(mktemp --directory)
trap 'rm -rf "$files"' EXIT
for name in launcher sidecar material; do
  archive=$folder/$name-$VERSION-$ARCHITECTURE.oci.tar
  packaging/release/image.sh "$name" "$archive"
  "$PYTHON" packaging/release/oci.py extract "$archive" "$files/$name"
  packaging/release/size.sh "$name" "$files/$name"
  packaging/release/sbom.sh "$name" "$files/$name" "$folder/$name-$VERSION-$ARCHITECTURE.cdx.json"
done
packaging/release/tarball.sh "$files" "$folder"
