#!/usr/bin/env bash
# render.sh [write]: renders the chart with two values files of ci/ and compares the results with the folder rendered.
# Also compares the chart's copies from crds and deploy with the originals. `write` rewrites both, and all that tests
# compare with the chart's values: values.schema.json, the tables in docs/helm-*.md, and reached-pods.txt.
set -euo pipefail
# shellcheck source=e2e/login/common.sh
source "$(dirname "$0")/common.sh"

root=$(cd "$login/../.." && pwd)
readonly CHART=$root/charts/workshop-launcher
# The required values, and nearly all values. The tests check objects and fields of the other values files.
readonly RENDERED=(minimal full)
readonly ORIGINALS=(crds/workshops.yaml deploy/rbac.yaml deploy/network-policies.yaml)

# Of every object the same, and of every version another value.
readonly SAME='app\.kubernetes\.io/(version|managed-by)|helm\.sh/chart'

# Kinds that tests compare completely in more sets of values.
readonly COMPARED='Certificate|HTTPRoute|Namespace|PrometheusRule|Role|RoleBinding|Secret|ServiceAccount'

# without_copies: leaves out what tests compare: the kinds of COMPARED, the labels of the release, the definitions (crds), the
# pod of `helm test` (the Deployment of the launcher), and the text of notices (files of the chart). Also leaves out the files
# of nginx, which tests parse and run.
without_copies() {
  awk -v compared="^kind: ($COMPARED|Pod)$" '
    function end() { if (!is_copy) printf "%s", object; object = ""; is_copy = 0; is_file = 0 }
    $0 == "---" { end() }
    $0 ~ compared || /"kind":"CustomResourceDefinition"/ { is_copy = 1 }
    /^[^ ]/ { part = $1 }
    part == "metadata:" && /^    app\.kubernetes\.io\/(name|instance): / { next }
    is_file && /^    / { next }
    { is_file = /^  [a-z.-]+\.(html|conf|sh): \|/; object = object $0 "\n" }
    END { end() }'
}

# render FOLDER: renders one file for each name in RENDERED, independent of the machine: without comments, the labels of
# SAME, the dashboard and other copies of files.
render() {
  local name
  for name in "${RENDERED[@]}"; do
    "$LOGIN_BIN/helm" template workshop-launcher "$CHART" --namespace launcher --kube-version 1.34 \
      --values "$CHART/ci/$name-values.yaml" --set monitoring.dashboard.enabled=false \
      | grep --invert-match --extended-regexp "^ *(#|\$|($SAME):)" | without_copies >"$1/$name.yaml"
  done
}

need_login_programs helm
if [[ "${1:-}" == write ]]; then
  "$root/e2e/tiers.sh" shell 'need_pytest; .local/cluster/bin/python charts/chart_values.py'
  for original in "${ORIGINALS[@]}"; do
    cp "$root/$original" "$CHART/files/"
  done
  rm -rf "$CHART/rendered"
  mkdir "$CHART/rendered"
  render "$CHART/rendered"
  exec "$root/.local/cluster/bin/python" "$login/reach.py"
fi
scratch=$(mktemp --directory)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/rendered" "$scratch/files"
for original in "${ORIGINALS[@]}"; do
  cp "$root/$original" "$scratch/files/"
done
render "$scratch/rendered"
for folder in files rendered; do
  diff --unified --recursive "$CHART/$folder" "$scratch/$folder" >&2 \
    || fail "charts/workshop-launcher/$folder differs from the generated files. To update it: e2e/login/render.sh write"
done
