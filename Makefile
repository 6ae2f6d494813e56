# `make` alone says what there is. Every target but help and clean first installs what this machine
# lacks (scripts/install, which takes no time when all is there).
.DEFAULT_GOAL := help
.PHONY: help run test test-long package simulate torture bench bench-pages bench-peers coverage format lint clean \
	deps deps-run

help: ## this text
	@echo "Holdfast: work that must not get lost."
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "One stage of the tests alone: scripts/test asan     (rules asan release tsan gcc)"
	@echo "One test alone:               cmake --preset dev && cmake --build --preset dev --target core_test"
	@echo "                              build/dev/core_test --gtest_filter='Names.*'"
	@echo "More: CONTRIBUTING.md and docs/ARCHITECTURE.md"

run: deps-run ## build the release, and start a server to play with (PORT=8080)
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target holdfast_bin
	@scripts/run build/release/holdfast

test: deps ## run all tests, as CI does (17 to 25 min, then 8 to 11)
	@scripts/test

test-long: deps ## run the long tests (hours; PARTS="lint fuzz" for some)
	@scripts/test-long $(PARTS)

package: deps ## build Debian packages of the release, in build/release/package
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target holdfast_bin
	@cd build/release && cpack

SEEDS ?= 1..2000
simulate: deps ## run SEEDS=A..B of the simulation (ARGS: --trace, --stats, --bug NAME)
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev --target simulate
	@build/dev/tests/simulation/simulate --seeds $(SEEDS) $(ARGS)

bench: deps ## measure, each figure beside its target (ARGS: options of Google Benchmark)
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target holdfast_bench
	@bench/report.py build/release/bench/holdfast_bench $(ARGS)

bench-pages: deps ## the calls behind the dashboard, with a million tasks (ARGS: --calls N, --store FILE)
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target holdfast_bin page_store
	@bench/pages.py build/release/holdfast build/release/bench/page_store $(ARGS)

bench-peers: deps ## Holdfast beside BullMQ, bee-queue and Sidekiq on one Redis (ARGS: --json FILE, --quick)
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target holdfast_bin
	@/usr/bin/python3 -B bench/peers/run.py build/release/holdfast $(ARGS)

torture: deps ## kill workers again and again, and look what is left (STORE=redis ROUNDS=100 SEED=1)
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target torture_victim torture_victim_hasty torture_inspect
	@tests/torture/$(if $(filter redis,$(STORE)),redis_)torture.py build/release/tests/torture \
		--rounds $(or $(ROUNDS),100) --seed $(or $(SEED),1) $(ARGS)

coverage: deps ## line coverage by room, and page by page in build/coverage/html
	@scripts/coverage --html

format: deps ## lay out all C++ and the dashboard
	@scripts/format

lint: deps ## layout, clang-tidy and shellcheck; changes nothing (40 min)
	@scripts/lint

clean: ## remove build/
	rm -rf build

deps: ## install what building and testing needs and this machine lacks (deps-run: what make run needs)
	@scripts/install

deps-run:
	@scripts/install run
