# Every target says what it does; `make` prints them.
.DEFAULT_GOAL := help
.PHONY: help setup build corpus interop test matrix mutations mutants lint docs demo demo-run demo-poll bench install

CARGO ?= cargo
# Only what is not run as root needs to ask for it.
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

help: ## print the targets
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "make %-9s  %s\n", $$1, $$2 }'

setup: ## install what the machine lacks: tmux
	@command -v tmux >/dev/null || { $(SUDO) apt-get update && $(SUDO) apt-get install -y tmux; }

build: ## build the release binary
	$(CARGO) build --release

corpus: ## fetch GitHub's example payloads, with npm, for the tests over them
	./tests/it/corpus/fetch

interop: ## install the earlier system, with Python, and let both work on the same files
	./tests/it/interop/install
	$(CARGO) test --test it interop

# Many tests wait for terminals, daemons and deadlines more than they compute.
test: export RUST_TEST_THREADS ?= 4
test: ## run everything that CI runs
	$(CARGO) test

matrix: ## print what becomes of every operation, interrupted at every step
	$(CARGO) test --quiet --test sim matrix -- --nocapture

mutations: ## plant defects in a copy, one by one, and see the suite of runs find each; up to 40 minutes
	$(CARGO) test --quiet --test mutations every_defect -- --ignored --nocapture

mutants: ## let cargo-mutants change the code of runs and of verdicts, place by place; up to 20 minutes
	./tests/mutations/mutants

lint: ## formatting, clippy and documentation, warnings as errors
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps

docs: ## write the generated pages
	UPDATE_DOCS=1 $(CARGO) test --test drift
	UPDATE_DOCS=1 $(CARGO) test --test sim matrix_of

demo: build ## run the main job end to end on real input, without any account
	./demo/run

demo-run: build ## a run with an interruption, its evidence and its end
	./demo/runs

demo-poll: build ## the main job without a webhook, against a fake GitHub on the loopback
	$(CARGO) build --example fake_github
	./demo/poll/run

bench: ## measure, each figure beside its target; about two minutes
	$(CARGO) bench --bench bench

install: ## install the binary for this user
	$(CARGO) install --path . --locked
