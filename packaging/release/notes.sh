#!/usr/bin/env bash
# notes.sh: prints the section of this version in CHANGELOG.md, without its heading: the notes of the release.
set -euo pipefail
# shellcheck source=packaging/release/environment.sh
source "$(dirname "$0")/environment.sh"

notes=$(awk -v heading="## $VERSION - " 'index($0, "## ") == 1 { found = index($0, heading) == 1; next } found' CHANGELOG.md)
[[ -n "$notes" ]] || fail "CHANGELOG.md has no section \"## $VERSION - DATE\""
printf '%s\n' "$notes" | sed '/./,$!d'
