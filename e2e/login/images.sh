#!/usr/bin/env bash
# images.sh: builds the images of the login chain's programs and brings them into the cluster, as e2e/cluster/images.sh does
# with the others: localhost/workshop-launcher/{traefik,dex,oauth2-proxy}:test.
set -euo pipefail
# shellcheck source=e2e/login/common.sh
source "$(dirname "$0")/common.sh"
# shellcheck source=e2e/cluster/images/archives.sh
source "$here/images/archives.sh"

inputs_program() { printf '%s\n' "$login/images/$1/Dockerfile" "$LOGIN_BIN/$1"; }
prepare_program() { cp "$login/images/$1/Dockerfile" "$LOGIN_BIN/$1" /etc/ssl/certs/ca-certificates.crt "$2/"; }
inputs_traefik() { inputs_program traefik; }
prepare_traefik() { prepare_program traefik "$1"; }
inputs_dex() { inputs_program dex; }
prepare_dex() { prepare_program dex "$1"; }
inputs_oauth2-proxy() { inputs_program oauth2-proxy; }
prepare_oauth2-proxy() { prepare_program oauth2-proxy "$1"; }

need_root "building images"
need_command buildah buildah
need_login_programs
mkdir -p "$CACHE"
exec 7>"$CACHE/images.lock"
flock 7
for name in traefik dex oauth2-proxy; do
  import_image "$name"
done
