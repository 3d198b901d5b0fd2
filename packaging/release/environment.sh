# Settings of a release, for the scripts beside this file, which source it. Equal settings give equal bytes.
# shellcheck shell=bash disable=SC2034
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

VERSION=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
# Full hash of the commit, and its time in seconds since 1970. Sources without Git need both in the environment.
COMMIT=${COMMIT:-$(git rev-parse HEAD)}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct "$COMMIT")}
# For --version. Git would print more characters in a large repository.
LAUNCHER_COMMIT=${COMMIT:0:7}
# Prefix of the images and the chart in the references of the packaged files.
REGISTRY=${REGISTRY:-localhost/workshop-launcher}
# References of images are in lower case.
REGISTRY=${REGISTRY,,}
# URL of the sources, for a label of the images and for Chart.yaml. Registries link an image to its repository by this
# label.
SOURCE_URL=${SOURCE_URL:-}
# Folder of the tools that the scripts build.
RELEASE_TOOLS=${RELEASE_TOOLS:-$PWD/.local/release-tools}
export COMMIT SOURCE_DATE_EPOCH LAUNCHER_COMMIT REGISTRY SOURCE_URL RELEASE_TOOLS
# Sorting, and the modes of new files, must not depend on the caller.
export LC_ALL=C TZ=UTC
umask 022

case "$(uname --machine)" in
  x86_64) ARCHITECTURE=amd64 ;;
  aarch64) ARCHITECTURE=arm64 ;;
  *) fail "releases exist for x86_64 and aarch64 only" ;;
esac

# pack FOLDER ARCHIVE: packs a folder, with its name as first part of each path. The archive depends only on the names,
# modes and contents of the files.
pack() {
  tar --create --directory "$(dirname "$1")" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --mode=u=rwX,go=rX \
    --owner=0 --group=0 --numeric-owner --format=ustar "$(basename "$1")" | gzip --no-name --best >"$2"
}

# pushed_digest REFERENCE: prints the digest that the registry has for a tag. Fails if the registry does not have it.
pushed_digest() {
  local digest
  digest=$(skopeo inspect --raw "docker://$1" | sha256sum | cut --characters=1-64) || return
  printf 'sha256:%s\n' "$digest"
}
