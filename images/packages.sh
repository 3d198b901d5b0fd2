#!/usr/bin/env bash
# packages.sh ROOTFS FILE...: describes the Debian packages of these files, and of the certificates, in ROOTFS. Image
# scanners read this description, in the form of the distroless images: var/lib/dpkg/status.d and etc/os-release. Also
# copies the licences. Does nothing on a system without dpkg.
set -euo pipefail

# package_of FILE: prints the package that owns the file. A merged /usr has two paths for one file.
package_of() {
  local path
  for path in "$1" "/usr$1" "$(realpath "$1")"; do
    dpkg-query --search "$path" 2>/dev/null || true
  done | sed -n "1s/[:,].*//p"
}

command -v dpkg-query >/dev/null || exit 0
rootfs=$1
shift
packages=(ca-certificates)
for file; do packages+=("$(package_of "$file")"); done
install -D --mode=644 /etc/os-release "$rootfs/etc/os-release"
mkdir -p "$rootfs/var/lib/dpkg/status.d"
for package in "${packages[@]}"; do
  [[ -n "$package" ]] || continue
  dpkg-query --status "$package" >"$rootfs/var/lib/dpkg/status.d/$package"
  if [[ -f "/usr/share/doc/$package/copyright" ]]; then
    install -D --mode=644 "/usr/share/doc/$package/copyright" "$rootfs/usr/share/doc/$package/copyright"
  fi
done
