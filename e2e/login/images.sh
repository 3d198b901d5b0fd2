#!/usr/bin/env bash
# images.sh: builds the images of the login chain's programs and imports them into the cluster, as e2e/cluster/images.sh
# does: localhost/workshop-launcher/{traefik,dex,oauth2-proxy,sso,nginx}:test.
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

# This machine's Node with its libraries, and the packages of package-lock.json.
readonly PROVIDER=(provider.mjs package.json package-lock.json)
inputs_sso() { printf '%s\n' "$login/images/sso/Dockerfile" "${PROVIDER[@]/#/$login/provider/}" "$(type -P node)"; }
prepare_sso() {
  local file node
  node=$(type -P node)
  install -D --mode=755 "$node" "$1/rootfs/usr/bin/node"
  while read -r file; do
    install -D --mode=755 "$file" "$1/rootfs$file"
  done < <(ldd "$node" | grep --only-matching '/[^ ]*')
  for file in "${PROVIDER[@]}"; do
    install -D --mode=644 "$login/provider/$file" "$1/rootfs/app/$file"
  done
  npm --prefix "$1/rootfs/app" ci --no-audit --no-fund --ignore-scripts >&2
  cp "$login/images/sso/Dockerfile" "$1/"
}

# Debian's nginx with its libraries, and the shell and awk that start it.
inputs_nginx() { printf '%s\n' "$login/images/nginx/Dockerfile" "$login/images.sh" "$login/nginx.sh"; }
prepare_nginx() {
  local file nginx
  nginx=$("$login/nginx.sh")
  install -D --mode=755 "$nginx" "$1/rootfs/usr/sbin/nginx"
  install -D --mode=755 "$(realpath /bin/sh)" "$1/rootfs/bin/sh"
  install -D --mode=755 "$(realpath "$(type -P awk)")" "$1/rootfs/usr/bin/awk"
  while read -r file; do
    install -D --mode=755 "$file" "$1/rootfs$file"
  done < <(ldd "$nginx" /bin/sh "$(type -P awk)" | grep --only-matching '/[^ :]*' | grep '/lib' | sort --unique)
  cp "$login/images/nginx/Dockerfile" "$1/"
}

need_root "building images"
need_command buildah buildah
need_command npm npm
need_login_programs
mkdir -p "$CACHE"
exec 7>"$CACHE/images.lock"
flock 7
for name in traefik dex oauth2-proxy sso nginx; do
  import_image "$name"
done
