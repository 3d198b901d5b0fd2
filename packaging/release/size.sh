#!/usr/bin/env bash
# size.sh launcher|sidecar|material FOLDER: checks that the unpacked files of an image are not larger than its limit.
set -euo pipefail
# shellcheck source=packaging/release/environment.sh
source "$(dirname "$0")/environment.sh"

# Maximum bytes of all files of an image for amd64. docs/performance.md has the measured sizes.
declare -rA LIMITS=([launcher]=29000000 [sidecar]=3000000 [material]=6000000)

[[ "$#" == 2 && -n "${LIMITS[${1:-none}]:-}" ]] || fail "usage: size.sh launcher|sidecar|material FOLDER"
limit=${LIMITS[$1]}
# No image for arm64 has been measured yet: its instructions have other lengths.
[[ "$ARCHITECTURE" == amd64 ]] || limit=$((limit * 6 / 5))
files=$(find "$2" -type f -printf '%s %P\n' | sort --numeric-sort --reverse)
size=$(awk '{ total += $1 } END { printf "%d", total }' <<<"$files")
say "the files of the image $1 have $size bytes; the limit is $limit"
((size > 0)) || fail "$2 has no files"
((size <= limit)) || fail "the image $1 is too large. Its largest files, in bytes:"$'\n'"$(head --lines=5 <<<"$files")"
