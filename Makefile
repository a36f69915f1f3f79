VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
FUZZTIME ?= 30s
COUNT    ?= 10
KILLS    ?= 200
SEED     ?= 1
OPERATIONS ?= 100000

.PHONY: run build test peers lint bench chaos soak fuzz clean

run: build
	./bin/bellhop run

# Reproducible: the same commit and toolchain give the same bytes in any folder.
build:
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$(VERSION)" -o bin/bellhop ./cmd/bellhop

# The race detector needs a C compiler; without one the tests run without it.
RACE ?= $(shell command -v $$(go env CC) >/dev/null 2>&1 && echo -race)

test:
	go test $(RACE) -shuffle=on ./...

# Journeys on servers that others wrote, which npm installs the first time.
peers:
	RACE='$(RACE)' .ci/peers/run

lint:
	.ci/run lint

bench:
	go test -run '^$$' -bench . -benchmem ./...

# The real binary killed at random under traffic, on each platform, then every test that crashes, kills or injects faults, over and over;
# and a million guesses at what allows a call.
chaos:
	BELLHOP_CHAOS_KILLS=$(KILLS) go test -race -count=1 -timeout 90m -v -run '^TestChaos(Slack|Discord)?$$' ./cmd/bellhop
	go test -race -shuffle=on -count=$(COUNT) -run 'Crash|Fault|Kill|Model' ./store/... ./core/...
	BELLHOP_GUESSES=1000000 go test -count=1 -v -run '^TestGuessedNonces$$' ./store

# So many random operations of a team's traffic on every engine, the invariants checked after each: those of the whole
# appliance, then those of the ledger against its model. Each engine's last line says how many there were. Nothing here
# must outlive the machine, so a disk in memory will do.
soak: export TMPDIR := $(shell test -w /dev/shm && echo /dev/shm || echo $${TMPDIR:-/tmp})
soak:
	go test -count=1 -timeout 6h -v -run '^TestChaos$$' ./core/coretest -seed $(SEED) -operations $(OPERATIONS)
	go test -count=1 -timeout 6h -v -run '^TestLedger(Chaos|OnDisk)$$' ./store/storetest -rapid.seed $(SEED) -rapid.checks 1000000 -operations $(OPERATIONS)

# Every fuzz target in turn. Minimizing is cut short: it rarely ends for targets that touch files.
fuzz:
	@set -e; for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$package; \
		done; \
	done

clean:
	rm -rf bin
