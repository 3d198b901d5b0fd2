#!/usr/bin/env bash
# permissions.sh [write]: asks the cluster for the permissions of each service account of deploy/rbac.yaml. Compares them
# with deploy/permissions.txt, or writes that file.
set -euo pipefail
# shellcheck source=e2e/cluster/common.sh
source "$(dirname "$0")/common.sh"

readonly NAMESPACE=permissions-$$
deploy=$(cd "$here/../../deploy" && pwd)
trap 'kubectl delete namespace "$NAMESPACE" --ignore-not-found --wait=false >/dev/null' EXIT

# permissions ACCOUNT: prints one line for each resource, without the permissions that every account of a cluster has.
permissions() {
  printf '%s\n' "$1"
  kubectl auth can-i --list --no-headers --namespace "$NAMESPACE" --as "system:serviceaccount:$NAMESPACE:$1" \
    --as-group system:serviceaccounts --as-group "system:serviceaccounts:$NAMESPACE" --as-group system:authenticated \
    | awk '$1 !~ /^(\[|selfsubject)/' | sed 's/  */ /g; s/^/  /; s/ \[\] \[\]/:/' | sort
}

kubectl create namespace "$NAMESPACE" >/dev/null
sed "s/namespace: workshops$/namespace: $NAMESPACE/" "$deploy/rbac.yaml" | kubectl apply --filename - >/dev/null
# New roles take effect in the API server with a short delay.
for account in workshop-launcher workshop-operator; do
  until [[ -n "$(permissions "$account" | sed 1d)" ]]; do sleep 0.1; done
done
found=$(permissions workshop-launcher && permissions workshop-operator)
if [[ "${1:-}" == write ]]; then
  printf '%s\n' "$found" >"$deploy/permissions.txt"
else
  diff --unified "$deploy/permissions.txt" <(printf '%s\n' "$found") >&2 \
    || fail "permissions of the service accounts differ from deploy/permissions.txt: fix deploy/rbac.yaml, or update the file: e2e/cluster/permissions.sh write"
fi
