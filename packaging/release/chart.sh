#!/usr/bin/env bash
# chart.sh FOLDER LAUNCHER SIDECAR MATERIAL: packs the chart. The last three are references with digests: the defaults
# of the packaged values, so that an installation need not name images, and entries of the chart's list of images.
# SOURCE_URL becomes home and source of the chart. README.md gets the address of the chart in REGISTRY, and links below
# SOURCE_URL. Without SOURCE_URL, such a link becomes its text.
set -euo pipefail
# shellcheck source=packaging/release/environment.sh
source "$(dirname "$0")/environment.sh"

# changed FILE TEXT: fails, because FILE has no place for TEXT.
changed() { fail "$1 has changed: chart.sh finds no place for $2"; }

[[ "$#" == 4 ]] || fail "usage: chart.sh FOLDER LAUNCHER SIDECAR MATERIAL"
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT
chart=$work/workshop-launcher
cp --recursive charts/workshop-launcher "$work/"
# helm would leave these files out. tar packs, because helm writes the current time into the archive.
while read -r ignored; do rm -rf "${chart:?}/${ignored:?}"; done <"$chart/.helmignore"
sed --in-place "/^images:/,/^[a-z]/ {
  s|^  launcher: \"\"\$|  launcher: $2|
  s|^  sidecar: \"\"\$|  sidecar: $3|
  s|^  material: \"\"\$|  material: $4|
}" "$chart/values.yaml"
sed --in-place "s|^  artifacthub.io/images: .*|&\\
    - name: launcher\\
      image: $2\\
    - name: sidecar\\
      image: $3\\
    - name: material\\
      image: $4|" "$chart/Chart.yaml"
for file in values.yaml Chart.yaml; do
  for reference in "$2" "$3" "$4"; do
    [[ "$(grep --count --fixed-strings "$reference" "$chart/$file")" == 1 ]] || changed "$file" "$reference"
  done
done
if [[ -n "$SOURCE_URL" ]]; then
  sed --in-place "s|^type: application\$|&\nhome: $SOURCE_URL\nsources: [$SOURCE_URL]|" "$chart/Chart.yaml"
  grep --quiet --line-regexp --fixed-strings "home: $SOURCE_URL" "$chart/Chart.yaml" || changed Chart.yaml "$SOURCE_URL"
  sed --in-place "s|](\.\./\.\./|]($SOURCE_URL/blob/v$VERSION/|g" "$chart/README.md"
else
  sed --in-place 's|\[\([^]]*\)\](\.\./[^)]*)|\1|g' "$chart/README.md"
fi
address="oci://$REGISTRY/charts/workshop-launcher --version $VERSION"
sed --in-place "s|oci://ghcr.io/OWNER/REPOSITORY/charts/workshop-launcher --version [^ ]*|$address|" "$chart/README.md"
grep --quiet --fixed-strings "$address" "$chart/README.md" || changed README.md "$address"
! grep --quiet --fixed-strings "](.." "$chart/README.md" || fail "README.md has a link that chart.sh does not adapt"
pack "$chart" "$1/workshop-launcher-$VERSION.tgz"
