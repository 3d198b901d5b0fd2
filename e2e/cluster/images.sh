#!/usr/bin/env bash
# images.sh [NAME...]: builds these images, or all of them (launcher, sidecar, material, trusting, http, jupyter), and imports them into the
# cluster as localhost/workshop-launcher/NAME:test. Unchanged images are neither built nor imported again.
# The launcher's image gets the debug build that the other tests use.
set -euo pipefail
# shellcheck source=e2e/cluster/common.sh
source "$(dirname "$0")/common.sh"
# shellcheck source=e2e/cluster/images/archives.sh
source "$here/images/archives.sh"

need_root "building images"
need_command buildah buildah
foreign_cluster || [[ -S "$SOCKET" ]] || fail "no cluster is running on this machine. Start one: make cluster-up"

debug_launcher() {
  (cd "$repository" && cargo test --quiet --workspace --all-features --locked --no-run --test program --test material) >&2
  export LAUNCHER_PROGRAM=${CARGO_TARGET_DIR:-$repository/target}/debug/launcher
}

mkdir -p "$CACHE"
exec 7>"$CACHE/images.lock"
flock 7
for name in "${@:-launcher sidecar material trusting http jupyter}"; do
  # The default is one word of six.
  for one in $name; do
    case "$one" in
      launcher)
        debug_launcher
        "$repository/images/build.sh" launcher
        ;;
      sidecar | material)
        release_images "$one"
        ;;
      trusting)
        # It has the program of the image material, built before. The certificate authority of another cluster is unknown.
        ! foreign_cluster || continue
        ;;
    esac
    import_image "$one"
  done
done
