#!/usr/bin/env bash
# pictures.sh: makes the pictures of README.md again, and writes them to docs/pictures.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

need_rust
need_command npm npm
need_chromium
need_command img2webp webp
# The options of the test tiers, so that no dependency is built twice.
cargo test --quiet --workspace --all-features --locked --no-run --test program
mkdir -p .local
flock .local/jupyter.lock packaging/local/venv.sh jupyter packaging/local/jupyter.txt
lock=e2e/browser/node_modules/lock-of-what-is-here
if ! cmp --silent e2e/browser/package-lock.json "$lock"; then
  npm --prefix e2e/browser ci --no-audit --no-fund
  cp e2e/browser/package-lock.json "$lock"
fi
CHROMIUM=$(chromium_path) TEST_JUPYTER=$PWD/.local/jupyter/bin/jupyter-lab exec node e2e/browser/pictures.mjs
