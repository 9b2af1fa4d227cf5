# Every target is a short name for one command; the gate itself is scripts/test.

version := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
ldflags := -s -w -X github.com/bursarhq/bursar/internal/edge/cli.version=$(version)
with_postgres := bin/with-postgres --

.DEFAULT_GOAL := help
.PHONY: help build demo test bench soak race lint fmt openapi examples clean with-postgres

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build bin/bursar
	CGO_ENABLED=0 go build -trimpath -ldflags '$(ldflags)' -o bin/bursar ./cmd/bursar

demo: build ## Build, then run the service with a demo organization
	./bin/bursar demo

test: ## Check and test everything, as CI does
	scripts/test

bench: ## Run the benchmarks
	go run ./bench

# Everything on both databases, and random tests many times with new seeds. "make soak SOAK=10" repeats them ten times as often.
SOAK ?= 1
soak: build with-postgres ## Run the long tests (an hour or more)
	BURSAR_SOAK=$(SOAK) BURSAR_BIN=$(CURDIR)/bin/bursar $(with_postgres) go test -vet=off -timeout 12h -count=1 ./...

# SQLite itself is not instrumented: it is a translation of C that does its own locking, and it would take much longer.
race: build with-postgres ## Run all tests under the race detector (needs gcc; an hour or more)
	CGO_ENABLED=1 BURSAR_BIN=$(CURDIR)/bin/bursar $(with_postgres) \
		go test -race -gcflags=modernc.org/...=-race=false -count=1 -timeout 2h ./...

lint: ## Check formatting, vet and staticcheck only
	scripts/test lint

fmt: ## Format all Go files
	gofmt -w $$(git ls-files --cached --others --exclude-standard -- '*.go')

openapi: ## Rewrite api/openapi.yaml from the routes
	go test ./internal/edge/api -run OpenAPI -update

examples: ## Capture the examples of the API reference again from the demo company
	go test ./internal/edge/docs -run Examples -update

clean: ## Remove what was built
	rm -rf bin

with-postgres:
	scripts/setup
	go build -o bin/ ./internal/db/dbtest/with-postgres
