#!/usr/bin/env bash
# twice.sh: builds the commit twice, in two folders with different names, and compares all files byte by byte. If they
# are equal, puts them into target/release-artifacts. The builds do not read uncommitted changes. Fails at once if a language
# lacks a message.
set -euo pipefail
# shellcheck source=packaging/release/environment.sh
source "$(dirname "$0")/environment.sh"

work=$PWD/target/release-build
artifacts=$PWD/target/release-artifacts
git diff --quiet HEAD || say "note: uncommitted changes are not part of the artifacts"
cargo run --quiet --locked -p launcher-api --example translations -- --complete
rm -rf "$work"
for copy in first second-with-a-longer-name; do
  say "building $copy"
  mkdir -p "$work/$copy/source"
  git archive "$COMMIT" | tar --extract --directory "$work/$copy/source"
  # Each copy has its own target directory. The settings of the release come from environment.sh.
  (
    unset CARGO_TARGET_DIR CARGO_BUILD_BUILD_DIR
    "$work/$copy/source/packaging/release/architecture.sh" "$work/$copy/parts"
    "$work/$copy/source/packaging/release/bundle.sh" "$work/$copy/artifacts" "$work/$copy/parts"
  )
done
packaging/release/compare.sh "$work/first/artifacts" "$work/second-with-a-longer-name/artifacts"
rm -rf "$artifacts"
mv "$work/first/artifacts" "$artifacts"
rm -rf "$work"
say "both builds have the same bytes: $artifacts"
cat "$artifacts/SHA256SUMS"
