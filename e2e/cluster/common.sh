# Paths and addresses of the test cluster, for the scripts beside this file, which source it.
# shellcheck shell=bash disable=SC2034

# A function that fails in $(...) ends the script, as it does elsewhere.
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=packaging/local/needs.sh
source "$here/../../packaging/local/needs.sh"

readonly CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/workshop-launcher/cluster
# All files of a booted cluster; down.sh removes them.
readonly RUN=$CACHE/run
readonly ADMIN=$RUN/admin.conf
# Images as archives, one per name and content.
readonly ARCHIVES=$CACHE/images

readonly NODE=node1
readonly BRIDGE=workshops0
readonly POD_RANGE=10.244.0.0/22
readonly SERVICE_RANGE=10.96.0.0/16
readonly API_ADDRESS=10.96.0.1
readonly DNS_ADDRESS=10.96.0.10
# Not the defaults 6443, 2379 and 2380: another cluster may run on this machine.
readonly API_PORT=16443
readonly ETCD_PORT=12379
readonly ETCD_PEER_PORT=12380
readonly SOCKET=$RUN/containerd.sock

# content_hash FILE...: prints a short hash of the files' content, independent of their paths.
content_hash() { sha256sum "$@" | cut --delimiter=' ' --fields=1 | sha256sum | head --bytes=16; }

# content_of_tools: prints a hash of the pinned modules.
content_of_tools() {
  local -a pins
  readarray -d '' -t pins < <(find "$here/tools" -type f -print0 | sort --zero-terminated)
  content_hash "${pins[@]}"
}

# The folder of the programs built from the pinned modules.
BIN=$CACHE/bin-$(content_of_tools)
readonly BIN

# module_directory MODULE: downloads the module, checks it against go.sum, and prints its directory.
module_directory() {
  (cd "$here/tools" && GOFLAGS=-mod=readonly GOWORK=off go mod download -json "$1") \
    | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'
}

# go_build FOLDER FLAG...: runs `go build` in a folder of this one. All programs have the same versions, flags and tags, so
# that Go's cache compiles a package once for all of them, without debugging information. They link no C, so that they also
# run in an image that holds nothing else. The tag remove_all_sd leaves out the clouds in which a Prometheus would look for
# targets. The compiler collects garbage only above 2 GiB. The caller's Go settings must not change the build.
go_build() {
  (cd "$here/$1" && GOFLAGS=-mod=readonly GOWORK=off CGO_ENABLED=0 GOGC=off GOMEMLIMIT=2GiB \
    go build -trimpath -buildvcs=false -gcflags=all=-dwarf=false -tags netgo,osusergo,remove_all_sd "${@:2}")
}

# changed_source NAME MODULE WORK: copies the module, completes the copy by tools/NAME/parts, changes it by
# tools/NAME/change.sh, and writes the go.mod of a build with the copy to the folder WORK.
changed_source() {
  local tool=$here/tools/$1 module
  module=$(module_directory "$2")
  mkdir "$3"
  cp "$here/tools/go.mod" "$here/tools/go.sum" "$3"
  cp --recursive --no-preserve=mode "$module" "$3/source"
  go mod edit -replace "${2%@*}=$3/source" "$3/go.mod"
  (cd "$3/source" && bash -e "$tool/change.sh" "$3/go.mod")
  [[ ! -d "$tool/parts" ]] || cp --recursive "$tool/parts/." "$3/source"
}

# build_programs FOLDER NAME...: builds those of these programs of tools/programs that the folder lacks.
build_programs() {
  local folder=$1 work=$1/new name package changed version major minor stamp
  local -a flags unchanged=()
  shift
  rm -rf "$work"
  mkdir -p "$work"
  # Kubernetes gets its version from the linker; the other programs have none of these variables.
  version=$(sed -n 's|^\tk8s.io/kubernetes v||p' "$here/tools/go.mod")
  IFS=. read -r major minor _ <<<"$version"
  stamp=k8s.io/component-base/version
  flags=(-ldflags "-s -w -X $stamp.gitVersion=v$version -X $stamp.gitMajor=$major -X $stamp.gitMinor=$minor")
  while read -r name package changed; do
    [[ " $* " == *" $name "* && ! -x "$folder/$name" ]] || continue
    if [[ -z "$changed" ]]; then
      unchanged+=("$package")
      continue
    fi
    say "building $name"
    changed_source "$name" "$changed" "$work/$name.work"
    # The move makes a program appear complete or not at all.
    go_build tools -modfile "$work/$name.work/go.mod" -ldflags '-s -w' -o "$work/$name" "$package"
    mv "$work/$name" "$folder/$name"
    rm -rf "$work/$name.work"
  done < <(grep --invert-match '^#' "$here/tools/programs")
  if ((${#unchanged[@]})); then
    say "building ${unchanged[*]}"
    go_build tools "${flags[@]}" -o "$work/" "${unchanged[@]}"
    # The program of etcd's module is named after its folder.
    [[ ! -e "$work/server" ]] || mv "$work/server" "$work/etcd"
    mv "$work"/* "$folder"
  fi
  rmdir "$work"
}

# Overrides an exported KUBECONFIG: it may name a cluster in use.
export KUBECONFIG=${TEST_KUBECONFIG:-$ADMIN}

# foreign_cluster: true if TEST_KUBECONFIG names a cluster that the developer provides.
foreign_cluster() { [[ -n "${TEST_KUBECONFIG:-}" ]]; }

# kubectl: our own build for our own cluster; for a developer's cluster, the installed kubectl if there is one.
kubectl() {
  if foreign_cluster && type -P kubectl >/dev/null; then
    command kubectl "$@"
  else
    "$BIN/kubectl" "$@"
  fi
}

containers() { ctr --address "$SOCKET" --namespace k8s.io "$@"; }

need_root() { [[ "$(id -u)" == 0 ]] || fail "$1 requires root"; }

# release_images NAME...: builds these images of the product. Without fat LTO, which takes most of the build and changes no
# behaviour, and without clippy.
release_images() {
  env --unset RUSTC_WORKSPACE_WRAPPER CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    "$here/../../images/build.sh" "$@" >&2
}
