#!/usr/bin/env bash
# build.sh [launcher|sidecar|material]...: builds the programs of these images, by default all, and prepares a build context for
# each in target/images/NAME: the program, its other files, and the last stage of images/NAME.Dockerfile.
# The first stage of that Dockerfile runs this script. The tests and the server run it on this machine: cargo then keeps
# compiled dependencies, and the image needs no base image.
# LAUNCHER_PROGRAM names an existing launcher program, with launcher-material beside it; the tests use them, because a release
# build takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

readonly TARGET=${CARGO_TARGET_DIR:-target}

# static_program NAME FOLDER: builds a program that contains the C library, so that its image needs no other file. The
# static C library resolves names without other files, by /etc/hosts and DNS. FOLDER/rootfs describes the packages of the
# libraries in the program.
static_program() {
  local host library linker flags
  local -a libraries=()
  [[ "$(cc -print-file-name=libc.a)" == /* ]] \
    || fail "the static C library is missing, which the programs of the images contain. Install it: libc6-dev (Debian, Ubuntu), glibc-static (Fedora)"
  host=$(rustc --version --verbose | sed -n 's/^host: //p')
  # RELR, the packed format of relative relocations: 1 MB less for the launcher. The linker lld knows it on all
  # architectures. rustc contains lld, but uses it by default on x86_64 only.
  flags="-C target-feature=+crt-static -C link-arg=-Wl,-z,pack-relative-relocs"
  linker=$(rustc --print sysroot)/lib/rustlib/$host/bin/gcc-ld
  [[ ! -d "$linker" ]] || flags+=" -C link-arg=-fuse-ld=lld -C link-arg=-B$linker"
  RUSTFLAGS="${RUSTFLAGS:-} $flags" \
    cargo build --quiet --locked --release --package "$1" --bin "$1" --target "$host"
  # Cargo does not remove the symbols of a package whose profile Cargo.toml overrides.
  install -D --strip --mode=755 "$TARGET/$host/release/$1" "$2/$1"
  # The C library, and the library of the compiler. rustc links with the same command.
  for library in libc.a libgcc_eh.a; do libraries+=("$(realpath "$(cc -print-file-name="$library")")"); done
  images/packages.sh "$2/rootfs" "${libraries[@]}"
}

build_sidecar() { static_program launcher-sidecar "$1"; }

# The certificates are those of Mozilla in the program, unless SSL_CERT_FILE names others.
build_material() { static_program launcher-material "$1"; }

# Beside the launcher is the program for its checks of course material. The programs of the tests need the C library of this
# machine.
build_launcher() {
  local library material
  local -a libraries=()
  if [[ -z "${LAUNCHER_PROGRAM:-}" ]]; then
    static_program launcher "$1"
    static_program launcher-material "$1/material"
    material=$1/material/launcher-material
  else
    install -D --strip --mode=755 "$LAUNCHER_PROGRAM" "$1/launcher"
    material=$(dirname "$LAUNCHER_PROGRAM")/launcher-material
    [[ -x "$material" ]] || fail "$material is missing: build it with \`cargo build --package launcher-material\`"
    mapfile -t libraries < <({ ldd "$LAUNCHER_PROGRAM" && ldd "$material"; } | grep --only-matching '/[^ ]*' | sort --unique)
  fi
  install -D --strip --mode=755 "$material" "$1/rootfs/usr/local/bin/launcher-material"
  rm -rf "$1/material"
  for library in "${libraries[@]}"; do
    install -D --mode=755 "$library" "$1/rootfs$library"
  done
  install -D --mode=644 /etc/ssl/certs/ca-certificates.crt "$1/rootfs/etc/ssl/certs/ca-certificates.crt"
  printf 'hosts: files dns\n' >"$1/rootfs/etc/nsswitch.conf"
  printf 'launcher:x:65532:65532::/:/usr/local/bin/launcher\n' >"$1/rootfs/etc/passwd"
  images/packages.sh "$1/rootfs" ca-certificates "${libraries[@]}"
}

# last_stage NAME: prints the last stage of the image's Dockerfile, which copies from the context instead of the first.
last_stage() { sed -n "/^FROM scratch\$/,\$s|--from=build /src/target/images/$1/||;/^FROM scratch\$/,\$p" "images/$1.Dockerfile"; }

need_rust
for name in "${@:-launcher sidecar material}"; do
  # The default is one word of three.
  for one in $name; do
    [[ "$one" =~ ^(launcher|sidecar|material)$ ]] || fail "unknown image $one; valid images: launcher, sidecar, material"
    say "building the program of the image $one"
    rm -rf "${TARGET:?}/images/$one"
    "build_$one" "$TARGET/images/$one"
    last_stage "$one" >"$TARGET/images/$one/Dockerfile"
    say "next: docker build --tag REGISTRY/$one:TAG $TARGET/images/$one"
    say "      docker push REGISTRY/$one:TAG"
    say "      docker inspect --format '{{index .RepoDigests 0}}' REGISTRY/$one:TAG    # images.$one of the chart's values"
  done
done
