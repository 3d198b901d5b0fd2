#!/usr/bin/env bash
# images.sh [NAME...]: builds these images, or all of them (launcher, sidecar, http, jupyter), and brings them into the
# cluster as localhost/workshop-launcher/NAME:test. What has not changed is neither built nor imported again.
set -euo pipefail
# shellcheck source=e2e/cluster/common.sh
source "$(dirname "$0")/common.sh"
# shellcheck source=e2e/cluster/images/archives.sh
source "$here/images/archives.sh"

need_root "building images"
need_command buildah buildah
foreign_cluster || [[ -S "$SOCKET" ]] || fail "no cluster is up here: make cluster-up"
mkdir -p "$CACHE"
exec 7>"$CACHE/images.lock"
flock 7
for name in "${@:-launcher sidecar http jupyter}"; do
  # The default is one word of four.
  for one in $name; do
    case "$one" in launcher | sidecar) "$repository/images/build.sh" "$one" ;; esac
    import_image "$one"
  done
done
