# Builds images as archives and imports them into the cluster; for up.sh and images.sh, which source it. An image has
# inputs_NAME, which prints the files that it depends on, and prepare_NAME FOLDER, which fills its build context.
# shellcheck shell=bash disable=SC2154 # here and the cache's folders come from common.sh

readonly PREFIX=localhost/workshop-launcher
repository=$(cd "${BASH_SOURCE[0]%/*}/../../.." && pwd)

inputs_pause() { printf '%s\n' "$here"/images/pause/{Dockerfile,pause.c}; }
prepare_pause() {
  cc -static -O2 -o "$1/pause" "$here/images/pause/pause.c"
  cp "$here/images/pause/Dockerfile" "$1/"
}

inputs_coredns() { printf '%s\n' "$here/images/coredns/Dockerfile" "$BIN/coredns"; }
prepare_coredns() { cp "$BIN/coredns" "$here/images/coredns/Dockerfile" "$1/"; }

inputs_http() { printf '%s\n' "$here"/images/http/{Dockerfile,go.mod,main.go,attack.go}; }
prepare_http() {
  go_build images/http -ldflags '-s -w' -o "$1/app" .
  cp "$here/images/http/Dockerfile" "$1/"
}

inputs_jupyter() {
  printf '%s\n' "$here"/images/jupyter/{Dockerfile,rootfs.sh,start-notebook.py,jupyter_server_config.py} "$repository/packaging/local/jupyter.txt"
}
prepare_jupyter() {
  "$here/images/jupyter/rootfs.sh" "$repository/packaging/local/jupyter.txt" "$1/rootfs.tar"
  cp "$here/images/jupyter/Dockerfile" "$1/"
}

# Images of the product. cargo builds their programs beforehand, because it knows best which have changed.
product_context() { printf '%s/images/%s\n' "${CARGO_TARGET_DIR:-$repository/target}" "$1"; }
product_inputs() { find "$(product_context "$1")" -type f | sort; }
prepare_product() { cp --recursive "$(product_context "$1")/." "$2/"; }
inputs_launcher() { product_inputs launcher; }
prepare_launcher() { prepare_product launcher "$1"; }
inputs_sidecar() { product_inputs sidecar; }
prepare_sidecar() { prepare_product sidecar "$1"; }
inputs_material() { product_inputs material; }
prepare_material() { prepare_product material "$1"; }

# The image of the program that places course material, with the cluster's certificate authority in place of Mozilla's:
# servers of the tests have certificates of this authority.
inputs_trusting() {
  product_inputs material
  printf '%s\n' "$RUN/pki/ca.crt"
}
prepare_trusting() {
  prepare_product material "$1"
  install --mode=644 "$RUN/pki/ca.crt" "$1/ca.crt"
  printf 'COPY ca.crt /etc/ssl/certs/ca-certificates.crt\n' >>"$1/Dockerfile"
}

# Each build has a temporary image store.
build_image() { # NAME CONTEXT OUT
  local store=$2.store
  local -a buildah=(buildah --root "$store/root" --runroot "$store/run" --storage-driver vfs)
  "${buildah[@]}" bud --quiet --isolation chroot --format docker --tag "$PREFIX/$1:test" "$2" >/dev/null
  "${buildah[@]}" push --quiet "$PREFIX/$1:test" "docker-archive:$3:$PREFIX/$1:test"
  rm -rf "$store"
}

# archive NAME: sets BUILT to the image's archive; builds it if there is none for these inputs.
archive() {
  local name=$1 context
  local -a inputs
  mapfile -t inputs < <("inputs_$name")
  BUILT=$ARCHIVES/$name-$(content_hash "${inputs[@]}").tar
  [[ ! -f "$BUILT" ]] || return 0
  say "building the image $PREFIX/$name:test"
  mkdir -p "$ARCHIVES"
  context=$(mktemp --directory "$ARCHIVES/.$name.XXXXXX")
  "prepare_$name" "$context"
  build_image "$name" "$context" "$context.tar"
  rm -rf "$context" "$ARCHIVES/$name"-*.tar
  mv "$context.tar" "$BUILT"
}

# import_image NAME: imports the image's current content into the cluster, under its name.
import_image() {
  local name=$1 imported=$RUN/imported/$1 context
  archive "$name"
  if ! foreign_cluster; then
    [[ "$(cat "$imported" 2>/dev/null)" != "$BUILT" ]] || return 0
    containers images import "$BUILT" >/dev/null
    mkdir -p "$RUN/imported"
    printf '%s\n' "$BUILT" >"$imported"
    return
  fi
  context=$(kubectl config current-context)
  case "$context" in
    kind-*) kind load image-archive "$BUILT" --name "${context#kind-}" >&2 ;;
    k3d-*) k3d image import "$BUILT" --cluster "${context#k3d-}" >&2 ;;
    *) say "bring this image to the nodes of $context yourself, unless it is there: $BUILT" ;;
  esac
}
