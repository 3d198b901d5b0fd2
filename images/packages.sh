#!/usr/bin/env bash
# packages.sh ROOTFS PACKAGE|FILE...: describes these Debian packages, and the packages of these files, in ROOTFS. Image
# scanners read this description, in the form of the distroless images: var/lib/dpkg/status.d, etc/os-release and
# etc/debian_version. Also copies the licences. On a system without dpkg, ROOTFS stays empty.
set -euo pipefail
# shellcheck source=packaging/local/needs.sh
source "$(dirname "$0")/../packaging/local/needs.sh"

# package_of PACKAGE|FILE: prints the package that owns the file. A merged /usr has two paths for one file.
package_of() {
  local path
  if [[ "$1" != */* ]]; then
    printf '%s\n' "$1"
    return
  fi
  for path in "$1" "/usr$1" "$(realpath "$1")"; do
    dpkg-query --search "$path" 2>/dev/null || true
  done | sed -n "1s/[:,].*//p"
}

rootfs=$1
shift
mkdir -p "$rootfs"
if ! command -v dpkg-query >/dev/null; then
  say "note: this system has no dpkg. Image scanners and the SBOM will not find the packages of $*"
  exit
fi
mkdir -p "$rootfs/var/lib/dpkg/status.d"
for one; do
  package=$(package_of "$one")
  if [[ -z "$package" ]]; then
    say "note: $one belongs to no Debian package. Image scanners and the SBOM will not find it"
    continue
  fi
  dpkg-query --status "$package" >"$rootfs/var/lib/dpkg/status.d/$package"
  # The licence of libgcc has an exception for programs that contain it: they need no copy. The launcher's image has almost
  # no room for it.
  if [[ "$package" != libgcc-* && -f "/usr/share/doc/$package/copyright" ]]; then
    install -D --mode=644 "/usr/share/doc/$package/copyright" "$rootfs/usr/share/doc/$package/copyright"
  fi
done
install -D --mode=644 /etc/os-release "$rootfs/etc/os-release"
# Trivy recognises Debian by this file. Ubuntu also has it, with the version of Debian.
if grep --quiet --line-regexp 'ID=debian' /etc/os-release; then
  install -D --mode=644 /etc/debian_version "$rootfs/etc/debian_version"
fi
