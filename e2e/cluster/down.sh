#!/usr/bin/env bash
# Stops everything that up.sh started, including pods, and reverts its changes to this machine. Idempotent. Never
# touches a cluster that TEST_KUBECONFIG names. Images and programs stay in the cache.
set -euo pipefail
# shellcheck source=e2e/cluster/common.sh
source "$(dirname "$0")/common.sh"
# shellcheck source=e2e/cluster/processes.sh
source "$here/processes.sh"

# destroy_set SET: retries, because the kernel releases a set shortly after the last rule that named it.
destroy_set() {
  local _
  for _ in {1..100}; do
    ! ipset destroy "$1" 2>/dev/null || return 0
    sleep 0.05 # pacing: a poll loop
  done
  say "keeping the ipset $1: it is still in use"
}

# Removes the rules of kube-proxy and kube-router from the packet filter in one step, and keeps all other rules.
clean_firewall() {
  local family rules set
  for family in iptables ip6tables; do
    type -P "$family-save" >/dev/null || continue
    # Reads all rules first: a grep that stops at its first match would break the pipe and lose the result.
    rules=$("$family-save" 2>/dev/null) || continue
    if [[ "$rules" =~ KUBE-|"--comment workshops " ]]; then
      grep --invert-match -E 'KUBE-|--comment workshops ' <<<"$rules" | "$family-restore" --wait
    fi
  done
  type -P ipset >/dev/null || return 0
  while read -r set; do
    destroy_set "$set"
  done < <(ipset list -name 2>/dev/null | grep -E '^(inet6:)?(KUBE-|kube-router-)')
}

restore_settings() {
  local setting value
  [[ -f "$RUN/settings-before" ]] || return 0
  while read -r setting value; do
    [[ "$(<"/proc/sys/$setting")" == "$value" ]] || echo "$value" >"/proc/sys/$setting"
  done <"$RUN/settings-before"
}

remove_cgroups() {
  find /sys/fs/cgroup -depth -type d -path '*/kubepods*' -exec rmdir {} + 2>/dev/null || true
}

# The network plugins store the results of each pod in a folder outside of $RUN.
remove_network_results() {
  local file pod
  for file in /var/lib/cni/results/workshops-*-eth0; do
    [[ -f "$file" ]] || continue
    pod=${file##*/workshops-}
    rm -f "$file" "/var/lib/cni/results/cni-loopback-${pod%-eth0}-lo"
  done
}

main() {
  if foreign_cluster; then
    say "not stopping the cluster of TEST_KUBECONFIG=$KUBECONFIG: up.sh did not start it"
    return
  fi
  [[ -d "$RUN" ]] || return 0
  need_root "stopping the cluster"
  if [[ "${1:-}" != locked ]]; then
    exec 9>"$CACHE/lock"
    flock 9
  fi
  "$here/second-node.sh" remove
  stop kubelet
  stop_pods "$RUN"
  for part in kwok kube-router kube-proxy scheduler controller-manager apiserver etcd containerd; do
    stop "$part"
  done
  unmount "$RUN"
  ip link delete "$BRIDGE" 2>/dev/null || true
  ip rule delete unreachable iif "$BRIDGE" to "$SERVICE_RANGE" 2>/dev/null || true
  clean_firewall
  restore_settings
  remove_cgroups
  remove_network_results
  rm -rf "$RUN"
}

main "$@"
