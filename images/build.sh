#!/usr/bin/env bash
# build.sh [launcher|sidecar]...: builds the programs for the images, by default both, and prepares the build contexts
# of the Dockerfiles beside this script in target/images/NAME. Prints the commands that build and push the images.
# LAUNCHER_PROGRAM names an existing launcher program; the tests use it, because a release build takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

readonly TARGET=${CARGO_TARGET_DIR:-target}

# The sidecar resolves no names, so the C library can be linked statically, and the image needs no other file.
build_sidecar() {
  local host
  host=$(rustc --version --verbose | sed -n 's/^host: //p')
  RUSTFLAGS="-C target-feature=+crt-static" \
    cargo build --quiet --locked --release --package launcher-sidecar --bin launcher-sidecar --target "$host"
  install -D --mode=755 "$TARGET/$host/release/launcher-sidecar" "$1/launcher-sidecar"
}

# The launcher resolves names (its database, the API server), which requires the C library at run time: the one it was
# linked with.
build_launcher() {
  local library program=${LAUNCHER_PROGRAM:-$TARGET/release/launcher}
  if [[ -z "${LAUNCHER_PROGRAM:-}" ]]; then
    cargo build --quiet --locked --release --package launcher --bin launcher
  fi
  install -D --strip --mode=755 "$program" "$1/launcher"
  while read -r library; do
    install -D --mode=755 "$library" "$1/rootfs$library"
  done < <(ldd "$program" | grep --only-matching '/[^ ]*')
  install -D --mode=644 /etc/ssl/certs/ca-certificates.crt "$1/rootfs/etc/ssl/certs/ca-certificates.crt"
  printf 'hosts: files dns\n' >"$1/rootfs/etc/nsswitch.conf"
  printf 'launcher:x:65532:65532::/:/usr/local/bin/launcher\n' >"$1/rootfs/etc/passwd"
}

need_rust
for name in "${@:-launcher sidecar}"; do
  # The default is one word of two.
  for one in $name; do
    [[ "$one" == launcher || "$one" == sidecar ]] || fail "unknown image $one; valid images: launcher, sidecar"
    say "building the program of the image $one"
    rm -rf "${TARGET:?}/images/$one"
    "build_$one" "$TARGET/images/$one"
    say "next: docker build --file images/$one.Dockerfile --tag REGISTRY/$one:TAG $TARGET/images/$one"
    say "      docker push REGISTRY/$one:TAG"
    say "      docker inspect --format '{{index .RepoDigests 0}}' REGISTRY/$one:TAG    # images.$one of the chart's values"
  done
done
