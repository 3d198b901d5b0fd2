#!/usr/bin/env bash
# sign.sh FOLDER: signs a pushed release with cosign, without a key: the images with the images of each architecture, the
# chart, and SHA256SUMS. Attaches each SBOM to the image that it describes. In a workflow, cosign proves its identity by
# the workflow's token; on a developer's machine, by a login in the browser.
set -euo pipefail
# shellcheck source=packaging/release/environment.sh
source "$(dirname "$0")/environment.sh"

[[ "$#" == 1 ]] || fail "usage: REGISTRY=HOST/PATH sign.sh FOLDER"
command -v cosign >/dev/null || fail "cosign is missing: https://docs.sigstore.dev/cosign/system_config/installation/"
need_command skopeo skopeo
need_python
while read -r reference; do cosign sign --yes --recursive "$reference"; done <"$1/images.txt"
for name in launcher sidecar material; do
  digests=$("$PYTHON" packaging/release/oci.py digests "$1/$name-$VERSION.oci.tar")
  while read -r architecture digest; do
    cosign attest --yes --type cyclonedx --predicate "$1/$name-$VERSION-$architecture.cdx.json" "$REGISTRY/$name@$digest"
  done <<<"$digests"
done
chart=$(pushed_digest "$REGISTRY/charts/workshop-launcher:$VERSION")
cosign sign --yes "$REGISTRY/charts/workshop-launcher@$chart"
cosign sign-blob --yes --bundle "$1/SHA256SUMS.sigstore.json" "$1/SHA256SUMS"
