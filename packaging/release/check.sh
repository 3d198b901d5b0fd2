#!/usr/bin/env bash
# check.sh TAG: checks that all files name the version of the tag, and that CHANGELOG.md has its section with a date.
# Prints every difference.
set -euo pipefail
# shellcheck source=packaging/release/environment.sh
source "$(dirname "$0")/environment.sh"

# expect FILE PATTERN TEXT: reports an error unless a line of the file matches the extended regular expression.
expect() {
  grep --quiet --extended-regexp "$2" "$1" && return
  say "error: $1: $3"
  wrong=yes
}

[[ "$#" == 1 ]] || fail "usage: check.sh TAG"
version=${1#v}
pattern=${version//./\\.}
wrong=no
[[ "$1" =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "$1 is not a tag of a release: write it as in v0.1.0"
expect Cargo.toml "^version = \"$pattern\"$" "the version of the workspace is not $version"
expect charts/workshop-launcher/Chart.yaml "^version: $pattern$" "version is not $version"
expect charts/workshop-launcher/Chart.yaml "^appVersion: \"?$pattern\"?$" "appVersion is not $version"
expect deploy/server/versions.env "^LAUNCHER_IMAGE=.*:$pattern$" "the tag of the launcher's image is not $version"
expect deploy/server/versions.env "^SIDECAR_IMAGE=.*:$pattern$" "the tag of the sidecar's image is not $version"
expect deploy/server/versions.env "^MATERIAL_IMAGE=.*:$pattern$" "the tag of the image of course material is not $version"
expect docs/openapi.json "^    \"version\": \"$pattern\"" "the version of the API document is not $version"
others=$(grep --extended-regexp --line-number '(--version |targetRevision: |ref: \{tag: |^ +version=)[0-9]+\.[0-9]+\.[0-9]+' docs/*.md \
  | grep --extended-regexp --invert-match "(--version |targetRevision: |ref: \{tag: | version=)$pattern( |\}|\$)") || true
if [[ -n "$others" ]]; then
  say "error: these lines name another version than $version:"$'\n'"$others"
  wrong=yes
fi
expect CHANGELOG.md "^## $pattern - [0-9]{4}-[0-9]{2}-[0-9]{2}$" "the section \"## $version - YYYY-MM-DD\" is missing, or has no date"
[[ "$wrong" == no ]]
