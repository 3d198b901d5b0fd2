# Paths for the tests of the login chain, for the scripts beside this file, which source it.
# shellcheck shell=bash disable=SC2034

# shellcheck source=e2e/cluster/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cluster/common.sh"

login=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly LOGIN_CACHE=${CACHE%/*}/login

# The folder of the programs built from the pinned modules.
LOGIN_BIN=$LOGIN_CACHE/bin-$(content_of_tools)
readonly LOGIN_BIN

# need_login_programs [NAME...]: builds these programs, by default Helm and the login chain's, unless they exist.
need_login_programs() {
  local name
  [[ "$#" != 0 ]] || set -- helm traefik oauth2-proxy dex
  for name in "$@"; do
    [[ -e "$LOGIN_BIN/$name" ]] || "$login/build.sh" "$name" >/dev/null
  done
}
