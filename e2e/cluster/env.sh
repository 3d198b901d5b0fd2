# Source this to reach the cluster that up.sh booted, or the one that TEST_KUBECONFIG names: it sets KUBECONFIG, and
# puts kubectl on the PATH.
# shellcheck shell=bash

# A subshell, so that the scripts' other definitions do not reach the caller.
read -r KUBECONFIG PATH < <(
  # shellcheck source=e2e/cluster/common.sh
  source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
  printf '%s %s\n' "$KUBECONFIG" "$BIN:$PATH"
)
export KUBECONFIG PATH
