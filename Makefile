# Common tasks of this repository; `make help` lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run test check times ci release-artifacts soak lint fmt generated deny requirements bench pictures clean cluster-up cluster-images cluster-down server-images docs

help: ## list the targets
	@sed -n 's/^\([a-z%-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 26
	@printf '  tiers:%s\n' "$$(sed -n 's/^    \(Tier\|rust\|real\)("\([a-z0-9_]*\)".*/ \2/p' e2e/tiers.py | tr -d '\n')" | fold -s -w 100

run: ## set up everything needed and serve on http://localhost:8000, as an admin, without login
	@exec packaging/local/run.sh

test: ## run every tier that this machine supports, and list the others
	@exec e2e/tiers.sh

test-%: ## run one tier
	@exec e2e/tiers.sh $*

check: ## before a commit: formatting, clippy, the tests of rules, service and API
	@exec e2e/tiers.sh check

times: ## print the durations of the tiers and of the slowest tests, from their last runs on this machine
	@exec e2e/tiers.sh times

# Tiers that need more than a hosted runner:
#   limits                      its latency limits assume CPUs that no other machine shares
#   cluster, chart_live, login  build Kubernetes and Traefik from source, and run a cluster: about half an hour on a fresh machine
#   containers, container_faults, podman, engine_docker, engine_podman, server  Debian 12 packages of Docker and Podman, on a machine without other engines
ci: ## run the tiers that fit a hosted runner of GitHub
	@exec e2e/tiers.sh lint build rules service api simulation sidecar fleet launcher kill9 schemathesis browser measured apps chart scripts make_run

release-artifacts: ## build the files of a release twice, compare them, and put them into target/release-artifacts
	@exec packaging/release/twice.sh

soak: ## long tests: 1,000 launches under kill -9, hours of steady use
	@exec e2e/soak/run.sh

lint: ## formatting, clippy, shell scripts
	@exec e2e/tiers.sh lint build

fmt: ## format the Rust code
	cargo fmt --all

generated: ## write the generated files again: API document, definitions of the cluster, presets, settings, the chart's schema and notices
	cargo run --quiet -p launcher -- openapi > target/openapi.json
	cp target/openapi.json docs/openapi.json
	cargo run --quiet -p launcher-sidecar --example notices -- charts/workshop-launcher/notices
	cargo run --quiet -p launcher -- crd > target/crds.yaml
	cp target/crds.yaml crds/workshops.yaml
	UPDATE_SETTINGS=1 cargo test --quiet -p launcher --bin launcher documents_have_tables
	UPDATE_PRESETS=1 cargo test --quiet -p launcher-api --lib document_lists_the_presets
	e2e/tiers.sh shell 'need_pytest; .local/cluster/bin/python charts/chart_values.py'

deny: ## check licences, advisories and sources of the dependencies; not a tier, because it needs the network
	@command -v cargo-deny >/dev/null || { echo "cargo-deny is missing: cargo install --locked cargo-deny" >&2; exit 1; }
	cargo deny --locked check

requirements: ## pin the Python packages at their current releases
	@exec packaging/local/pin.sh

bench: ## measure in comparison with similar programs, and at growing size; options: make bench BENCH="--rounds 3"
	@exec bench/run.py $(BENCH)

pictures: ## make the pictures of README.md again, with Chromium
	@exec e2e/browser/pictures.sh

cluster-up: ## boot a Kubernetes with real pods on this machine (root), or check the one that TEST_KUBECONFIG names
	@exec e2e/cluster/up.sh

cluster-images: ## build the images and bring them into that cluster
	@exec e2e/cluster/images.sh

cluster-down: ## stop that cluster and revert all its changes to this machine
	@exec e2e/cluster/down.sh

server-images: ## build the images of deploy/server from this checkout into the container engine
	@exec images/server.sh

docs: ## build the book of docs/ in .local/book with mdBook, and check its links
	@exec packaging/docs/build.sh

clean: ## remove builds and downloads in this folder; keep ./data and ~/.cache/workshop-launcher, which clones share
	cargo clean
	rm -rf .local e2e/browser/node_modules
