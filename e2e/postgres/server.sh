#!/usr/bin/env bash
# server.sh run COMMAND...: runs a command with a temporary PostgreSQL server, whose URL is in TEST_POSTGRES. The server
# listens on a Unix socket only, in a temporary directory with all its data. Both are removed when the command ends,
# also by Ctrl-C. `server.sh needs` only ensures that PostgreSQL is installed.
set -euo pipefail
# shellcheck source=packaging/local/needs.sh
source "$(dirname "$0")/../../packaging/local/needs.sh"

programs='' directory='' server='' command=''

# need_server: sets programs to the directory of the newest PostgreSQL's programs; installs PostgreSQL if it can.
need_server() {
  programs=$(find_programs) && return
  can_install || fail "PostgreSQL's server is missing. On Debian: apt-get install postgresql"
  # Without this setting the package would start a server, on TCP.
  if [[ ! -e /etc/postgresql-common ]]; then
    install_packages postgresql-common
    printf 'create_main_cluster = false\n' >>/etc/postgresql-common/createcluster.conf
  fi
  install_packages postgresql
  programs=$(find_programs) || fail "the package postgresql does not provide the program initdb"
}

find_programs() {
  local found
  found=$(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | sort --version-sort | tail -n 1)
  [[ -x "$found" ]] || found=$(command -v initdb) || return
  dirname "$found"
}

# as_server COMMAND...: execs the command as a user that PostgreSQL accepts; it does not outlive this script.
as_server() {
  local -a user=()
  [[ "$(id -u)" != 0 ]] || user=(--reuid postgres --regid postgres --init-groups)
  exec setpriv "${user[@]}" --pdeathsig TERM "$@"
}

start() {
  directory=$(mktemp --directory /tmp/postgres.XXXXXX)
  [[ "$(id -u)" != 0 ]] || chown postgres: "$directory"
  cd "$directory"
  (as_server "$programs/initdb" --pgdata=data --username=postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 \
    --no-sync) >initdb.log 2>&1 || fail "initdb failed: $(cat initdb.log)"
  # The data need not survive this server, so no write waits for the disk.
  as_server "$programs/postgres" -D data -c listen_addresses= -c unix_socket_directories="$directory" \
    -c max_connections=500 -c fsync=off -c full_page_writes=off >server.log 2>&1 &
  server=$!
  until "$programs/pg_isready" --quiet --host="$directory"; do
    kill -0 "$server" 2>/dev/null || fail "PostgreSQL did not start: $(cat server.log)"
    sleep 0.05 # pacing: a poll loop
  done
  cd - >/dev/null
  export TEST_POSTGRES="postgres:///postgres?host=$directory&user=postgres"
  say "PostgreSQL is ready at $TEST_POSTGRES"
}

stop() {
  # A second Ctrl-C must not interrupt the clean-up.
  trap '' INT TERM
  if [[ -n "$command" ]] && kill -TERM -- "-$command" 2>/dev/null; then
    wait "$command" || true
  fi
  # SIGQUIT: immediate shutdown.
  if [[ -n "$server" ]] && kill -QUIT "$server" 2>/dev/null; then
    wait "$server" || true
  fi
  [[ -z "$directory" ]] || rm -rf "$directory"
}

main() {
  local action=${1:-}
  shift || true
  [[ "$action" == needs || ("$action" == run && $# != 0) ]] || fail "usage: server.sh needs, or server.sh run COMMAND..."
  need_server
  # The tests make a certificate.
  need_command openssl openssl
  [[ "$action" == run ]] || return 0
  trap stop EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  # Each job has a separate process group: Ctrl-C reaches this script only, which first terminates the command with its
  # children.
  set -m
  start
  # In the background, so that this script handles a signal at once.
  "$@" <&0 &
  command=$!
  local status=0
  wait "$command" || status=$?
  command=''
  return "$status"
}

main "$@"
