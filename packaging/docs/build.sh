#!/usr/bin/env bash
# build.sh: builds the book of docs/ in .local/book with mdBook, and checks its links. Installs mdBook in .local first.
# MDBOOK: an installed mdBook. REPOSITORY_URL: links.py describes it.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

readonly VERSION=0.5.4
MDBOOK=${MDBOOK:-$PWD/.local/mdbook-$VERSION/bin/mdbook}

need_python
if ! command -v "$MDBOOK" >/dev/null; then
  need_rust
  say "installing mdBook $VERSION; this takes some minutes"
  cargo install --quiet --locked --root "${MDBOOK%/bin/*}" --version "$VERSION" mdbook
fi
"$MDBOOK" build docs
"$PYTHON" packaging/docs/check.py .local/book
say "the book: .local/book/index.html"
