#!/usr/bin/env bash
# live.sh [measure] [docker|podman]: sets up a server in separate namespaces, with this engine, by default docker, and runs the
# tests of live/ on it; with `measure` bench/server/run.py instead. Builds the images from the programs of this checkout.
# `live.sh needs` only checks the requirements, and installs missing Debian packages if it can.
set -euo pipefail
# shellcheck source=e2e/login/common.sh
source "$(dirname "$0")/../login/common.sh"
# shellcheck source=e2e/cluster/images/archives.sh
source "$here/images/archives.sh"

needs() {
  need_root "a server in separate namespaces"
  need_rust
  need_python
  need_go
  need_command dockerd docker.io
  need_command docker-compose docker-compose
  need_command mmdebstrap mmdebstrap
  need_command buildah buildah
  need_command npm npm
  need_chromium
}

# desktop_root: prints the archive of the file system that the Dockerfile of the preset Desktop describes, without a registry.
desktop_root() {
  local packages archive=${CACHE%/*}/desktop
  packages=$(sed -n '/^### Desktop$/,/^### /s/^ *\(.*\) && rm .*/\1/p' "$repository/docs/apps.md")
  [[ "$packages" == *novnc* ]] || fail "docs/apps.md has no Dockerfile of the preset Desktop"
  archive+=/$(content_hash <(printf '%s\n' "$packages")).tar
  if [[ ! -f "$archive" ]]; then
    say "building the image of the preset Desktop"
    rm -rf "${archive%/*}"
    mkdir -p "${archive%/*}"
    # The hook gets the root file system's folder as $1.
    # shellcheck disable=SC2016
    mmdebstrap --quiet --format=tar --variant=minbase --include="${packages// /,}" \
      --customize-hook='chroot "$1" useradd --create-home --uid 1000 user; cd "$1"; rm -rf usr/share/doc usr/share/man usr/share/locale var/lib/apt/lists/*' \
      trixie "$archive.new" >&2
    mv "$archive.new" "$archive"
  fi
  printf '%s\n' "$archive"
}

# jupyter_image: prints the archive of the image of JupyterLab that the tests of containers use.
jupyter_image() {
  mkdir -p "$CACHE"
  exec 7>"$CACHE/images.lock"
  flock 7
  archive jupyter
  printf '%s\n' "$BUILT"
}

main() {
  local contexts
  local -a work=("$repository/e2e/tiers.sh" shell "tests server $repository/e2e/server/live")
  needs
  [[ "${1:-}" != needs ]] || return 0
  if [[ "${1:-}" == measure ]]; then
    work=("$repository/.local/cluster/bin/python" "$repository/bench/server/run.py")
    shift
  else
    "$repository/e2e/browser/apps.sh"
    DESKTOP_ROOT=$(desktop_root)
    JUPYTER_IMAGE=$(jupyter_image)
    export DESKTOP_ROOT JUPYTER_IMAGE TEST_APPS=$repository/.local/apps/bin
  fi
  # Here, because the server has no internet.
  PYTHONPATH=$repository/e2e "$repository/.local/cluster/bin/python" -c "import environment; environment.browser()"
  need_login_programs traefik oauth2-proxy dex
  contexts=$CARGO_TARGET_DIR/images
  LAUNCHER_PROGRAM=${LAUNCHER_PROGRAM:-$CARGO_TARGET_DIR/debug/launcher} "$repository/images/build.sh" launcher
  release_images sidecar material
  mkdir -p "$contexts/http"
  go_build images/http -ldflags '-s -w' -o "$contexts/http/app" .
  export LOGIN_BIN IMAGE_CONTEXTS=$contexts CHROMIUM=${CHROMIUM:-$(chromium_path)}
  "$repository/e2e/containers/server.py" --images none "${1:-docker}" "${work[@]}"
}

main "$@"
