#!/usr/bin/env bash
# rootfs.sh REQUIREMENTS OUT.tar: Debian's Python with a virtual environment of exactly these pinned packages.
set -euo pipefail
# shellcheck source=e2e/cluster/common.sh
source "$(dirname "$0")/../../common.sh"

readonly SUITE=trixie
requirements=$1 out=$2

need_root "a root file system"
need_command mmdebstrap mmdebstrap
work=$(mktemp --directory --tmpdir=/var/tmp)
trap 'rm -rf "$work"' EXIT

# pip's input files are copied in and removed again. The machine may need its own certificates to reach PyPI.
mkdir "$work/pip"
cp "$requirements" "$work/pip/requirements.txt"
cp "${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}" "$work/pip/certificates.crt"
cat >"$work/install.sh" <<SH
set -eu
cp --recursive "$work/pip" "\$1/pip"
install --mode=755 "$here/images/jupyter/start-notebook.py" "\$1/usr/local/bin/start-notebook.py"
install -D --mode=644 "$here/images/jupyter/jupyter_server_config.py" "\$1/etc/jupyter/jupyter_server_config.py"
chroot "\$1" env --unset=PIP_FIND_LINKS HOME=/root PIP_CERT=/pip/certificates.crt REQUESTS_CA_BUNDLE=/pip/certificates.crt \\
  sh -eu -c '
  python3 -m venv /opt/jupyter
  /opt/jupyter/bin/python -m pip install --quiet --disable-pip-version-check --no-input --no-cache-dir --no-deps \
    --no-compile --require-hashes --only-binary :all: --requirement /pip/requirements.txt
  # mmdebstrap changes times of files. Python would compile files whose time has changed at each start of a workshop.
  /opt/jupyter/bin/python -m compileall -q --invalidation-mode unchecked-hash /opt/jupyter/lib
  groupadd --gid 1000 jovyan
  useradd --uid 1000 --gid 1000 --create-home --shell /bin/bash jovyan'
cd "\$1"
rm -rf pip usr/share/doc usr/share/man usr/share/locale var/lib/apt/lists/*
SH
# The hook gets the root file system's folder as $1.
# shellcheck disable=SC2016
mmdebstrap --quiet --variant=minbase --include=python3,python3-venv --customize-hook="sh $work/install.sh \"\$1\"" \
  "$SUITE" "$work/rootfs.tar"
mv "$work/rootfs.tar" "$out"
