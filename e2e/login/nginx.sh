#!/usr/bin/env bash
# nginx.sh: downloads Debian's nginx once, unpacks it without installing it, and prints the program's path.
set -euo pipefail
# shellcheck source=e2e/login/common.sh
source "$(dirname "$0")/common.sh"

readonly UNPACKED=$LOGIN_CACHE/nginx
readonly PROGRAM=$UNPACKED/usr/sbin/nginx

unpack() {
  local folder=$LOGIN_CACHE/nginx.new
  rm -rf "$folder"
  mkdir -p "$folder/package"
  (cd "$folder/package" && { apt-get download nginx || { apt-get update && apt-get download nginx; }; }) >&2
  dpkg-deb --extract "$folder"/package/nginx_*.deb "$folder"
  ! ldd "$folder/usr/sbin/nginx" | grep 'not found' >&2 || fail "Debian's nginx takes libraries that this machine lacks"
  rm -rf "$UNPACKED"
  mv "$folder" "$UNPACKED"
}

mkdir -p "$LOGIN_CACHE"
exec 6>"$LOGIN_CACHE/nginx.lock"
flock 6
[[ -x "$PROGRAM" ]] || unpack
printf '%s\n' "$PROGRAM"
