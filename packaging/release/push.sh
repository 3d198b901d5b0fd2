#!/usr/bin/env bash
# push.sh FOLDER: pushes the images and the chart of a release to REGISTRY, as in ghcr.io/OWNER/REPOSITORY, after a
# `docker login`. Prints registry=REGISTRY, and each digest as NAME=DIGEST. Fails if the registry has an image with
# another digest than the files, before or after the push: users may already run an image that was published.
set -euo pipefail
# shellcheck source=packaging/release/environment.sh
source "$(dirname "$0")/environment.sh"

[[ "$#" == 1 ]] || fail "usage: REGISTRY=HOST/PATH push.sh FOLDER"
need_command skopeo skopeo
command -v helm >/dev/null || fail "helm is missing: https://helm.sh/docs/intro/install/"

# is_listed NAME DIGEST: succeeds if the release has this digest of the image.
is_listed() { grep --quiet --line-regexp --fixed-strings "$REGISTRY/$1:$VERSION@$2" "$RELEASE/images.txt"; }

readonly RELEASE=$1
for name in launcher sidecar material; do
  # Fails if the registry does not have the tag yet.
  digest=$(pushed_digest "$REGISTRY/$name:$VERSION" 2>/dev/null) || continue
  is_listed "$name" "$digest" \
    || fail "$REGISTRY/$name:$VERSION is already published, with the digest $digest: make a release with a new version"
done
printf 'registry=%s\n' "$REGISTRY"
for name in launcher sidecar material; do
  skopeo copy --all --preserve-digests "oci-archive:$RELEASE/$name-$VERSION.oci.tar" "docker://$REGISTRY/$name:$VERSION" >&2
  digest=$(pushed_digest "$REGISTRY/$name:$VERSION")
  is_listed "$name" "$digest" || fail "the registry has $name with the digest $digest, which is not in $RELEASE/images.txt"
  printf '%s=%s\n' "$name" "$digest"
done
helm push "$RELEASE/workshop-launcher-$VERSION.tgz" "oci://$REGISTRY/charts" >&2
chart=$(pushed_digest "$REGISTRY/charts/workshop-launcher:$VERSION")
printf 'chart=%s\n' "$chart"
