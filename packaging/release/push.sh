#!/usr/bin/env bash
# push.sh FOLDER: pushes the images and the chart of a release to REGISTRY, as in ghcr.io/OWNER/REPOSITORY, after a
# `docker login`. Prints registry=REGISTRY, and each digest as NAME=DIGEST. Fails if the registry has an image with
# another digest than the files.
set -euo pipefail
# shellcheck source=packaging/release/environment.sh
source "$(dirname "$0")/environment.sh"

[[ "$#" == 1 ]] || fail "usage: REGISTRY=HOST/PATH push.sh FOLDER"
need_command skopeo skopeo
command -v helm >/dev/null || fail "helm is missing: https://helm.sh/docs/intro/install/"
printf 'registry=%s\n' "$REGISTRY"
for name in launcher sidecar material; do
  skopeo copy --all --preserve-digests "oci-archive:$1/$name-$VERSION.oci.tar" "docker://$REGISTRY/$name:$VERSION" >&2
  digest=$(pushed_digest "$REGISTRY/$name:$VERSION")
  grep --quiet --line-regexp --fixed-strings "$REGISTRY/$name:$VERSION@$digest" "$1/images.txt" \
    || fail "the registry has $name with the digest $digest, which is not in $1/images.txt"
  printf '%s=%s\n' "$name" "$digest"
done
helm push "$1/workshop-launcher-$VERSION.tgz" "oci://$REGISTRY/charts" >&2
chart=$(pushed_digest "$REGISTRY/charts/workshop-launcher:$VERSION")
printf 'chart=%s\n' "$chart"
