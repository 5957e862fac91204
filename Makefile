# `make demo` shows conntag at work, `make test` passes the tests. Both install from Debian what is missing and start only
# private throwaway servers.

GO ?= go
FUZZTIME ?= 10000x
BENCHTIME ?= 1s
BENCH ?= .
TIME ?= 1m
SEED ?= 1

# COMMAND=PACKAGE pairs for scripts/setup.sh.
MARIADB = mariadbd=mariadb-server mariadb=mariadb-client
PROMETHEUS = prometheus promtool=prometheus
SYSBENCH = sysbench

# Packages whose types are used by several goroutines at once.
CONCURRENT = ./pool/... ./attribution/... ./proxy/... ./reservation/... ./internal/admin/... ./internal/metrics/...

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.*## /{printf "%-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install everything any target needs
	@scripts/setup.sh $(MARIADB) $(PROMETHEUS) $(SYSBENCH)

.PHONY: build
build: ## build bin/conntag
	$(GO) build -o bin/conntag ./cmd/conntag

.PHONY: demo
demo: ## start a private MariaDB, the proxy and a workload, and show who holds the connections
	@scripts/setup.sh $(MARIADB)
	@$(GO) run ./cmd/conntag demo $(DEMOFLAGS)

.PHONY: test
test: ## run all tests, against a real MariaDB and Prometheus's promtool
	@scripts/setup.sh $(MARIADB) $(PROMETHEUS)
	$(GO) test ./...

.PHONY: lint
lint: ## check formatting, go vet, golangci-lint and go.mod
	@unformatted=$$(git ls-files --cached --others --exclude-standard '*.go' | xargs gofmt -l); \
	  if [ -n "$$unformatted" ]; then printf 'run gofmt -w on:\n%s\n' "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	scripts/golangci-lint.sh run
	$(GO) mod tidy -diff

.PHONY: race
race: ## test the concurrent packages under the race detector
	@scripts/setup.sh $(MARIADB)
	$(GO) test -race $(CONCURRENT)

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME
	scripts/fuzz.sh $(FUZZTIME)

.PHONY: invisible
invisible: ## play drawn sequences of commands directly and through conntag for TIME, from SEED on, and compare
	@scripts/setup.sh $(MARIADB)
	@$(GO) run ./internal/invisible/soak -time $(TIME) -seed $(SEED) $(INVISIBLEFLAGS)

.PHONY: bench
bench: ## measure CPU per query and memory per idle client beside a plain Go TCP relay
	@scripts/setup.sh $(MARIADB) $(SYSBENCH)
	$(GO) run ./bench $(BENCHFLAGS)

.PHONY: bench-go
bench-go: ## run the Go benchmarks that match BENCH
	@scripts/setup.sh $(MARIADB)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -benchmem ./...

# Half a minute of e2e tests that need no more than a Python driver and the programs that come with MariaDB.
E2E_FAST = TestE2E(PyMySQL|MariadbDump|MariadbSlap)

.PHONY: e2e
e2e: ## run the end-to-end tests: drivers, sysbench and MariaDB's tools, directly and through conntag; prints README's table of drivers
	@scripts/setup.sh $(MARIADB) $(SYSBENCH) node=nodejs npm php=php-cli ruby javac=default-jdk-headless
	@scripts/drivers.sh php python ruby java perl
	$(GO) -C internal/drivertest test -tags e2e -run '^TestE2E' -count 1 -timeout 20m

.PHONY: e2e-fast
e2e-fast: ## run those of the end-to-end tests that are quickly installed and done
	@scripts/setup.sh $(MARIADB)
	@scripts/drivers.sh python
	$(GO) -C internal/drivertest test -tags e2e -run '^$(E2E_FAST)' -count 1 -timeout 5m

.PHONY: clean
clean: ## remove what the other targets built
	rm -rf bin
