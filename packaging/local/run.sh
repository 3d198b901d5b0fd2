#!/usr/bin/env bash
# Runs the service on this machine: SQLite in ./data, workshops as processes, a development identity that is an admin.
# With SERVICE_FLEET=containers, workshops run in containers of Docker or Podman, with their files in ./data-containers.
# Every setting below can be given in the environment instead, as in: SERVICE_LISTEN_ADDR=127.0.0.1:8001 make run
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

# engine_answers ENGINE SOCKET: fails if no engine answers at the socket within 5 seconds. An engine that ended can leave
# its socket, and `podman version` without a socket answers although nothing listens.
engine_answers() {
  local -a words=(docker --host "unix://$2")
  [[ "$1" == docker ]] || words=(podman --remote --url "unix://$2")
  timeout 5 "${words[@]}" version --format '{{.Server.Version}}' >/dev/null 2>&1
}

# engine_found: sets ENGINE to the command of a container engine, and SERVICE_ENGINE_SOCKET to its socket, unless they
# are set. Fails if no engine answers.
engine_found() {
  local engine socket
  if [[ -n "${SERVICE_ENGINE_SOCKET:-}" ]]; then
    ENGINE=${ENGINE:-$(command -v docker || command -v podman)}
    return
  fi
  for engine in docker podman; do
    command -v "$engine" >/dev/null || continue
    for socket in "/run/$engine.sock" "/run/$engine/$engine.sock" "${XDG_RUNTIME_DIR:-/run}/$engine/$engine.sock"; do
      if [[ -w "$socket" ]] && engine_answers "$engine" "$socket"; then
        ENGINE=$engine
        SERVICE_ENGINE_SOCKET=$socket
        return
      fi
    done
  done
  return 1
}

need_rust
export SERVICE_FLEET=${SERVICE_FLEET:-local}
if [[ "$SERVICE_FLEET" == containers ]]; then
  engine_found || fail "no container engine answers. Start Docker or Podman, and give this user access to its socket"
  export ENGINE SERVICE_ENGINE_SOCKET
  images/server.sh sidecar material
  SERVICE_SIDECAR_IMAGE=${SERVICE_SIDECAR_IMAGE:-$(sed -n 's/^SIDECAR_IMAGE=//p' deploy/server/versions.env)}
  SERVICE_MATERIAL_IMAGE=${SERVICE_MATERIAL_IMAGE:-$(sed -n 's/^MATERIAL_IMAGE=//p' deploy/server/versions.env)}
  export SERVICE_SIDECAR_IMAGE SERVICE_MATERIAL_IMAGE
  export SERVICE_DATA_DIR=${SERVICE_DATA_DIR:-./data-containers}
else
  packaging/local/venv.sh jupyter packaging/local/jupyter.txt
fi
# The local fleet runs launcher-material, which it expects beside the launcher.
say "building the launcher"
cargo build --locked --package launcher --package launcher-material

export SERVICE_LISTEN_ADDR=${SERVICE_LISTEN_ADDR:-127.0.0.1:8000}
export SERVICE_DATA_DIR=${SERVICE_DATA_DIR:-./data}
export SERVICE_REQUIRE_AUTHENTICATION=${SERVICE_REQUIRE_AUTHENTICATION:-false}
export SERVICE_DEV_IDENTITY=${SERVICE_DEV_IDENTITY:-dev@example.org}
export SERVICE_ADMIN_EMAILS=${SERVICE_ADMIN_EMAILS:-$SERVICE_DEV_IDENTITY}
export SERVICE_SEED_TEMPLATES=${SERVICE_SEED_TEMPLATES:-packaging/local/templates.json}
export SERVICE_LOCAL_JUPYTER=${SERVICE_LOCAL_JUPYTER:-$PWD/.local/jupyter/bin/jupyter-lab}

if [[ "$SERVICE_FLEET" == local ]] && engine_found; then
  say "a container engine answers at $SERVICE_ENGINE_SOCKET. To run workshops in containers: SERVICE_FLEET=containers make run"
fi
say "starting the workshop launcher: ${SERVICE_PUBLIC_URL:-http://localhost:${SERVICE_LISTEN_ADDR##*:}}/ (Ctrl-C stops it)"
exec "$CARGO_TARGET_DIR/debug/launcher" serve
