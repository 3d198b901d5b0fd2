#!/usr/bin/env bash
# Smoke test of the cluster: a pod of two containers becomes ready, its Service answers by name, a NetworkPolicy blocks
# other pods, limits hold. Prints the duration of each step. Boots and stops the cluster unless it was up already.
set -euo pipefail
# shellcheck source=e2e/cluster/common.sh
source "$(dirname "$0")/common.sh"

readonly NAMESPACE=smoke-$$
readonly HTTP=localhost/workshop-launcher/http:test
was_up=no

k() { kubectl --namespace "$NAMESPACE" "$@"; }

clean_up() {
  kubectl delete namespace "$NAMESPACE" --ignore-not-found --wait=false >/dev/null 2>&1 || true
  [[ "$was_up" == yes ]] || foreign_cluster || "$here/down.sh"
}

# timed WHAT COMMAND...: runs the command and prints its duration.
timed() {
  local what=$1 begun=${EPOCHREALTIME/./} took
  shift
  "$@" || fail "smoke test failed: $what"
  took=$(((${EPOCHREALTIME/./} - begun) / 1000))
  printf '%6d ms  %s\n' "$took" "$what"
}

# pod NAME WORDS: prints a pod that runs the app with these words, separated by commas.
pod() {
  cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {run: $1}}
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: 0
  securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: app
    image: $HTTP
    args: [$2]
    resources: {limits: {memory: 64Mi}}
    securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
YAML
}

# workload: prints a Deployment of two containers and its Service, as the operator creates them.
workload() {
  cat <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: workshop}
spec:
  selector: {matchLabels: {run: workshop}}
  template:
    metadata: {labels: {run: workshop}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - {name: app, image: $HTTP, args: [serve, "8888"]}
      - name: sidecar
        image: $HTTP
        args: [serve, "8080"]
        readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: workshop}
spec: {selector: {run: workshop}, ports: [{port: 80, targetPort: 8080}]}
YAML
}

policy() {
  cat <<'YAML'
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: workshop}
spec:
  podSelector: {matchLabels: {run: workshop}}
  policyTypes: [Ingress]
  ingress: [{from: [{podSelector: {matchLabels: {run: friend}}}], ports: [{port: 8080}]}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: no-api}
spec:
  podSelector: {matchLabels: {run: captive}}
  policyTypes: [Egress]
  egress: [{to: [{podSelector: {matchLabels: {run: workshop}}}]}]
YAML
}

# can POD WORDS...: true if the app in that pod succeeds in one of 20 attempts; rules reach the packet filter with a
# delay.
can() {
  local pod=$1 _
  shift
  for _ in {1..20}; do
    ! k exec "$pod" -- /app "$@" >/dev/null 2>&1 || return 0
    sleep 0.2 # pacing: a poll loop
  done
  return 1
}

# cannot POD WORDS...: true if the app is blocked in one of 20 attempts.
cannot() {
  local pod=$1 _
  shift
  for _ in {1..20}; do
    # Only the app's own error counts: an exec may fail for other reasons.
    [[ ! "$(k exec "$pod" -- /app "$@" 2>&1)" =~ ^no\ (answer|connection): ]] || return 0
    sleep 0.2 # pacing: a poll loop
  done
  return 1
}

visitors() {
  local name
  for name in stranger friend captive; do
    pod "$name" serve
    printf -- '---\n'
  done | k apply --filename - >/dev/null
  k wait pod/stranger pod/friend pod/captive --for=condition=Ready --timeout=60s >/dev/null
}

deploy() {
  workload | k apply --filename - >/dev/null
  # Not `wait`, which would fail at once before the Deployment exists.
  k rollout status deployment/workshop --timeout=60s >/dev/null
}

out_of_memory() {
  pod hog hog | k apply --filename - >/dev/null
  k wait pod/hog --for='jsonpath={.status.containerStatuses[0].state.terminated.reason}=OOMKilled' --timeout=30s >/dev/null
}

main() {
  ! kubectl get --raw /readyz >/dev/null 2>&1 || was_up=yes
  trap clean_up EXIT
  timed "cluster started" "$here/up.sh" >&2
  timed "images imported" "$here/images.sh" http
  kubectl create namespace "$NAMESPACE" >/dev/null
  until k get serviceaccount default >/dev/null 2>&1; do sleep 0.1; done
  timed "pod with two containers ready" deploy
  timed "three more pods ready" visitors
  timed "pod reaches the Service by its DNS name" can stranger get http://workshop/
  timed "pod reaches the API server" can captive connect "$API_ADDRESS:443"
  policy | k apply --filename - >/dev/null
  timed "NetworkPolicy blocks a pod from the Service" cannot stranger get http://workshop/
  timed "NetworkPolicy allows a permitted pod" can friend get http://workshop/
  timed "NetworkPolicy blocks a pod from the API server" cannot captive connect "$API_ADDRESS:443"
  timed "memory limit enforced" out_of_memory
  clean_up
  trap - EXIT
  printf 'smoke test passed after %d s\n' "$SECONDS"
}

main "$@"
