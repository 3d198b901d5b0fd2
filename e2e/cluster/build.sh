#!/usr/bin/env bash
# Builds the programs of the cluster from the Go modules pinned in tools/, once: the folder is named after their content. A
# cold build takes some minutes on two cores; Go's cache makes the next version faster. Prints the folder.
set -euo pipefail
# shellcheck source=e2e/cluster/common.sh
source "$(dirname "$0")/common.sh"

[[ ! -f "$BIN/complete" ]] || { printf '%s\n' "$BIN" && exit 0; }
need_go
mkdir -p "$BIN"
exec 8>"$CACHE/build.lock"
flock 8
build_programs "$BIN" etcd kube-{apiserver,controller-manager,scheduler,proxy,router} kubelet kubectl coredns
touch "$BIN/complete"
printf '%s\n' "$BIN"
