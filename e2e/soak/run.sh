#!/usr/bin/env bash
# run.sh [MINUTES]: runs 1,000 launches under kill -9, then a soak test of MINUTES (default 60) on this machine. If a
# cluster is running (make cluster-up), it also runs a soak test of MINUTES on the cluster.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

need_rust
need_python
readonly MINUTES=${1:-60} PYTHONS=.local/cluster/bin/python
packaging/local/venv.sh cluster e2e/cluster/tests/requirements.txt
cargo build --quiet --locked --package launcher
cargo build --quiet --locked --release --package launcher
say "starting 1,000 launches under kill -9"
KILL9_ROUNDS=250 "$PYTHONS" -m pytest -s -m kill9 e2e/kill9/test_kill9.py
say "starting a soak test of $MINUTES minutes on this machine"
"$PYTHONS" e2e/soak/soak.py local --minutes "$MINUTES"
# shellcheck source=e2e/cluster/env.sh
source e2e/cluster/env.sh
if ! kubectl get --raw /readyz >/dev/null 2>&1; then
  say "skipping the soak test on a cluster: no cluster is running. Start one: make cluster-up"
  exit
fi
e2e/cluster/images.sh http sidecar
say "starting a soak test of $MINUTES minutes on the cluster"
"$PYTHONS" e2e/soak/soak.py kubernetes --minutes "$MINUTES"
