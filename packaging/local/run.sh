#!/usr/bin/env bash
# Runs the service on this machine: SQLite in ./data, workshops as processes, a development identity that is an admin.
# Every setting below can be given in the environment instead, as in: SERVICE_LISTEN_ADDR=127.0.0.1:8001 make run
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

need_rust
packaging/local/venv.sh jupyter packaging/local/jupyter.txt
say "building the launcher"
cargo build --locked --package launcher

export SERVICE_LISTEN_ADDR=${SERVICE_LISTEN_ADDR:-127.0.0.1:8000}
export SERVICE_FLEET=${SERVICE_FLEET:-local}
export SERVICE_DATA_DIR=${SERVICE_DATA_DIR:-./data}
export SERVICE_REQUIRE_AUTHENTICATION=${SERVICE_REQUIRE_AUTHENTICATION:-false}
export SERVICE_DEV_IDENTITY=${SERVICE_DEV_IDENTITY:-dev@example.org}
export SERVICE_ADMIN_EMAILS=${SERVICE_ADMIN_EMAILS:-$SERVICE_DEV_IDENTITY}
export SERVICE_SEED_TEMPLATES=${SERVICE_SEED_TEMPLATES:-packaging/local/templates.json}
export SERVICE_LOCAL_JUPYTER=${SERVICE_LOCAL_JUPYTER:-$PWD/.local/jupyter/bin/jupyter-lab}

say "starting the workshop launcher: ${SERVICE_PUBLIC_URL:-http://localhost:${SERVICE_LISTEN_ADDR##*:}}/ (Ctrl-C stops it)"
exec "$CARGO_TARGET_DIR/debug/launcher" serve
