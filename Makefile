# Thin: everything is done by CMake and the scripts. `make` builds build/loopfold; `make help` lists the targets.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
SOAK ?= 10

.PHONY: all setup configure demo test bench soak install format sanitize clean help

all: configure ## build build/loopfold (default)
	@cmake --build build -j $(JOBS) --target loopfold loopfold_tool

setup: ## install the Debian packages that are missing
	@scripts/setup

configure: setup
	@test -f build/build.ninja || cmake --preset default

demo: all ## record the bundled example, show what was found, and write its report page
	@examples/demo/run.sh build/loopfold

test: configure ## unit and end-to-end tests
	@cmake --build build -j $(JOBS)
	@cd build && ctest --output-on-failure -j $$((2 * $(JOBS)))

bench: all ## measure against native, valgrind --tool=none and lackey
	@cmake --build build -j $(JOBS) --target benchmarks reconstruct_bench
	@bench/run.sh build/loopfold

soak: configure ## the randomised tests, SOAK times as long (default 10)
	@cmake --build build -j $(JOBS)
	@cd build && LOOPFOLD_SOAK=$(SOAK) LOOPFOLD_SEED=$${LOOPFOLD_SEED:-$$(date +%s)} ctest --output-on-failure \
	  --timeout 36000 -R '^(e2e\.(kills|corruption|random_programs|random_verdicts|by_runs)|reference\.(fold|reconstruct)|BuilderStretch\.OverlappingStrides|BuilderJournal\.RandomJumps|Builder(Weave|Ranks|Rounds|StretchColumns)\.SameAsEventByEvent|(Convoy|Cruise)\.SameAsEveryRow|Add(Run|Rows|Ranks)\.SameAsPoints)$$'

install: all ## install below PREFIX
	@cmake --install build --prefix "$(PREFIX)"

format: ## format our C and C++ sources
	@find src include tests/programs tests/reference examples -name '*.h' -o -name '*.cc' -o -name '*.c' | xargs clang-format -i

sanitize: setup ## build with ASan and UBSan into build-sanitize/ and run the unit tests
	@cmake --preset sanitize
	@cmake --build build-sanitize -j $(JOBS)
	@ctest --preset sanitize

clean: ## remove what was built
	@rm -rf build build-sanitize

help:
	@sed -n 's/^\([a-z]*\):.*## /\1: /p' Makefile
