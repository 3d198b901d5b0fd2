#!/usr/bin/env bash
# sbom.sh launcher|sidecar|material FILESYSTEM FILE: writes the SBOM of an image, in CycloneDX: the crates of its program for this
# architecture, with their licences, and the Debian packages that the image's unpacked files describe.
set -euo pipefail
# shellcheck source=packaging/release/environment.sh
source "$(dirname "$0")/environment.sh"

readonly CYCLONEDX=0.5.9

[[ "$#" == 3 ]] || fail "usage: sbom.sh launcher|sidecar|material FILESYSTEM FILE"
need_rust
need_python
tools=$RELEASE_TOOLS/cargo-cyclonedx-$CYCLONEDX
[[ -x "$tools/bin/cargo-cyclonedx" ]] \
  || cargo install --quiet --locked --root "$tools" --target-dir "$tools/target" "cargo-cyclonedx@$CYCLONEDX" >&2
crate=$1
[[ "$crate" == launcher ]] || crate=launcher-$crate
# The tool writes one file beside the Cargo.toml of each crate of the workspace.
trap 'rm -f crates/*/release-sbom.json' EXIT
"$tools/bin/cargo-cyclonedx" cyclonedx --quiet --manifest-path "crates/$crate/Cargo.toml" --format json \
  --spec-version 1.5 --target "$(rustc --version --verbose | sed -n 's/^host: //p')" --override-filename release-sbom
"$PYTHON" packaging/release/sbom.py "crates/$crate/release-sbom.json" "$2" >"$3"
