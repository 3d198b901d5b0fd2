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

# binaries: prints the folder of the programs built from the pinned modules.
binaries() { printf '%s/bin-%s\n' "$CACHE" "$(content_hash "$here"/tools/*/go.{mod,sum} "$here/tools/programs")"; }

BIN=$(binaries)
readonly BIN

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
