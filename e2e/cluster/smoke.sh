#!/usr/bin/env bash
# Shows that the cluster is one: a pod of two containers gets ready, its Service answers by name, a NetworkPolicy keeps
# others out, limits hold; with how long each took. Boots and stops the cluster unless it was up already.
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

# timed WHAT COMMAND...: runs it and says how long it took.
timed() {
  local what=$1 begun=${EPOCHREALTIME/./} took
  shift
  "$@" || fail "$what: failed"
  took=$(((${EPOCHREALTIME/./} - begun) / 1000))
  printf '%6d ms  %s\n' "$took" "$what"
}

# pod NAME WORDS: a pod that runs the app with these words, parted by commas.
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

# workload: a Deployment of two containers and its Service, as the operator makes them.
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

# can POD WORDS...: whether the app in that pod comes to do this; rules take a moment to reach the packet filter.
can() {
  local pod=$1 _
  shift
  for _ in {1..20}; do
    ! k exec "$pod" -- /app "$@" >/dev/null 2>&1 || return 0
    sleep 0.2
  done
  return 1
}

# cannot POD WORDS...: whether it comes to be kept from it.
cannot() {
  local pod=$1 _
  shift
  for _ in {1..20}; do
    # Nothing but the app's own complaint counts: an exec may fail for other reasons.
    [[ ! "$(k exec "$pod" -- /app "$@" 2>&1)" =~ ^no\ (answer|connection): ]] || return 0
    sleep 0.2
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
  # Until it exists, wait would fail at once.
  k rollout status deployment/workshop --timeout=60s >/dev/null
}

out_of_memory() {
  pod hog hog | k apply --filename - >/dev/null
  k wait pod/hog --for='jsonpath={.status.containerStatuses[0].state.terminated.reason}=OOMKilled' --timeout=30s >/dev/null
}

main() {
  ! kubectl get --raw /readyz >/dev/null 2>&1 || was_up=yes
  trap clean_up EXIT
  timed "cluster up" "$here/up.sh" >&2
  timed "images there" "$here/images.sh" http
  kubectl create namespace "$NAMESPACE" >/dev/null
  until k get serviceaccount default >/dev/null 2>&1; do sleep 0.1; done
  timed "a pod of two containers is ready" deploy
  timed "three more pods are ready" visitors
  timed "another pod reaches its Service by name" can stranger get http://workshop/
  timed "and the cluster's API" can captive connect "$API_ADDRESS:443"
  policy | k apply --filename - >/dev/null
  timed "a NetworkPolicy keeps that pod out" cannot stranger get http://workshop/
  timed "and lets its friend in" can friend get http://workshop/
  timed "another keeps a pod from the cluster's API" cannot captive connect "$API_ADDRESS:443"
  timed "a memory limit holds" out_of_memory
  clean_up
  trap - EXIT
  printf 'all of it in %d s\n' "$SECONDS"
}

main "$@"
