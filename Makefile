# Two commands are all that a newcomer needs: `make run` and `make test`.

GO     ?= go
GOARCH := $(shell $(GO) env GOARCH)

# Everything is pure Go, so that bin/iotax is one static file for any host.
export CGO_ENABLED := 0

REVISION := $(shell git describe --always --dirty --abbrev=12 2>/dev/null)
CLI      := github.com/iotax/iotax/internal/cli
LDFLAGS  := -s -w -X $(CLI).revision=$(REVISION)
AGENT    := internal/guest/embedded/agent-$(GOARCH)

# Tools are run at exactly these versions and are no dependency of the program.
GOFUMPT     := mvdan.cc/gofumpt@v0.12.0
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOTESTSUM   := gotest.tools/gotestsum@v1.13.0

TESTS    ?= ./...
FUZZTIME ?= 10s

.DEFAULT_GOAL := help

.PHONY: help
help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

.PHONY: setup
setup: ## install what is missing of QEMU, fio and ioping
	@sh scripts/setup.sh

# What tests use and iotax does not: those that need one are skipped where there is no package of it.
TEST_TOOLS = virt-xml-validate xmllint

.PHONY: setup-test
setup-test: ## that, and what only tests use
	@sh scripts/setup.sh $(TEST_TOOLS)

.PHONY: build
build: ## leave the static program in bin/iotax
	@echo "building the guest agent and bin/iotax"
	@$(GO) build -trimpath -ldflags '-s -w' -o $(AGENT) ./cmd/iotax-agent
	@$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/iotax ./cmd/iotax

.PHONY: run
run: setup build ## install what is missing, build, and measure this machine: about four minutes
	bin/iotax run --quick

.PHONY: test
test: setup-test build ## install what the tests need and run them all
	$(GO) run $(GOTESTSUM) --format pkgname-and-test-fails -- -timeout 35m $(TESTS)

.PHONY: lab
lab: setup build ## what needs LVM, ZFS, Xen or another QEMU: twenty minutes, once six more; needs Debian and root
	$(GO) run ./internal/lab/iotax-lab build
	IOTAX_LAB_TESTS=1 $(GO) test -count=1 -v -timeout 90m ./internal/lab

.PHONY: lint
lint: build ## formatting, go vet, staticcheck
	@echo "gofumpt"; out="$$($(GO) run $(GOFUMPT) -l cmd internal)" && test -z "$$out" || { echo "not formatted:"; echo "$$out"; exit 1; }
	@echo "go vet"; $(GO) vet ./...
	@echo "staticcheck"; $(GO) run $(STATICCHECK) ./...
	@echo "go mod tidy"; $(GO) mod tidy -diff

.PHONY: check
check: lint test ## what must pass before a commit: lint and test

.PHONY: race
race: setup build ## the short tests under the race detector; needs a C compiler
	CGO_ENABLED=1 $(GO) test -race -short $(TESTS)

# The packages that have benchmarks of their code; those of guests and disks, in internal/bench, run once each.
BENCHED = $(addprefix ./,$(filter-out internal/bench/,$(sort $(dir $(shell grep -rl '^func Benchmark' internal)))))

.PHONY: bench
bench: setup build ## the benchmarks of docs/BENCHMARKS.md: about 25 minutes, on a quiet machine
	$(GO) test -run '^$$' -bench . $(BENCHED)
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 60m ./internal/bench

LIVE ?= 0

.PHONY: calibrate
calibrate: ## how often the statistics are wrong, over recorded noise: about three minutes; LIVE=N adds N comparisons on this disk
	@$(GO) run ./internal/calibrate/iotax-calibrate -live $(LIVE)

.PHONY: fuzz
fuzz: build ## every fuzz target for FUZZTIME (10s)
	@GO='$(GO)' FUZZTIME='$(FUZZTIME)' sh scripts/fuzz.sh

.PHONY: format
format: ## format the code
	$(GO) run $(GOFUMPT) -w cmd internal

.PHONY: clean
clean: ## remove what was built
	rm -rf bin internal/guest/embedded/agent-*
