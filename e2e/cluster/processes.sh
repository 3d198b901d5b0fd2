# Starts the cluster's processes in the background and stops only these, for the scripts beside this file, which source
# it.
# shellcheck shell=bash disable=SC2154 # here and the paths come from common.sh

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

# suspend NAME, resume NAME: stops the process for a while. A stopped process can be killed.
suspend() { signal STOP "$1"; }
resume() { signal CONT "$1"; }

# signal SIGNAL NAME: sends a signal to the process if it runs.
signal() {
  local pid _
  alive "$2" || return 0
  read -r pid _ <"$RUN/pid/$2"
  kill "-$1" "$pid"
}

# wait_for NAME COMMAND...: repeats the command until it succeeds. Fails, with the log of NAME, when NAME has exited, or after
# four minutes, which only bound a hang.
wait_for() {
  local name=$1 deadline=$((SECONDS + 240))
  shift
  until "$@" >/dev/null 2>&1; do
    if ! alive "$name" || ((SECONDS > deadline)); then
      tail --lines=20 "$RUN/log/$name.log" >&2
      fail "$name did not become ready (waited for: $*); its log is $RUN/log/$name.log"
    fi
    sleep 0.1 # pacing: a poll loop
  done
}

# render FILE [FOLDER]: prints config/FILE with the values of its @NAMES@. FOLDER has the files of a node: by default $RUN.
render() {
  sed "s|@RUN@|${2:-$RUN}|; s|@SOCKET@|${2:-$RUN}/containerd.sock|; s|@BRIDGE@|$BRIDGE|; s|@POD_RANGE@|$POD_RANGE|; s|@NODE@|$NODE|; \
    s|@DNS_ADDRESS@|$DNS_ADDRESS|" "$here/config/$1"
}

# shims FOLDER: prints the pids of the processes between the pods and the containerd of this node.
shims() {
  local file words
  for file in /proc/[0-9]*/cmdline; do
    words=$({ tr '\0' ' ' <"$file"; } 2>/dev/null) || continue
    if [[ "$words" =~ ^[^\ ]*containerd-shim-runc-v2\ .*"-address $1/containerd.sock " ]]; then
      file=${file#/proc/}
      printf '%s\n' "${file%/cmdline}"
    fi
  done
}

# stop_pods FOLDER: kills all pods of this node. A shim's children are the first processes of its containers; the kernel
# kills the rest with these.
stop_pods() {
  local shim socket
  local -a found
  mapfile -t found < <(shims "$1")
  for shim in "${found[@]}"; do
    pgrep --parent "$shim" | xargs --no-run-if-empty kill -KILL 2>/dev/null || true
  done
  for shim in "${found[@]}"; do
    kill -KILL "$shim" 2>/dev/null || true
  done
  # The shims' sockets are outside of the folder that is removed.
  while read -r socket; do
    rm -f "${socket#unix://}"
  done < <(find "$1/containerd-state" -name address -exec sh -c 'cat "$1"; echo' - {} \; 2>/dev/null)
}

# unmount FOLDER: unmounts everything below this folder.
unmount() {
  awk -v under="$1/" 'index($2, under) == 1 {print $2}' /proc/mounts | sort --reverse \
    | xargs --no-run-if-empty --max-args=1 umount --lazy
}
