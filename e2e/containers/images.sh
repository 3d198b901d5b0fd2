#!/usr/bin/env bash
# images.sh: builds the images of the container tests, and prints the directory of their archives: all.tar, and small.tar
# for a small disk. No registry is used. Unchanged images are not built again. `images.sh needs` only checks the
# requirements, and installs missing Debian packages if it can.
#   localhost/workshop-launcher/sidecar:test   the product's sidecar
#   localhost/workshop-launcher/material:test  the product's program that places course material
#   localhost/workshop-launcher/jupyter:test   JupyterLab, as in the cluster's tests
#   localhost/workshop-launcher/shell:test     an app that runs its owner's commands, with the probes of attack/
#   localhost/workshop-launcher/quick:test     BusyBox: an app that starts at once
set -euo pipefail
# shellcheck source=e2e/cluster/common.sh
source "$(dirname "$0")/../cluster/common.sh"
# shellcheck source=e2e/cluster/images/archives.sh
source "$here/images/archives.sh"

readonly OWN=$repository/e2e/containers/images
readonly OWN_ARCHIVES=${CACHE%/*}/containers

# Commands and files, each with its Debian package: of the engines, of the tests' server, and of the images.
needs() {
  local command package
  local -a missing=()
  need_root "a server with a container engine"
  need_rust
  need_python
  while read -r command package; do
    type -P "$command" >/dev/null || [[ -x "$command" ]] || missing+=("$package")
  done <<'NEEDS'
dockerd docker.io
podman podman
/usr/lib/podman/netavark netavark
/usr/lib/podman/aardvark-dns aardvark-dns
runc runc
iptables iptables
ip iproute2
buildah buildah
mmdebstrap mmdebstrap
busybox busybox
cc build-essential
NEEDS
  ((${#missing[@]})) || return 0
  can_install || fail "packages are missing. On Debian: apt-get install ${missing[*]}"
  without_services install_packages "${missing[@]}"
}

# without_services COMMAND...: runs the command. Services of packages that it installs do not start: the tests start
# their own engines.
without_services() {
  local policy=/usr/sbin/policy-rc.d
  if [[ -e "$policy" ]]; then
    "$@"
    return
  fi
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  # In a subshell, because a failed installation exits.
  ("$@") || { rm "$policy" && return 1; }
  rm "$policy"
}

# compose: writes the archives of all images from the built parts to this directory.
compose() {
  local work
  work=$(mktemp --directory "$OWN_ARCHIVES/.images.XXXXXX")
  cc -static -O2 -o "$work/become-root" "$OWN/become-root.c"
  mkdir "$work/images"
  "$PYTHON" "$OWN/compose.py" "$work/images" "$JUPYTER" "$SIDECAR" "$MATERIAL" "$work/become-root" "$(type -P busybox)"
  rm -rf "$OWN_ARCHIVES"/images-*
  mv "$work/images" "$1"
  rm -r "$work"
}

main() {
  local archives
  needs
  [[ "${1:-}" != needs ]] || return 0
  mkdir -p "$CACHE" "$OWN_ARCHIVES"
  exec 7>"$CACHE/images.lock"
  flock 7
  release_images sidecar material
  SIDECAR=$(product_context sidecar)/launcher-sidecar
  MATERIAL=$(product_context material)/launcher-material
  archive jupyter
  JUPYTER=$BUILT
  archives=$OWN_ARCHIVES/images-$(content_hash "$OWN"/*.* "$OWN"/attack/*.py "$SIDECAR" "$MATERIAL" "$JUPYTER" "$(type -P busybox)")
  [[ -d "$archives" ]] || compose "$archives"
  printf '%s\n' "$archives"
}

main "$@"
