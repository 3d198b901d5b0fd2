# Source this to reach the cluster that up.sh has booted: it sets KUBECONFIG, and puts kubectl on the PATH. With
# TEST_KUBECONFIG that one is it.
# shellcheck shell=bash

# In a shell of its own, so that nothing else of the scripts ends up in the caller's.
read -r KUBECONFIG PATH < <(
  # shellcheck source=e2e/cluster/common.sh
  source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
  printf '%s %s\n' "$KUBECONFIG" "$BIN:$PATH"
)
export KUBECONFIG PATH
