#!/usr/bin/env bash
# tarball.sh FILESYSTEMS FOLDER: packs the programs for this architecture, with completion scripts, manual pages and
# licences. FILESYSTEMS/NAME has the unpacked files of the image NAME: the tarball has the programs of the images.
set -euo pipefail
# shellcheck source=packaging/release/environment.sh
source "$(dirname "$0")/environment.sh"

[[ "$#" == 2 ]] || fail "usage: tarball.sh FILESYSTEMS FOLDER"
launcher=$1/launcher/usr/local/bin/launcher
name=workshop-launcher-$VERSION-linux-$ARCHITECTURE
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT
content=$work/$name
mkdir -p "$content/completions" "$content/man/man1"
install --mode=755 "$launcher" "$1/sidecar/launcher-sidecar" "$1/material/launcher-material" "$content/"
"$launcher" completions bash >"$content/completions/launcher.bash"
"$launcher" completions fish >"$content/completions/launcher.fish"
"$launcher" completions zsh >"$content/completions/_launcher"
"$launcher" man "$content/man/man1"
cp CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$content/"
pack "$content" "$2/$name.tar.gz"
