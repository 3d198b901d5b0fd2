#!/usr/bin/env bash
# Builds Kubernetes from the Go modules pinned in tools/, once: the folder is named after their content. A cold build
# takes about ten minutes on two cores; Go's cache makes the next version faster. Prints the folder.
set -euo pipefail
# shellcheck source=e2e/cluster/common.sh
source "$(dirname "$0")/common.sh"

build() { # FOLDER PACKAGE NAME CGO
  local folder=$1 package=$2 name=$3
  [[ ! -x "$BIN/$name" ]] || return 0
  say "building $name"
  # The caller's Go settings must not change the build. The move makes the program appear complete or not at all.
  (cd "$here/tools/$folder" && GOFLAGS=-mod=readonly GOWORK=off CGO_ENABLED=$4 nice go build -ldflags "-s -w $stamp" \
    -o "$BIN/$name.new" "$package")
  mv "$BIN/$name.new" "$BIN/$name"
}

[[ ! -f "$BIN/complete" ]] || { printf '%s\n' "$BIN" && exit 0; }
need_go
mkdir -p "$BIN"
exec 8>"$CACHE/build.lock"
flock 8

# Kubernetes gets its version from the linker; the other programs have none of these variables.
version=$(sed -n 's|^require k8s.io/kubernetes v||p' "$here/tools/kubernetes/go.mod")
IFS=. read -r major minor _ <<<"$version"
into=k8s.io/component-base/version
stamp="-X $into.gitVersion=v$version -X $into.gitMajor=$major -X $into.gitMinor=$minor"
while read -r folder package name cgo; do
  build "$folder" "$package" "$name" "$cgo"
done < <(grep --invert-match '^#' "$here/tools/programs")
touch "$BIN/complete"
printf '%s\n' "$BIN"
