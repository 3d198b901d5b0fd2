#!/usr/bin/env bash
# build.sh [NAME...]: builds Helm, promtool and the programs of the login chain from the Go modules pinned in
# ../cluster/tools/, once: the folder is named after their content. It also holds Traefik's custom resources,
# traefik-crds.yaml, and those of the Gateway API, gateway-crds.yaml. Prints the folder. `build.sh needs` only checks the
# requirements, and names a missing one.
set -euo pipefail
# shellcheck source=e2e/login/common.sh
source "$(dirname "$0")/common.sh"

# resources NAME MODULE FILES: writes these files of the module, a pattern, to NAME-crds.yaml.
resources() {
  local module file target=$LOGIN_BIN/$1-crds.yaml
  [[ ! -f "$target" ]] || return 0
  module=$(module_directory "$2")
  for file in "$module"/$3; do
    printf -- '---\n'
    cat "$file"
  done >"$target.new"
  mv "$target.new" "$target"
}

need_go
[[ "${1:-}" != needs ]] || exit 0
(($#)) || set -- helm promtool oauth2-proxy traefik dex gateway-crds.yaml
mkdir -p "$LOGIN_BIN" "$CACHE"
# The cluster's programs share most packages: of two builds at the same time, each would compile them.
exec 8>"$CACHE/build.lock"
flock 8
if [[ " $* " == *" traefik "* ]]; then
  resources traefik github.com/traefik/traefik/v3 \
    docs/content/reference/dynamic-configuration/kubernetes-crd-definition-v1.yml
fi
if [[ " $* " == *" gateway-crds.yaml "* ]]; then
  # The standard channel, in the version that Traefik requires.
  resources gateway sigs.k8s.io/gateway-api 'config/crd/standard/*.yaml'
fi
build_programs "$LOGIN_BIN" "$@"
printf '%s\n' "$LOGIN_BIN"
