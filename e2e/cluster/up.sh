#!/usr/bin/env bash
# up.sh [needs]: boots a Kubernetes of one node on this machine: real pods, Services, cluster DNS, enforced
# NetworkPolicies. Needs root, but neither Docker nor a registry. Does nothing if the cluster is up already. With
# TEST_KUBECONFIG set to a cluster of your own, only checks that it answers. Prints how to reach the cluster; `source
# e2e/cluster/env.sh` sets these variables.
# `up.sh needs` only checks the requirements of the cluster and the tests, and installs missing Debian packages if it
# can.
set -euo pipefail
# shellcheck source=e2e/cluster/common.sh
source "$(dirname "$0")/common.sh"
# shellcheck source=e2e/cluster/processes.sh
source "$here/processes.sh"
# shellcheck source=e2e/cluster/certificates.sh
source "$here/certificates.sh"
# shellcheck source=e2e/cluster/images/archives.sh
source "$here/images/archives.sh"

# Requests per second of each of Kubernetes' controllers. Kubernetes' default is 20: controllers that create pods or
# EndpointSlices would then delay the workloads that the tests compare.
readonly CONTROLLER_QPS=${CONTROLLER_QPS:-100}
[[ "$CONTROLLER_QPS" =~ ^[1-9][0-9]{0,4}$ ]] \
  || fail "CONTROLLER_QPS=$CONTROLLER_QPS: expected requests per second, a whole number from 1 to 99999, such as 20"
# Controllers of objects that neither the product nor its tests have.
readonly UNUSED_CONTROLLERS=(
  certificatesigningrequest-approving certificatesigningrequest-cleaner certificatesigningrequest-signing clusterrole-aggregation
  cronjob daemonset device-taint-eviction endpoints endpointslice-mirroring ephemeral-volume horizontal-pod-autoscaler job
  legacy-serviceaccount-token-cleaner persistentvolume-expander replicationcontroller resourceclaim statefulset ttl-after-finished
  validatingadmissionpolicy-status
)
readonly PARTS=(etcd apiserver controller-manager scheduler containerd kubelet kube-proxy kube-router)

check_foreign() {
  kubectl version >&2 || fail "TEST_KUBECONFIG=$KUBECONFIG is set, but that cluster does not answer; unset it to boot a cluster on this machine"
  kubectl auth can-i create namespaces >/dev/null || fail "TEST_KUBECONFIG=$KUBECONFIG must belong to a cluster administrator"
  say "using the cluster of TEST_KUBECONFIG=$KUBECONFIG"
}

