#!/usr/bin/env bash
# actionlint.sh FILE...: checks workflows of GitHub Actions, and with ShellCheck the scripts in them. Builds actionlint
# from the Go modules that actionlint/go.mod pins, once for each of their versions: its package on PyPI downloads a
# program from elsewhere.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=packaging/local/needs.sh
source packaging/local/needs.sh

need_go
module=packaging/local/actionlint
program=$PWD/.local/actionlint/$(sed -n 's|^require github.com/rhysd/actionlint ||p' "$module/go.mod")/actionlint
if [[ ! -x "$program" ]]; then
  say "building ${program##*/.local/}"
  (cd "$module" && GOFLAGS=-mod=readonly GOWORK=off CGO_ENABLED=0 go build -o "$program" github.com/rhysd/actionlint/cmd/actionlint)
fi
"$program" "$@"
