# What one does with this repository. `make help` lists it.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run test soak lint fmt deny requirements bench clean cluster-up cluster-images cluster-smoke cluster-down

help: ## list the targets
	@sed -n 's/^\([a-z%-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 26
	@sed -n '/^readonly TIERS=(/,/)$$/{s/^ */         /;s/.*TIERS=(/  tiers: /;s/)$$//;p}' e2e/tiers.sh

run: ## set up all it takes and serve on http://localhost:8000, as an admin, without login
	@exec packaging/local/run.sh

test: ## run every tier that this machine can, and say which it cannot
	@exec e2e/tiers.sh

test-%: ## run one tier
	@exec e2e/tiers.sh $*

soak: ## what takes longer: 1,000 launches under kill -9, hours of steady use
	@exec e2e/soak/run.sh

lint: test-lint ## formatting, clippy, shell scripts

fmt: ## format the Rust code
	cargo fmt --all

deny: ## licences, advisories and sources of the dependencies: apart from the tiers, as it asks the network
	@command -v cargo-deny >/dev/null || { echo "cargo-deny is missing: cargo install --locked cargo-deny" >&2; exit 1; }
	cargo deny --locked check

requirements: ## pin the Python packages anew, at their current releases
	@exec packaging/local/pin.sh

bench: ## measure beside the programs that do the same, and as it grows; options: make bench BENCH="--rounds 3"
	@exec bench/run.py $(BENCH)

cluster-up: ## boot a Kubernetes with real pods on this machine (root), or check the one that TEST_KUBECONFIG names
	@exec e2e/cluster/up.sh

cluster-images: ## build the images and bring them into that cluster
	@exec e2e/cluster/images.sh

cluster-smoke: ## show that the cluster works, with timings
	@exec e2e/cluster/smoke.sh

cluster-down: ## stop that cluster and take back all it changed on this machine
	@exec e2e/cluster/down.sh

clean: ## remove what was built and downloaded into this folder; ./data and ~/.cache/workshop-launcher, which clones share, stay
	cargo clean
	rm -rf .local e2e/browser/node_modules
