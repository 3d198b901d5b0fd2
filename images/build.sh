#!/usr/bin/env bash
# build.sh [launcher|sidecar]...: builds the programs for the images, both unless told, and lays out the build contexts of
# the Dockerfiles beside this script in target/images/NAME. Says how to make images of them, and the references by digest.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

readonly TARGET=${CARGO_TARGET_DIR:-target}

# The sidecar resolves no names, so the C library can be linked in, and the image needs nothing else.
build_sidecar() {
  local host
  host=$(rustc --version --verbose | sed -n 's/^host: //p')
  RUSTFLAGS="-C target-feature=+crt-static" \
    cargo build --quiet --locked --release --package launcher-sidecar --bin launcher-sidecar --target "$host"
  install -D --mode=755 "$TARGET/$host/release/launcher-sidecar" "$1/launcher-sidecar"
}

# The launcher resolves names (its database, the API server), which takes the C library at run time: the one it was
# linked with.
build_launcher() {
  local library
  cargo build --quiet --locked --release --package launcher --bin launcher
  install -D --mode=755 "$TARGET/release/launcher" "$1/launcher"
  while read -r library; do
    install -D --mode=755 "$library" "$1/rootfs$library"
  done < <(ldd "$TARGET/release/launcher" | grep --only-matching '/[^ ]*')
  install -D --mode=644 /etc/ssl/certs/ca-certificates.crt "$1/rootfs/etc/ssl/certs/ca-certificates.crt"
  printf 'hosts: files dns\n' >"$1/rootfs/etc/nsswitch.conf"
  printf 'launcher:x:65532:65532::/:/usr/local/bin/launcher\n' >"$1/rootfs/etc/passwd"
}

need_rust
for name in "${@:-launcher sidecar}"; do
  # The default is one word of two.
  for one in $name; do
    [[ "$one" == launcher || "$one" == sidecar ]] || fail "there is no image $one; there are: launcher, sidecar"
    say "building $one for its image"
    rm -rf "${TARGET:?}/images/$one"
    "build_$one" "$TARGET/images/$one"
    say "next: docker build --file images/$one.Dockerfile --tag REGISTRY/$one:TAG $TARGET/images/$one"
    say "      docker push REGISTRY/$one:TAG"
    say "      docker inspect --format '{{index .RepoDigests 0}}' REGISTRY/$one:TAG    # images.$one of the chart's values"
  done
done
