#!/usr/bin/env bash
# sbom.sh launcher|sidecar|material FILESYSTEM FILE: writes the SBOM of an image, in CycloneDX: the crates of its programs for this
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
# The first program starts the others.
declare -rA PROGRAMS=([launcher]="launcher launcher-material" [sidecar]=launcher-sidecar [material]=launcher-material)
read -ra crates <<<"${PROGRAMS[$1]}"
# The tool writes one file beside the Cargo.toml of each crate of the workspace.
trap 'rm -f crates/*/release-sbom.json' EXIT
"$tools/bin/cargo-cyclonedx" cyclonedx --quiet --manifest-path "crates/${crates[0]}/Cargo.toml" --format json \
  --spec-version 1.5 --target "$(rustc --version --verbose | sed -n 's/^host: //p')" --override-filename release-sbom
boms=("${crates[@]/#/crates/}")
"$PYTHON" packaging/release/sbom.py "$2" "${boms[@]/%//release-sbom.json}" >"$3"
