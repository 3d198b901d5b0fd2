# Source this to reach the cluster that up.sh has booted: it sets KUBECONFIG, and puts kubectl on the PATH. A KUBECONFIG of
# your own stays.
# shellcheck shell=bash

# In a shell of its own, so that nothing else of the scripts ends up in the caller's.
read -r KUBECONFIG PATH < <(
  # shellcheck source=e2e/cluster/common.sh
  source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
  printf '%s %s\n' "${KUBECONFIG:-$ADMIN}" "$BIN:$PATH"
)
export KUBECONFIG PATH
