#!/usr/bin/env bash
# image.sh launcher|sidecar|material ARCHIVE: builds the image for this architecture from source, as an OCI archive.
# RELEASE_BUILDER selects the builder; the default is docker if its engine answers, else buildah.
#   docker   builds with images/NAME.Dockerfile alone: compiler and libraries are those of its base image
#   buildah  builds the program with this machine's compiler, and the image with the last stage of the Dockerfile
set -euo pipefail
# shellcheck source=packaging/release/environment.sh
source "$(dirname "$0")/environment.sh"

# Pinned, because the bytes of the layers depend on the release.
readonly BUILDKIT=docker.io/moby/buildkit:v0.33.0@sha256:6c2fa84a6b61ccd72899dde4239f8d5717f05f9a8ca6f3cad185fb1a95a94de3
readonly BUILDER=workshop-launcher-release

# build_with_docker NAME LAYOUT
build_with_docker() {
  docker buildx inspect "$BUILDER" >/dev/null 2>&1 \
    || docker buildx create --name "$BUILDER" --driver docker-container --driver-opt "image=$BUILDKIT" >/dev/null
  docker buildx build --builder "$BUILDER" --file "images/$1.Dockerfile" --platform "linux/$ARCHITECTURE" \
    --provenance=false --sbom=false --build-arg LAUNCHER_COMMIT --build-arg SOURCE_DATE_EPOCH "${labels[@]}" \
    --output "type=oci,dest=$2,tar=false,rewrite-timestamp=true" .
}

# build_with_buildah NAME LAYOUT
build_with_buildah() {
  local cargo=${CARGO_HOME:-$HOME/.cargo} store=$2.store
  local -a buildah=(buildah --root "$store/root" --runroot "$store/run" --storage-driver vfs)
  [[ "$PWD$cargo" != *" "* ]] || fail "$PWD or $cargo contains a space, which RUSTFLAGS does not allow"
  # The program must not contain the paths of this machine.
  RUSTFLAGS="--remap-path-prefix=$PWD=/src --remap-path-prefix=$cargo=/cargo" \
    CFLAGS="-ffile-prefix-map=$PWD=/src -ffile-prefix-map=$cargo=/cargo" images/build.sh "$1"
  "${buildah[@]}" bud --quiet --isolation chroot --format oci --timestamp "$SOURCE_DATE_EPOCH" --identity-label=false \
    "${labels[@]}" --tag "$1" "$CARGO_TARGET_DIR/images/$1" >/dev/null
  "${buildah[@]}" push --quiet "$1" "oci:$2:$1"
}

[[ "$#" == 2 ]] || fail "usage: image.sh launcher|sidecar|material ARCHIVE"
builder=${RELEASE_BUILDER:-$(docker version >/dev/null 2>&1 && echo docker || echo buildah)}
case "$builder" in
  docker) docker buildx version >/dev/null || fail "docker with buildx is missing: https://docs.docker.com/engine/install/" ;;
  buildah) need_command buildah buildah ;;
  *) fail "unknown RELEASE_BUILDER $builder; valid builders: docker, buildah" ;;
esac
need_python
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT
labels=(--label "org.opencontainers.image.version=$VERSION" --label "org.opencontainers.image.revision=$COMMIT")
[[ -z "$SOURCE_URL" ]] || labels+=(--label "org.opencontainers.image.source=$SOURCE_URL")
say "building the image $1 for $ARCHITECTURE with $builder"
"build_with_$builder" "$1" "$work/layout"
"$PYTHON" packaging/release/oci.py image "$work/layout" "$2"
