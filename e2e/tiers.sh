#!/usr/bin/env bash
# tiers.sh [TIER...]: runs these test tiers, or all, and prints a summary.
# A tier with missing requirements is skipped, and reports them and how to get them. With CI=true a skipped tier is a
# failure.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

readonly TIERS=(lint build rules service api sidecar fleet launcher kill9 limits schemathesis browser cluster containers
  login chart chart_live scripts make_run)
# Tiers that often wait, each with tiers that run one after the other at the same time, if they are selected.
declare -rA BESIDE=([service]="api sidecar" [fleet]=launcher [kill9]=schemathesis [cluster]=containers
  [login]="chart chart_live scripts make_run")
readonly LOGS=.local/logs
declare -A DESCRIBED
# Crates whose tests each tier runs.
declare -rA CRATES=(
  [rules]="launcher-domain launcher-trace launcher-workshop launcher-operator"
  [service]="launcher-process launcher-snapshots launcher-store launcher-service launcher-testkit"
  [api]="launcher-api"
  [sidecar]="launcher-sidecar launcher-material"
  [fleet]="launcher-fleet"
  [launcher]="launcher"
)

# Each tier X has a description in DESCRIBED, and the functions needs_X and run_X.

DESCRIBED[lint]="formatting, clippy, shell scripts, Python, workflows"
needs_lint() {
  need_rust
  need_command shellcheck shellcheck
  need_python
}
run_lint() {
  cargo fmt --all --check
  cargo clippy --quiet --workspace --all-targets --all-features --locked -- --deny warnings
  shellcheck --external-sources .ci/run e2e/*.sh e2e/browser/*.sh e2e/cluster/*.sh e2e/cluster/images/*.sh e2e/cluster/images/*/*.sh \
    e2e/containers/*.sh e2e/login/*.sh e2e/postgres/*.sh e2e/server/*.sh e2e/soak/*.sh images/*.sh \
    packaging/docs/*.sh packaging/local/*.sh packaging/release/*.sh quickstart/up quickstart/down quickstart/common.sh
  if command -v go >/dev/null; then
    packaging/local/actionlint.sh .github/workflows/*.yml
  else
    conclude skipped lint/workflows 0 "actionlint is built with Go, which is missing: https://go.dev/dl"
  fi
  "$PYTHON" -m compileall -q e2e/*.py e2e/*/*.py e2e/*/*/*.py e2e/containers/images/*/*.py bench deploy/server/installer \
    packaging/docs packaging/release
}

DESCRIBED[build]="builds everything once, for all tiers below"
needs_build() { need_rust_tests; }
run_build() {
  local -a crates
  build
  read -ra crates <<<"${CRATES[*]}"
  "$PYTHON" e2e/rust_tests.py covered "${crates[@]}"
}

DESCRIBED[rules]="unit and property tests of domain, Workshop and operator"
needs_rules() { need_rust_tests; }
run_rules() { rust_tests rules; }

DESCRIBED[service]="use cases, loops, rows in SQLite and PostgreSQL, process plumbing"
needs_service() {
  need_rust_tests
  e2e/postgres/server.sh needs
}
run_service() {
  local -a crates
  read -ra crates <<<"${CRATES[service]}"
  e2e/postgres/server.sh run "$PYTHON" e2e/rust_tests.py run "${crates[@]}"
}

DESCRIBED[api]="the API and the pages over real HTTP"
needs_api() { need_rust_tests; }
run_api() { rust_tests api; }

DESCRIBED[sidecar]="the sidecar over raw sockets; course material from real and hostile servers"
needs_sidecar() {
  need_rust_tests
  need_command git git
}
run_sidecar() { rust_tests sidecar; }

DESCRIBED[fleet]="the local fleet with real processes and a real JupyterLab"
needs_fleet() { need_rust_tests; }
run_fleet() {
  jupyter
  rust_tests fleet
}

DESCRIBED[launcher]="the program: settings, start, stop, crate dependencies, generated files"
needs_launcher() { need_rust_tests; }
run_launcher() {
  jupyter
  rust_tests launcher
}

DESCRIBED[kill9]="kill -9 at random moments, a locked database, full disks, ends: nothing lost, duplicated or orphaned"
needs_kill9() { need_rust_tests; }
run_kill9() {
  local -a waiting
  launcher_program
  # In the background, because they wait most of the time.
  "$PYTHON" e2e/kill9/locked.py &
  waiting=($!)
  "$PYTHON" e2e/kill9/ends.py &
  waiting+=($!)
  if unshare --mount true 2>/dev/null; then
    "$PYTHON" e2e/kill9/full_store.py &
    waiting+=($!)
  fi
  "$PYTHON" e2e/kill9/secret_values.py
  "$PYTHON" e2e/kill9/kill9.py
  if unshare --mount true 2>/dev/null; then
    "$PYTHON" e2e/kill9/full_disk.py
  else
    conclude skipped kill9/disk 0 "the tests of full disks require root and the right to mount: run this tier as root"
  fi
  for pid in "${waiting[@]}"; do wait "$pid"; done
}

DESCRIBED[limits]="launcher and sidecar in memory cgroups, attacked by 2,000 slow clients"
needs_limits() {
  need_rust_tests
  "$PYTHON" e2e/memory_cgroup.py || fail "memory cgroups require root: run this tier as root"
}
run_limits() {
  launcher_program
  build --quiet --test sidecar
  # Debug builds are several times slower than release builds.
  "$PYTHON" e2e/limits/launcher.py --seconds 15 --p99 9
  "$PYTHON" e2e/limits/sidecar.py --seconds 15 --p99 5
}

DESCRIBED[schemathesis]="fuzzing of the running API by its own OpenAPI document"
needs_schemathesis() { need_rust_tests; }
run_schemathesis() {
  launcher_program
  packaging/local/venv.sh schemathesis e2e/schemathesis/requirements.txt
  .local/schemathesis/bin/python e2e/schemathesis/fuzz.py
}

DESCRIBED[browser]="the pages and JupyterLab in a real Chromium"
needs_browser() {
  need_rust
  need_python
  need_command npm npm
  [[ "$(node --version)" =~ ^v([0-9]+) && "${BASH_REMATCH[1]}" -ge 20 ]] || fail "Node 20 or newer is missing: https://nodejs.org"
  need_command chromium chromium
  need_command git git
}
run_browser() {
  chromium_found
  launcher_program
  jupyter
  npm_packages e2e/browser
  npm --prefix e2e/browser test --silent
}

DESCRIBED[make_run]="make run: set-up, page, JupyterLab, Ctrl-C"
needs_make_run() { need_rust_tests; }
run_make_run() { "$PYTHON" e2e/make_run/make_run.py; }

DESCRIBED[containers]="workshops in containers of Docker and of Podman: attacks, faults, failures, JupyterLab; one server for real"
needs_containers() {
  need_rust_tests
  e2e/containers/images.sh needs || exit
  e2e/server/live.sh needs || exit
  needs_browser
}
run_containers() {
  local name status=0
  local -a pids=()
  chromium_found
  launcher_program
  python_packages
  npm_packages e2e/browser
  SERVER_IMAGES=$(e2e/containers/images.sh)
  export SERVER_IMAGES
  # At the same time, each on a server of its own, because these tests often wait.
  for name in server podman podman_restarts docker docker_restarts; do
    "containers_$name" >"$LOGS/containers-$name.log" 2>&1 &
    pids+=($!)
  done
  for name in "${pids[@]}"; do wait "$name" || status=$?; done
  cat "$LOGS"/containers-*.log
  return "$status"
}

readonly RESTARTS=(test_engine_restart.py test_kill9.py test_launcher_restart.py)

# Programs of the login chain that one server runs.
readonly SERVER_PROGRAMS=(traefik oauth2-proxy dex)

# One server in one compose file, after shorter tests, because its programs may still be built in the background.
containers_server() {
  local status=0
  engine_client docker || status=$?
  on_server docker --images small --data-size 130m test_full_disk.py || status=$?
  build_now
  e2e/server/live.sh docker || status=$?
  return "$status"
}

containers_podman() {
  local status=0
  engine_client podman || status=$?
  on_server podman "${RESTARTS[@]/#/--ignore=}" --ignore=test_lifecycle.py || status=$?
  return "$status"
}

containers_podman_restarts() { on_server podman test_lifecycle.py "${RESTARTS[@]}"; }

containers_docker() { on_server docker "${RESTARTS[@]/#/--ignore=}"; }

containers_docker_restarts() { on_server docker "${RESTARTS[@]}"; }

# engine_client ENGINE: runs the Rust tests of the engine's client on a server with this engine.
engine_client() {
  # shellcheck disable=SC2016 # The shell inside the server expands the variable.
  e2e/containers/server.py --images small "$1" \
    sh -c 'TEST_ENGINE_SOCKET=$SERVER_SOCKET exec "$0" e2e/rust_tests.py run launcher-fleet:containers' "$PYTHON"
}

# on_server ENGINE [OPTION...] [FILE...]: runs the tests of these files on a server with this engine: by default of all
# files except test_full_disk.py, which needs a small disk, and those with --ignore=FILE.
on_server() {
  local engine=$1
  local -a options=() tests=() ignored=(--ignore=e2e/containers/test_full_disk.py)
  shift
  while (($#)); do
    case $1 in
      --ignore=*) ignored+=("--ignore=e2e/containers/${1#*=}") ;;
      *.py) tests+=("e2e/containers/$1") ;;
      *) options+=("$1") ;;
    esac
    shift
  done
  ((${#tests[@]})) || tests=(e2e/containers "${ignored[@]}")
  e2e/containers/server.py "${options[@]}" "$engine" "${CLUSTER_TESTS[@]}" --durations=10 "${tests[@]}"
}

DESCRIBED[cluster]="real pods on a real Kubernetes: journeys, failures, faults, isolation, permissions"
needs_cluster() {
  need_rust_tests
  # `|| exit`, because bash ignores errexit in functions called from a condition.
  e2e/postgres/server.sh needs || exit
  e2e/cluster/up.sh needs || exit
}
run_cluster() {
  launcher_program
  contract_program
  cluster_up
  e2e/cluster/images.sh
  # In parallel, because most of these tests wait for the cluster most of the time.
  e2e/postgres/server.sh run "${CLUSTER_TESTS[@]}" --numprocesses 4 --dist loadfile \
    --no-loadscope-reorder e2e/cluster/tests
}

DESCRIBED[chart]="the Helm chart without a cluster: lint, rendered objects, refused values, alerts; documents"
needs_chart() {
  need_rust_tests
  need_command git git
  e2e/login/build.sh needs
}
run_chart() {
  launcher_program
  python_packages
  login_programs helm promtool
  .local/cluster/bin/python -m pytest --quiet e2e/login/test_*.py
}

DESCRIBED[scripts]="the setup of one server, without an engine; scripts of a release"
needs_scripts() {
  need_python
  need_command openssl openssl
}
run_scripts() {
  python_packages
  .local/cluster/bin/python -m pytest --quiet --numprocesses 2 e2e/server/test_*.py e2e/release/test_*.py
}

DESCRIBED[chart_live]="the Helm chart: acceptance by the API server, nginx attacked by 2,000 clients in a cgroup"
needs_chart_live() {
  needs_cluster || exit
  e2e/login/build.sh needs
}
run_chart_live() {
  cluster_up
  login_programs helm traefik gateway-crds.yaml
  # The tier login uses both processors at the same time, so users wait longer.
  FRONT_ATTACK_P99=5 "${CLUSTER_TESTS[@]}" e2e/login/live
}

DESCRIBED[login]="the installed chart: Traefik, oauth2-proxy, a provider, a real Chromium, forged identities"
needs_login() {
  needs_chart_live || exit
  needs_browser
  # quickstart/up requires it.
  need_command curl curl
}
run_login() {
  chromium_found
  cluster_up
  login_programs
  e2e/cluster/images.sh
  e2e/login/images.sh
  npm_packages e2e/browser
  "${CLUSTER_TESTS[@]}" e2e/login/tests
}

# Functions shared by tiers.

# rust_tests TIER: runs the tests of the tier's crates, as the build tier has built them.
rust_tests() {
  local -a crates
  read -ra crates <<<"${CRATES[$1]}"
  "$PYTHON" e2e/rust_tests.py run "${crates[@]}"
}

need_rust_tests() {
  need_rust
  need_python
  # Tests of TLS create certificates.
  need_command openssl openssl
}

# build [OPTION...]: builds everything with the options that all tiers share, so that no dependency is built twice.
build() { cargo test --workspace --all-features --locked --no-run "$@"; }

# launcher_program: builds only target/debug/launcher and target/debug/launcher-material, with the options of the build
# tier. cargo builds a crate's programs for its integration tests.
launcher_program() { build --quiet --test program --test material; }

# contract_program: builds only target/debug/kubernetes-contract, in the same way.
contract_program() { build --quiet --test fleet_contract; }

# jupyter: installs a JupyterLab, and sets TEST_JUPYTER to its path for the tests.
jupyter() {
  flock .local/jupyter.lock packaging/local/venv.sh jupyter packaging/local/jupyter.txt
  export TEST_JUPYTER=$PWD/.local/jupyter/bin/jupyter-lab
}

# chromium_found: sets CHROMIUM to the installed Chromium, for the browser's tests.
chromium_found() {
  CHROMIUM=$(command -v chromium)
  export CHROMIUM
}

# npm_packages FOLDER: installs the packages of its package-lock.json, unless they are installed.
npm_packages() {
  cmp --silent "$1/package-lock.json" "$1/node_modules/lock-of-what-is-here" && return
  npm --prefix "$1" ci --no-audit --no-fund
  cp "$1/package-lock.json" "$1/node_modules/lock-of-what-is-here"
}

# python_packages: installs the Python packages of the tests with pytest.
python_packages() { flock .local/cluster.lock packaging/local/venv.sh cluster e2e/cluster/tests/requirements.txt; }

# cluster_up: ensures that a cluster is up and that its tests' Python packages are installed.
cluster_up() {
  build_now
  python_packages
  # shellcheck source=e2e/cluster/env.sh
  source e2e/cluster/env.sh
  e2e/cluster/up.sh >/dev/null
}

# stop_cluster_at_exit: all tiers share one cluster. At exit, stops the cluster unless it was up before.
stop_cluster_at_exit() {
  if ! (
    # shellcheck source=e2e/cluster/env.sh
    source e2e/cluster/env.sh
    kubectl get --raw /readyz >/dev/null 2>&1
  ); then
    AT_EXIT+=(e2e/cluster/down.sh)
  fi
}

# build_ahead TIERS: builds the Go programs of the selected tiers in the background, in the order of these tiers, while
# other tiers wait for something. The scheduling class `idle` gives a build only time that no test uses. It reports no
# errors, because the tier that needs a program builds it again. The builds are a process group, which is ended at exit.
build_ahead() {
  local build
  local -a builds=() words
  [[ "$1" =~ \ containers\  ]] && builds+=("e2e/login/build.sh ${SERVER_PROGRAMS[*]}")
  [[ "$1" =~ \ (cluster|chart_live|login)\  ]] && builds+=(e2e/cluster/build.sh)
  [[ "$1" =~ \ chart\  ]] && builds+=("e2e/login/build.sh helm promtool")
  [[ "$1" =~ \ (chart_live|login)\  ]] && builds+=(e2e/login/build.sh)
  [[ "${#builds[@]}" != 0 ]] || return 0
  set -m
  for build in "${builds[@]}"; do
    read -ra words <<<"$build"
    chrt --idle 0 "${words[@]}" || break
  done >"$LOGS/build-ahead.log" 2>&1 </dev/null &
  AHEAD=$!
  AT_EXIT+=("end_group $AHEAD")
  set +m
}

# build_now: gives the builds in the background their share of the CPUs, because a tier now waits for them.
build_now() {
  local pid
  [[ -n "${AHEAD:-}" ]] || return 0
  for pid in $(pgrep --pgroup "$AHEAD"); do chrt --all-tasks --other --pid 0 "$pid" 2>/dev/null || true; done
}

# end_group PID: ends a process group, if it still exists.
end_group() { kill -- "-$1" 2>/dev/null; }

# login_programs [NAME...]: builds these programs, or all, and sets LOGIN_BIN to their folder for the tests.
login_programs() {
  build_now
  LOGIN_BIN=$(e2e/login/build.sh "$@")
  export LOGIN_BIN
}

readonly CLUSTER_TESTS=(.local/cluster/bin/python -m pytest --quiet)

# The runner.

# One line for each result: STATE, SECONDS, TIER and NOTE, separated by tabs.
readonly RESULTS=$LOGS/results

# conclude STATE TIER SECONDS NOTE
conclude() {
  printf '%s\t%s\t%s\t%s\n' "$1" "$3" "$2" "$4" >>"$RESULTS"
  say "== $2: $1 after $3 s"
}

# count STATE: prints the number of results with this state.
count() { cut -f 1 "$RESULTS" | grep -cx "$1" || true; }

run_tier() {
  local tier=$1 start=$SECONDS reason status=0
  local log="$LOGS/$tier.log"
  say ""
  say "== $tier: ${DESCRIBED[$tier]}"
  # Checks the needs in a subshell, because a missing one exits; then again here, for the variables that they set.
  if ! ("needs_$tier") 2>"$log"; then
    reason=$(tail -n 1 "$log")
    conclude skipped "$tier" "$((SECONDS - start))" "${reason#error: }"
    return
  fi
  "needs_$tier"
  # Not in a condition: there, bash would ignore errexit inside the tier.
  set +e
  (
    set -e
    "run_$tier"
  ) 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  set -e
  if [[ "$status" == 0 ]]; then
    conclude passed "$tier" "$((SECONDS - start))" "${DESCRIBED[$tier]}"
  else
    conclude FAILED "$tier" "$((SECONDS - start))" "exit status $status, full output in $log"
  fi
}

# run_beside TIER OTHER...: runs TIER, and at the same time the others, one after the other. Prints the output of the
# others after the output of TIER.
run_beside() {
  local first=$1 other
  local output=$LOGS/beside-$first.output
  shift
  for other in "$@"; do run_tier "$other"; done >"$output" 2>&1 &
  run_tier "$first"
  wait $!
  cat "$output" >&2
}

# print_failures: prints the failed tests of each failed tier and their errors, as pytest, cargo and node name them: at
# most 40 lines a tier.
print_failures() {
  local tier
  while read -r tier; do
    printf '\nFailures of the tier %s:\n' "$tier"
    grep -E '^(FAILED|ERROR|E  |thread .* panicked|not ok|✖)|(^test .*| ---) FAILED$|: error:|^error' "$LOGS/$tier.log" | head -n 40 || true
  done < <(awk -F '\t' '$1 == "FAILED" { print $3 }' "$RESULTS")
}

# Commands to run at exit, in this order.
declare -a AT_EXIT=()
at_exit() {
  local command
  for command in "${AT_EXIT[@]}"; do $command || true; done
}

main() {
  local tier other selected=" ${*:-${TIERS[*]}} "
  local -a beside
  mkdir -p "$LOGS"
  : >"$RESULTS"
  for tier in $selected; do
    [[ " ${TIERS[*]} " == *" $tier "* ]] || fail "unknown tier $tier; valid tiers: ${TIERS[*]}"
  done
  trap at_exit EXIT
  [[ "$selected" =~ \ (cluster|chart_live|login)\  ]] && stop_cluster_at_exit
  for tier in $selected; do
    # Skips a tier that has run beside another one.
    [[ "$selected" == *" $tier "* ]] || continue
    beside=()
    for other in ${BESIDE[$tier]:-}; do
      if [[ "$selected" == *" $other "* ]]; then
        beside+=("$other")
        selected=${selected/ $other / }
      fi
    done
    if ((${#beside[@]})); then run_beside "$tier" "${beside[@]}"; else run_tier "$tier"; fi
    # The build tier uses all CPUs. The later tiers often wait.
    [[ "$tier" != build ]] || build_ahead " ${*:-${TIERS[*]}} "
  done
  printf '\nTiers:\n'
  awk -F '\t' '{ printf "  %-8s %5d s  %-13s %s\n", $1, $2, $3, $4 }' "$RESULTS"
  print_failures
  printf '%d passed, %d failed, %d skipped\n' "$(count passed)" "$(count FAILED)" "$(count skipped)"
  if [[ "$(count skipped)" != 0 && "${CI:-}" == true ]]; then
    fail "skipped tiers: $(count skipped), which is a failure with CI=true"
  fi
  [[ "$(count FAILED)" == 0 && "$(count passed)" != 0 ]]
}

main "$@"
