# Names and functions for `up` and `down`, which source this file from the root of the checkout.
# shellcheck shell=bash disable=SC2034

# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

# Name of the cluster, for kind, k3d and minikube.
readonly CLUSTER=workshop-launcher
# All files of a quickstart: the tool and the engine, the secrets, the kubeconfig. `down` removes them.
readonly STATE=$PWD/.local/quickstart
readonly ADDRESS=http://launcher.localhost:8080/
# The port in values.yaml, and the node port of platform/traefik.yaml to which it leads.
readonly PORT=8080 NODE_PORT=30080

# Not the user's own kubeconfig: its current context remains unchanged.
export KUBECONFIG=$STATE/kubeconfig

need_program() { command -v "$1" >/dev/null || fail "$1 is missing: $2"; }

need_tool() {
  case "$1" in
    kind) need_program kind https://kind.sigs.k8s.io ;;
    k3d) need_program k3d https://k3d.io ;;
    minikube) need_program minikube https://minikube.sigs.k8s.io ;;
  esac
}
