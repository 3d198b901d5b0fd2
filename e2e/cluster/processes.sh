# Starts the cluster's processes in the background and stops only these, for up.sh and down.sh, which source it.
# shellcheck shell=bash

# start_time PID: prints the process' start time, which distinguishes it from a later process with the same pid. Prints
# nothing for an exited process, including a zombie.
start_time() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" {print $20}'; }

# start NAME COMMAND...: runs the command detached, with output to log/NAME.log, and pid and start time in pid/NAME.
start() {
  local name=$1 pid
  shift
  # Closes 9, the lock of up.sh and down.sh: the process must not hold it after they exit.
  setsid nohup "$@" >"$RUN/log/$name.log" 2>&1 </dev/null 9>&- &
  pid=$!
  printf '%s %s\n' "$pid" "$(start_time "$pid")" >"$RUN/pid/$name"
}

# alive NAME: true if the process started under that name still runs.
alive() {
  local pid began
  read -r pid began <"$RUN/pid/$1" && [[ -n "$began" && "$(start_time "$pid")" == "$began" ]]
} 2>/dev/null

# stop NAME: kills it without a graceful stop, because all its files are removed anyway.
stop() {
  local pid _
  alive "$1" || return 0
  read -r pid _ <"$RUN/pid/$1"
  kill -KILL "$pid" 2>/dev/null || true
  while alive "$1"; do sleep 0.02; done
}

# wait_for NAME SECONDS COMMAND...: repeats the command until it succeeds. Fails, with the log of NAME, when NAME has
# exited or after SECONDS.
wait_for() {
  local name=$1 deadline=$((SECONDS + $2))
  shift 2
  until "$@" >/dev/null 2>&1; do
    if ! alive "$name" || ((SECONDS > deadline)); then
      tail --lines=20 "$RUN/log/$name.log" >&2
      fail "$name did not become ready (waited for: $*); its log is $RUN/log/$name.log"
    fi
    sleep 0.1
  done
}
