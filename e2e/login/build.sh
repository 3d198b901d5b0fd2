#!/usr/bin/env bash
# build.sh [NAME...]: builds Helm, promtool and the programs of the login chain from the Go modules pinned in tools/,
# once: the folder is named after their content. It also holds Traefik's custom resources, and those of the Gateway API:
# gateway-crds.yaml. Prints the folder. `build.sh needs` only checks the requirements, and names a missing one.
set -euo pipefail
# shellcheck source=e2e/login/common.sh
source "$(dirname "$0")/common.sh"

readonly TRAEFIK=github.com/traefik/traefik/v3
readonly RESOURCES=docs/content/reference/dynamic-configuration/kubernetes-crd-definition-v1.yml

# module_directory FOLDER MODULE: downloads the module, checks it against the folder's go.sum, and prints its directory.
module_directory() {
  (cd "$1" && GOFLAGS=-mod=readonly GOWORK=off go mod download -json "$2") \
    | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'
}

# traefik_source: Traefik embeds a web page that its own module lacks, and Go allows no additions to its cache. So the
# module is copied, completed, and built in the copy, by its own go.sum. Prints the copy.
traefik_source() {
  local module copy=$LOGIN_BIN/traefik-source
  module=$(module_directory "$login/tools/traefik" "$TRAEFIK")
  rm -rf "$copy"
  cp --recursive --no-preserve=mode "$module" "$copy"
  cp --recursive "$login/tools/traefik/parts/." "$copy"
  cp "$copy/$RESOURCES" "$LOGIN_BIN/traefik-crds.yaml"
  printf '%s\n' "$copy"
}

# gateway_resources: writes the resource definitions of the Gateway API's standard channel, in the version that Traefik
# requires.
gateway_resources() {
  local module file target=$LOGIN_BIN/gateway-crds.yaml
  [[ ! -f "$target" ]] || return 0
  module=$(module_directory "$login/tools/traefik" "$TRAEFIK")
  module=$(module_directory "$module" sigs.k8s.io/gateway-api)
  for file in "$module"/config/crd/standard/*.yaml; do
    printf -- '---\n'
    cat "$file"
  done >"$target.new"
  mv "$target.new" "$target"
}

build() { # FOLDER PACKAGE NAME CGO TAGS
  local folder=$1 package=$2 name=$3 flags="-s -w" directory=$login/tools/$1
  [[ ! -x "$LOGIN_BIN/$name" ]] || return 0
  say "building $name"
  [[ "$folder" != traefik ]] || directory=$(traefik_source)
  # Statically linked, with C or without: the program runs in an image that holds nothing else.
  [[ "$4" == 0 ]] || flags+=" -extldflags -static"
  # The caller's Go settings must not change the build. The move makes the program appear complete or not at all.
  (cd "$directory" && GOFLAGS=-mod=readonly GOWORK=off CGO_ENABLED=$4 nice go build -ldflags "$flags" -tags "$5" \
    -o "$LOGIN_BIN/$name.new" "$package")
  mv "$LOGIN_BIN/$name.new" "$LOGIN_BIN/$name"
  rm -rf "$LOGIN_BIN/$name-source"
}

need_go
[[ "${1:-}" != needs ]] || exit 0
mkdir -p "$LOGIN_BIN"
exec 8>"$LOGIN_CACHE/build.lock"
flock 8
while read -r folder package name cgo tags; do
  if [[ "$#" == 0 || " $* " == *" $name "* ]]; then
    build "$folder" "$package" "$name" "$cgo" "$tags"
  fi
done < <(grep --invert-match '^#' "$login/tools/programs")
if [[ "$#" == 0 || " $* " == *" gateway-crds.yaml "* ]]; then
  gateway_resources
fi
printf '%s\n' "$LOGIN_BIN"
