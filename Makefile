# Every way in. The work itself is done by CMake's presets and by scripts/.
.DEFAULT_GOAL := help
# Two goals may share a build directory; the builds themselves use all cores.
.NOTPARALLEL:
.PHONY: help build wheel run test bench test-long lint format clean

# Without the tests, a build needs fewer packages.
configure := cmake --preset release -DEBB_BUILD_TESTS=OFF

help: ## Show these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the program build/release/bin/ebb and the library build/release/lib/libebb.so
	@scripts/setup build
	@$(configure)
	@cmake --build --preset release --target src/all

wheel: ## Build a wheel for any Linux with glibc 2.28 or later into dist/ (ARCH=aarch64: for that processor)
	@scripts/setup wheel
	@scripts/wheel $(if $(ARCH),--arch $(ARCH))

run: ## See it work: what a cleanup gives back on four allocators; three ways to choose clients, compared
	@scripts/setup run
	@$(configure)
	@cmake --build --preset release --target ebb-demo-heap src/all
	@build/release/bin/ebb-demo-heap
	@build/release/bin/ebb compare --methods heuristic.random,system_aware.oort,system_aware.poc \
	  --rounds 5 --partition dirichlet --no-folder --no-record --html build/compare.html

test: ## Run every test: whole programs, from Python, under sanitizers, bare, half a minute of fuzzing (12 to 36 minutes on 2 cores)
	@scripts/setup test
	@scripts/test

bench: ## Measure, and print the tables
	@scripts/setup run
	@$(configure)
	@cmake --build --preset release --target bench/all src/all
	@scripts/bench

test-long: ## Run every test and those that take hours: long fuzzing, soaks, full matrices, a virtual machine
	@scripts/setup long
	@scripts/test --long

lint: ## Check layout, static analysis, spelling, scripts and the types of the pages' script
	@scripts/setup lint
	@scripts/lint

format: ## Lay out the code as .clang-format says
	@scripts/setup lint
	@scripts/format

clean: ## Remove everything that was built
	@rm -rf build dist
