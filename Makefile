# One line a target; `make` alone lists them.

TOOL    := go tool -modfile=tools.mod
CLIENTS := integration/clients
# The race runtime would sleep a second at the end of each program that a test starts.
export GORACE := atexit_sleep_ms=0

.PHONY: help build demo test race lacks check format vet static tidy generated bench clients images vuln

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build the servers into bin/
	go build -trimpath -o bin/ ./cmd/...

demo: ## build the servers and show them at work on this tree
	go run ./integration/demo

test: lacks ## run all tests, then pkg and internal again with the race detector
	go test -timeout 30m -shuffle=on ./...
	@$(MAKE) --no-print-directory race

race:
	@if command -v gcc >/dev/null || [ "$$REQUIRE_ALL" = 1 ]; then \
		set -x; go test -race -timeout 30m -shuffle=on ./pkg/... ./internal/...; \
	else echo "left out: the race detector needs gcc"; fi

# Tests that need one of these are skipped without it, or fail with REQUIRE_ALL=1; those that
# need an engine or its images also with REQUIRE_DOCKER=1.
lacks:
	@for tool in git rg gcc node nginx patch busybox; do \
		command -v $$tool >/dev/null || echo "this machine lacks $$tool: tests that need it are left out"; \
	done
	@docker version >/dev/null 2>&1 || echo "this machine lacks a Docker engine: tests that need it are left out"
	@docker image inspect toolhost-test/busybox toolhost-test/debian >/dev/null 2>&1 || \
		echo "the engine lacks the images of tests: make images"
	@test -d $(CLIENTS)/node_modules || echo "this machine lacks the clients of others: make clients"

check: format vet static tidy generated ## formatting, vet on three systems, staticcheck, tidy, generated files

format:
	@out=$$($(TOOL) gofumpt -d $$(git ls-files '*.go')) || exit 1; \
	[ -z "$$out" ] || { echo "$$out"; echo "hint: $(TOOL) gofumpt -w ."; exit 1; }

vet:
	go vet ./...
	GOOS=darwin go vet ./...
	GOOS=windows go vet ./...

static:
	$(TOOL) staticcheck ./...

tidy:
	go mod tidy -diff

# What is generated must be what is committed, or at least what lies in the tree.
generated:
	@state() { git status --porcelain; git diff; }; before=$$(state); \
	go generate ./... || exit 1; \
	[ "$$before" = "$$(state)" ] || { git status --short; echo "go generate changed these: commit them"; exit 1; }

bench: ## measure servers against a minimal go-sdk server, patches against git apply, commands against docker exec (ten minutes)
	go run ./integration/bench

clients: ## install the clients of others that integration tests drive
	cd $(CLIENTS) && npm ci

images: ## make the images that tests of the sandbox run in (needs Debian's apt and an engine)
	integration/engine/images.sh

vuln: ## look for known vulnerabilities (needs the network)
	$(TOOL) govulncheck ./...