need_packages() {
  local package command
  local -a missing=()
  while read -r command package; do
    type -P "$command" >/dev/null || [[ -x "$command" ]] || missing+=("$package")
  done <<'NEEDS'
containerd containerd
runc runc
iptables iptables
ipset ipset
conntrack conntrack
ethtool ethtool
socat socat
/usr/lib/cni/bridge containernetworking-plugins
openssl openssl
ip iproute2
buildah buildah
cc build-essential
NEEDS
  ((${#missing[@]})) || return 0
  can_install || fail "packages are missing. On Debian: apt-get install ${missing[*]}"
  install_packages "${missing[@]}"
}

running() {
  local part
  [[ -f "$RUN/complete" && "$(<"$RUN/complete")" == "$BIN" ]] || return 1
  for part in "${PARTS[@]}"; do
    alive "$part" || return 1
  done
  kubectl get --raw /readyz >/dev/null 2>&1
}

# Kernel settings that the network requires; down.sh restores the old values.
kernel_settings() {
  local setting
  modprobe --quiet br_netfilter 2>/dev/null || true
  for setting in net/bridge/bridge-nf-call-iptables net/ipv4/ip_forward; do
    [[ -f "/proc/sys/$setting" ]] || fail "kernel setting $setting is missing: NetworkPolicies would not be enforced. Load the module br_netfilter"
    printf '%s %s\n' "$setting" "$(<"/proc/sys/$setting")" >>settings-before
    [[ "$(<"/proc/sys/$setting")" == 1 ]] || echo 1 >"/proc/sys/$setting"
  done
  # Traffic from pods to the outside gets the node's address.
  iptables --wait --table nat --append POSTROUTING --source "$POD_RANGE" ! --destination "$POD_RANGE" \
    --match comment --comment workshops --jump MASQUERADE
  # Refuses traffic to a Service address without endpoints, which would otherwise leave by the machine's own routes:
  # kube-router accepts allowed traffic before kube-proxy's reject rule is reached.
  ip rule add unreachable iif "$BRIDGE" to "$SERVICE_RANGE"
}

container_runtime() {
  render containerd.toml >"$RUN/containerd.toml"
  render cni.conflist >cni/10-workshops.conflist
  start containerd containerd --config "$RUN/containerd.toml"
}

control_plane() {
  start etcd "$BIN/etcd" --data-dir etcd --unsafe-no-fsync \
    --listen-client-urls "http://127.0.0.1:$ETCD_PORT" --advertise-client-urls "http://127.0.0.1:$ETCD_PORT" \
    --listen-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" --initial-advertise-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" \
    --initial-cluster "default=http://127.0.0.1:$ETCD_PEER_PORT"
  # The admission plugin is one that OpenShift enables.
  start apiserver "$BIN/kube-apiserver" --etcd-servers="http://127.0.0.1:$ETCD_PORT" --secure-port="$API_PORT" \
    --advertise-address="$node_ip" --service-cluster-ip-range="$SERVICE_RANGE" --authorization-mode=Node,RBAC --allow-privileged \
    --tls-cert-file=pki/apiserver.crt --tls-private-key-file=pki/apiserver.key --client-ca-file=pki/ca.crt \
    --service-account-key-file=pki/sa.pub --service-account-signing-key-file=pki/sa.key \
    --enable-admission-plugins=OwnerReferencesPermissionEnforcement \
    --service-account-issuer=https://kubernetes.default.svc.cluster.local --kubelet-preferred-address-types=InternalIP \
    --kubelet-client-certificate=pki/admin.crt --kubelet-client-key=pki/admin.key
  wait_for apiserver kubectl get --raw /readyz
  start controller-manager "$BIN/kube-controller-manager" --kubeconfig=controller-manager.conf --root-ca-file=pki/ca.crt \
    --kube-api-qps="$CONTROLLER_QPS" --kube-api-burst="$((CONTROLLER_QPS * 3 / 2))" \
    --service-account-private-key-file=pki/sa.key --use-service-account-credentials --leader-elect=false \
    --controllers="$(printf ',-%s-controller' "${UNUSED_CONTROLLERS[@]}" | sed 's/^/*/')"
  start scheduler "$BIN/kube-scheduler" --kubeconfig=scheduler.conf --leader-elect=false
}

node() {
  wait_for containerd containers version
  import_image pause
  import_image coredns
  render kubelet.yaml >"$RUN/kubelet.yaml"
  render kube-proxy.yaml >"$RUN/kube-proxy.yaml"
  start kubelet "$BIN/kubelet" --config="$RUN/kubelet.yaml" --kubeconfig=node.conf --hostname-override="$NODE" \
    --root-dir="$RUN/kubelet" --node-ip="$node_ip" --housekeeping-interval=10m
  start kube-proxy "$BIN/kube-proxy" --config="$RUN/kube-proxy.yaml"
  wait_for kubelet kubectl get node "$NODE"
  # After the node exists: otherwise kube-router would exit, and no policy would be enforced.
  start kube-router "$BIN/kube-router" --kubeconfig="$ADMIN" --hostname-override="$NODE" --service-cluster-ip-range="$SERVICE_RANGE" \
    --run-firewall=true --run-router=false --run-service-proxy=false --metrics-port=0 --health-port=0
  render dns.yaml | kubectl apply --filename - >/dev/null
  wait_for kubelet kubectl wait --for=condition=Ready "node/$NODE" --timeout=1s
  wait_for kube-router iptables --wait --numeric --list KUBE-ROUTER-FORWARD
  wait_for controller-manager kubectl get serviceaccount default
  wait_for kubelet kubectl --namespace kube-system rollout status deployment/coredns --timeout=1s
}

boot() {
  node_ip=$(hostname -I | cut --delimiter=' ' --fields=1)
  mkdir -p "$RUN"/{pki,log,pid,cni,kubelet}
  chmod 700 "$RUN/pki"
  cd "$RUN"
  certificates "$node_ip" 2>log/certificates.log
  kernel_settings
  container_runtime
  control_plane
  node
  printf '%s\n' "$BIN" >complete
}

# Checks the requirements; builds and boots nothing.
needs() {
  if foreign_cluster; then
    check_foreign
    # The tests build their images for a foreign cluster as well.
    [[ "${1:-}" != needs ]] || need_root "building images"
    return
  fi
  need_root "booting a cluster"
  [[ -f "$BIN/complete" ]] || need_go
  need_packages
}

main() {
  local begun
  needs "$@"
  if foreign_cluster || [[ "${1:-}" == needs ]]; then
    return
  fi
  "$here/build.sh" >/dev/null
  mkdir -p "$CACHE"
  exec 9>"$CACHE/lock"
  flock 9
  if running; then
    say "the cluster is already running"
  else
    "$here/down.sh" locked
    begun=$SECONDS
    boot
    say "the cluster is ready after $((SECONDS - begun)) s"
  fi
  # shellcheck disable=SC2016 # PATH is for the shell that reads this
  printf 'export KUBECONFIG=%q PATH=%q:"$PATH"\n' "$ADMIN" "$BIN"
}

main "$@"
