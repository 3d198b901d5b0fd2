#!/usr/bin/env bash
# second-node.sh ACTION: a second node with real pods, for tests of the loss of a node. The node has a taint, and only
# the images jupyter and sidecar.
#   start    starts the node
#   lose     kills the kubelet and all pods of the node at the same time, as a power cut does. The cluster keeps its Node
#   remove   does the same, and deletes the Node and all its files. Idempotent
set -euo pipefail
# shellcheck source=e2e/cluster/common.sh
source "$(dirname "$0")/common.sh"
# shellcheck source=e2e/cluster/processes.sh
source "$here/processes.sh"
# shellcheck source=e2e/cluster/certificates.sh
source "$here/certificates.sh"

readonly SECOND=node2
readonly FOLDER=$RUN/$SECOND
readonly IMAGES=(pause jupyter sidecar)
# Not the kubelet's default, which the first node uses.
readonly KUBELET_PORT=10260

second_containers() { ctr --address "$FOLDER/containerd.sock" --namespace k8s.io "$@"; }

# cgroups: prints the cgroup of the node's pods, one per hierarchy. Cgroup v2 has a single hierarchy.
cgroups() {
  local hierarchy
  if [[ -f /sys/fs/cgroup/cgroup.controllers ]]; then
    printf '%s\n' "/sys/fs/cgroup/$SECOND"
    return
  fi
  for hierarchy in /sys/fs/cgroup/*/; do
    [[ -L "${hierarchy%/}" ]] || printf '%s\n' "$hierarchy$SECOND"
  done
}

# kubelet_configuration: that of the first node, and the values that differ. Two kubelets must not share a cgroup or a
# folder of logs: each removes what it does not know.
kubelet_configuration() {
  render kubelet.yaml "$FOLDER"
  cat <<YAML
cgroupRoot: /$SECOND
healthzPort: 0
podLogsDir: $FOLDER/pods
port: $KUBELET_PORT
registerWithTaints: [{key: second-node, value: "true", effect: NoSchedule}]
YAML
}

start_node() {
  local image node_ip
  [[ -S "$SOCKET" ]] || fail "no cluster is running on this machine. Start one: make cluster-up"
  remove_node
  node_ip=$(hostname -I | cut --delimiter=' ' --fields=1)
  mkdir -p "$FOLDER"/{kubelet,pods}
  # Both nodes have the same bridge and the same store of pod addresses, so pods reach each other without routes.
  ln -s ../cni ../pki "$FOLDER/"
  cd "$RUN"
  certificate "$SECOND" "/O=system:nodes/CN=system:node:$SECOND" "DNS:$SECOND,IP:$node_ip" 2>log/certificates.log
  kubeconfig "$SECOND"
  render containerd.toml "$FOLDER" >"$FOLDER/containerd.toml"
  start "$SECOND-containerd" containerd --config "$FOLDER/containerd.toml"
  wait_for "$SECOND-containerd" second_containers version
  for image in "${IMAGES[@]}"; do
    second_containers images import "$(<"$RUN/imported/$image")" >/dev/null
  done
  cgroups | xargs mkdir -p
  kubelet_configuration >"$FOLDER/kubelet.yaml"
  start "$SECOND-kubelet" "$BIN/kubelet" --config="$FOLDER/kubelet.yaml" --kubeconfig="$SECOND.conf" \
    --hostname-override="$SECOND" --root-dir="$FOLDER/kubelet" --node-ip="$node_ip" --housekeeping-interval=10m
  wait_for "$SECOND-kubelet" kubectl wait --for=condition=Ready "node/$SECOND" --timeout=1s
}

lose_node() {
  stop "$SECOND-kubelet"
  stop_pods "$FOLDER"
  stop "$SECOND-containerd"
}

remove_node() {
  [[ -d "$FOLDER" ]] || return 0
  lose_node
  # The API server may have stopped already.
  kubectl delete node "$SECOND" --ignore-not-found >/dev/null || true
  unmount "$FOLDER"
  rm -rf "$FOLDER" "$RUN/$SECOND.conf" "$RUN/pid/$SECOND"-*
  cgroups | while read -r folder; do
    find "$folder" -depth -type d -exec rmdir {} + 2>/dev/null || true
  done
}

case "${1:-}" in
  start) start_node ;;
  lose) lose_node ;;
  remove) remove_node ;;
  *) fail "usage: second-node.sh start|lose|remove" ;;
esac
