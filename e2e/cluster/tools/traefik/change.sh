# shellcheck shell=bash
# The clients of DNS providers, the provider for Amazon's containers and the interpreters of plugins, which take more of the
# build than the rest: parts/ has others in their place, which fail. parts/ also has a dashboard, which the module lacks.
rm -r pkg/provider/ecs pkg/plugins/{middlewareyaegi,middlewarewasm,wasip,wasip_mock,providers}.go pkg/observability/logs/wasm.go
sed -i 's|go-acme/lego/v4/providers/dns"|traefik/traefik/v3/pkg/provider/acme/dns"|' pkg/provider/acme/provider.go
# Traefik's own fork, which lacks functions that the other programs call.
go mod edit -replace github.com/gorilla/mux=github.com/containous/mux@v0.0.0-20250523120546-41b6ec3aed59 "$1"
