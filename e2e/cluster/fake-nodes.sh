#!/usr/bin/env bash
# fake-nodes.sh COUNT: creates COUNT nodes that only simulate running pods, each with room for 500. While they exist, new
# pods are scheduled on them and not on the real node. 0 deletes them with their pods.
# While they exist, kube-proxy and kube-router of the real node are suspended. They write packet filter rules for all Services
# and pods, and on a real cluster they do not use the processors of the API server.
set -euo pipefail
# shellcheck source=e2e/cluster/common.sh
source "$(dirname "$0")/common.sh"
# shellcheck source=e2e/cluster/processes.sh
source "$here/processes.sh"

fake_node() {
  cat <<YAML
apiVersion: v1
kind: Node
metadata:
  name: fake$1
  annotations: {kwok.x-k8s.io/node: fake}
  labels: {type: fake, kubernetes.io/hostname: fake$1}
status:
  allocatable: {cpu: "500", memory: 2Ti, pods: "500"}
  capacity: {cpu: "500", memory: 2Ti, pods: "500"}
---
YAML
}

readonly AGENTS=(kube-proxy kube-router)

count=${1:?usage: fake-nodes.sh COUNT}
[[ -S "$SOCKET" ]] || fail "no cluster is running on this machine. Start one: make cluster-up"
if [[ "$count" == 0 ]]; then
  kubectl delete node --selector type=fake >/dev/null
  stop kwok
  for agent in "${AGENTS[@]}"; do
    resume "$agent"
  done
  kubectl uncordon "$NODE" >/dev/null
  exit
fi
# Only these nodes need kwok, so build.sh does not build it. Its own go.mod pins the versions of its modules.
if [[ ! -x "$BIN/kwok" ]]; then
  say "building kwok"
  GOBIN=$BIN GOFLAGS='' GOWORK=off CGO_ENABLED=0 go install -trimpath -ldflags '-s -w' sigs.k8s.io/kwok/cmd/kwok@v0.7.0
fi
# The nodes report by leases, as real nodes do: under load, nodes that report by status alone are considered lost.
alive kwok || start kwok "$BIN/kwok" --kubeconfig="$ADMIN" --manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake \
  --node-lease-duration-seconds=40
kubectl cordon "$NODE" >/dev/null
for agent in "${AGENTS[@]}"; do
  suspend "$agent"
done
for number in $(seq "$count"); do
  fake_node "$number"
done | kubectl apply --filename - >/dev/null
# kubectl needs about 0.1 s for each node.
wait_for kwok kubectl wait node --selector type=fake --for=condition=Ready --timeout=5s
