#!/usr/bin/env bash
# pictures.sh: makes the pictures of README.md again, and writes them to docs/pictures.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

need_rust
need_python
need_command npm npm
need_chromium
need_command img2webp webp
mkdir -p .local
cd e2e
exec "$PYTHON" -c '
import os, environment
environment.launcher_program()
environment.jupyter()
environment.browser()
os.execvp("node", ["node", "browser/pictures.mjs"])'
