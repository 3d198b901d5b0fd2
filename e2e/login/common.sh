# Where the things of the login chain's tests are, for the scripts beside this file, which source it.
# shellcheck shell=bash disable=SC2034

# shellcheck source=e2e/cluster/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cluster/common.sh"

login=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly LOGIN_CACHE=${CACHE%/*}/login

# login_binaries: prints the folder of the programs as the pinned modules make them.
login_binaries() {
  local -a pins
  readarray -d '' -t pins < <(find "$login/tools" -type f -print0 | sort --zero-terminated)
  printf '%s/bin-%s\n' "$LOGIN_CACHE" "$(content_hash "${pins[@]}")"
}

LOGIN_BIN=$(login_binaries)
readonly LOGIN_BIN

# need_login_programs NAME...: these programs are built, or all of them.
need_login_programs() {
  local name
  [[ "$#" != 0 ]] || set -- helm traefik oauth2-proxy dex
  for name in "$@"; do
    [[ -x "$LOGIN_BIN/$name" ]] || "$login/build.sh" "$name" >/dev/null
  done
}
