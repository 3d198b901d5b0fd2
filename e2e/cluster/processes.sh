# Starts the cluster's processes in the background and stops exactly these, for up.sh and down.sh, which source it.
# shellcheck shell=bash

# start_time PID: when that process began, which tells it from a later one with the same number; nothing for one that has
# ended, even where nobody has taken notice yet.
start_time() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" {print $20}'; }

# start NAME COMMAND...: runs it detached, its output in log/NAME.log, its pid and start time in pid/NAME.
start() {
  local name=$1 pid
  shift
  # 9 is the lock of up.sh and down.sh, which must not outlive them.
  setsid nohup "$@" >"$RUN/log/$name.log" 2>&1 </dev/null 9>&- &
  pid=$!
  printf '%s %s\n' "$pid" "$(start_time "$pid")" >"$RUN/pid/$name"
}

# alive NAME: whether the process started under that name still runs.
alive() {
  local pid began
  read -r pid began <"$RUN/pid/$1" && [[ -n "$began" && "$(start_time "$pid")" == "$began" ]]
} 2>/dev/null

# stop NAME: ends it by force, at once: nothing of what it would tidy up is kept.
stop() {
  local pid _
  alive "$1" || return 0
  read -r pid _ <"$RUN/pid/$1"
  kill -KILL "$pid" 2>/dev/null || true
  while alive "$1"; do sleep 0.02; done
}

# wait_for NAME SECONDS COMMAND...: until the command succeeds; fails, with the log of NAME, when it has ended or after
# so many seconds.
wait_for() {
  local name=$1 deadline=$((SECONDS + $2))
  shift 2
  until "$@" >/dev/null 2>&1; do
    if ! alive "$name" || ((SECONDS > deadline)); then
      tail --lines=20 "$RUN/log/$name.log" >&2
      fail "$name did not come up ($*); all it said is in $RUN/log/$name.log"
    fi
    sleep 0.1
  done
}
