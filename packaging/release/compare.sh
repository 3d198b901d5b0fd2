#!/usr/bin/env bash
# compare.sh FIRST SECOND: compares the files of two builds byte by byte. Fails if they differ, and names the files.
set -euo pipefail
# shellcheck source=packaging/release/environment.sh
source "$(dirname "$0")/environment.sh"

[[ "$#" == 2 ]] || fail "usage: compare.sh FIRST SECOND"
for folder; do
  [[ -d "$folder" ]] || fail "$folder does not exist"
  [[ -n "$(find "$folder" -type f -print -quit)" ]] || fail "$folder has no files"
done
diff --recursive --brief "$1" "$2" >&2 \
  || fail "the two builds differ. Compare the files above with diffoscope: https://diffoscope.org"
