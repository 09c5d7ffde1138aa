# Everything sets itself up: it needs python3 (3.11 or newer), make and gcc.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= 2
# Without byte code each of the thousand processes that the tests start compiles all of polyc: a second instead of 0.3.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo docs test test-all fast fuzz mutation nvcc lint format golden polybench bench bench-pipelines bench-irregular \
        bench-operators bench-ordinary bench-compile bench-compile-growth clean

help:
	@echo "make demo           compile a convolution, run original and result, compare values and times"
	@echo "make test           all tests"
	@echo "make test-all       all tests, each in all modes, and each fault: hours"
	@echo "make fast           the tests that run in-process, in about a minute"
	@echo "make fuzz           generated programs against gcc -O0 (COUNT=400, SEED=1, JOBS=2, TARGETS=cpu|gpu|all)"
	@echo "make mutation       break each pass in many ways, and show that the check catches it"
	@echo "make nvcc           compile the CUDA text of all kernels and operators with nvcc, small and at full size"
	@echo "make lint           formatting, lint and types"
	@echo "make docs           the pages as a site, in build/site (a warning is an error)"
	@echo "make golden         rewrite the golden files (then read the diff)"
	@echo "make polybench      the thirty kernels, plain and through polyc, dumps compared (DATASET=MINI)"
	@echo "make bench          the kernels' times beside gcc, clang and the peers that are there (KERNELS=, DATASET=LARGE, ROUNDS=5)"
	@echo "make bench-pipelines  six image pipelines, with and without page faults (PIPELINES=, DATASET=LARGE, ROUNDS=5)"
	@echo "make bench-irregular  sparse products, a histogram and a mesh (PROGRAMS=, DATASET=LARGE, ROUNDS=5)"
	@echo "make bench-operators  the twenty operators beside PyTorch (OPERATORS=, TORCH=a Python that has it, ROUNDS=9)"
	@echo "make bench-ordinary  eighteen ordinary programs, plain and through polyc (PROGRAMS=, ROUNDS=5)"
	@echo "make bench-compile  how long polyc takes for each kernel"
	@echo "make bench-compile-growth  the same for chains of 25 to 400 stages, and for the image pipelines"

setup: $(STAMP)

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[test]'
	@touch $@

demo: $(STAMP)
	@$(MAKE) --no-print-directory -C benchmarks/demo POLYC=$(abspath $(BIN))/polyc

test: $(STAMP)
	POLYC_TURNS=1 $(BIN)/python -m pytest -q -rs -n $(JOBS)

test-all: $(STAMP)
	POLYC_ALL_MODES=1 POLYC_ALL_NVCC=1 $(BIN)/python -m pytest -q -rs -n $(JOBS)

fast: $(STAMP)
	$(BIN)/python -m pytest -q -n $(JOBS) -m "not slow"

COUNT ?= 400
SEED ?= 1
TARGETS ?= cpu
fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz --count $(COUNT) --seed $(SEED) --jobs $(JOBS) --targets $(TARGETS)

mutation: $(STAMP)
	$(BIN)/python -m tests.mutation

nvcc: $(STAMP)
	POLYC_ALL_NVCC=1 $(BIN)/python -m pytest -q -rs tests/gpu/test_nvcc.py

lint: $(STAMP)
	$(BIN)/ruff format --check polyc tests benchmarks docs
	$(BIN)/ruff check polyc tests benchmarks docs
	$(BIN)/mypy
	$(BIN)/mypy --strict tests/fuzz
	$(BIN)/mypy --strict -p benchmarks.cpu
	$(BIN)/mypy --strict -p benchmarks.pipelines
	$(BIN)/mypy --strict -p benchmarks.irregular
	$(BIN)/mypy --strict -p benchmarks.ordinary

DOCS_STAMP := $(VENV)/.installed-docs
$(DOCS_STAMP): $(STAMP)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[docs]'
	@touch $@

docs: $(DOCS_STAMP)
	$(BIN)/python docs/rooms.py
	$(BIN)/sphinx-build -q -W --keep-going -c docs/site -b html . build/site
	@echo "build/site/README.html"

format: $(STAMP)
	$(BIN)/ruff format polyc tests benchmarks docs
	$(BIN)/ruff check --fix polyc tests benchmarks docs

golden: $(STAMP)
	$(BIN)/python -m pytest -q --update-golden tests/passes tests/docs tests/errors tests/remarks tests/cli

DATASET ?= MINI
polybench: $(STAMP)
	$(MAKE) -C polybench check DATASET=$(DATASET) POLYC=$(abspath $(BIN))/polyc

KERNELS ?=
ROUNDS ?= 5
BENCH_FLAGS ?=
bench: DATASET := $(if $(filter command% environment%,$(origin DATASET)),$(DATASET),LARGE)
bench: $(STAMP)
	$(BIN)/python -m benchmarks.cpu run $(KERNELS) --dataset $(DATASET) --rounds $(ROUNDS) $(BENCH_FLAGS)

PIPELINES ?=
bench-pipelines: DATASET := $(if $(filter command% environment%,$(origin DATASET)),$(DATASET),LARGE)
bench-pipelines: $(STAMP)
	$(BIN)/python -m benchmarks.pipelines $(PIPELINES) --dataset $(DATASET) --rounds $(ROUNDS) $(BENCH_FLAGS)

PROGRAMS ?=
bench-irregular: DATASET := $(if $(filter command% environment%,$(origin DATASET)),$(DATASET),LARGE)
bench-irregular: $(STAMP)
	$(BIN)/python -m benchmarks.irregular $(PROGRAMS) --dataset $(DATASET) --rounds $(ROUNDS) $(BENCH_FLAGS)

OPERATORS ?=
TORCH ?= $(BIN)/python
bench-operators: ROUNDS := $(if $(filter command% environment%,$(origin ROUNDS)),$(ROUNDS),9)
bench-operators: $(STAMP)
	$(BIN)/python -m benchmarks.operators $(OPERATORS) --rounds $(ROUNDS) --torch $(TORCH) $(BENCH_FLAGS)

bench-ordinary: $(STAMP)
	$(BIN)/python -m benchmarks.ordinary $(PROGRAMS) --rounds $(ROUNDS) $(BENCH_FLAGS)

bench-compile: $(STAMP)
	$(BIN)/python benchmarks/compile_time.py

bench-compile-growth: $(STAMP)
	$(BIN)/python benchmarks/compile_growth.py --pipelines

clean:
	rm -rf $(VENV) build demo polybench/build
