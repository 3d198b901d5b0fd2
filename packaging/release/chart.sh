#!/usr/bin/env bash
# chart.sh FOLDER LAUNCHER SIDECAR MATERIAL: packs the chart. The last three are references with digests: the defaults of
# the packaged values, so that an installation need not name images. SOURCE_URL becomes home and source of the chart.
set -euo pipefail
# shellcheck source=packaging/release/environment.sh
source "$(dirname "$0")/environment.sh"

[[ "$#" == 4 ]] || fail "usage: chart.sh FOLDER LAUNCHER SIDECAR MATERIAL"
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT
chart=$work/workshop-launcher
cp --recursive charts/workshop-launcher "$work/"
# helm would leave these files out. tar packs, because helm writes the current time into the archive.
while read -r ignored; do rm -rf "${chart:?}/${ignored:?}"; done <"$chart/.helmignore"
sed --in-place "/^images:/,/^[a-z]/ {
  s|^  # required: references of the two images.*|  # images of this release|
  /^  # like the others: /d
  s|^  launcher: \"\"\$|  launcher: $2|
  s|^  sidecar: \"\"\$|  sidecar: $3|
  s|^  material: \"\"\$|  material: $4|
}" "$chart/values.yaml"
for reference in "$2" "$3" "$4"; do
  [[ "$(grep --count --fixed-strings "$reference" "$chart/values.yaml")" == 1 ]] \
    || fail "values.yaml has changed: chart.sh finds no place for $reference"
done
if [[ -n "$SOURCE_URL" ]]; then
  sed --in-place "s|^type: application\$|&\nhome: $SOURCE_URL\nsources: [$SOURCE_URL]|" "$chart/Chart.yaml"
  grep --quiet --line-regexp --fixed-strings "home: $SOURCE_URL" "$chart/Chart.yaml" \
    || fail "Chart.yaml has changed: chart.sh finds no place for $SOURCE_URL"
fi
pack "$chart" "$1/workshop-launcher-$VERSION.tgz"
