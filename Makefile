# Every target makes .venv and installs what it needs; a second call finds it done.
PYTHON ?= python3
VENV := .venv
OLDEST := .venv-oldest
SANITIZED := .venv-sanitized
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(SCRIPTS)

# Kernels are C when they are built. Where the machine has no compiler, one comes from PyPI.
VISUAL_STUDIO := /c/Program Files/Microsoft Visual Studio
ifeq ($(origin CC),default)
ifeq ($(shell command -v cc || command -v gcc || command -v clang || ls -d "$(VISUAL_STUDIO)" 2>/dev/null),)
COMPILER := ziglang
endif
endif
# `$(call with_tools,.venv) .venv/bin/python` has the tools that were installed there, by names that hold in later builds as well.
zig = $(abspath $(1)/$(SCRIPTS)/python) -m ziglang
with_compiler = $(if $(COMPILER),CC="$(call zig,$(1)) cc" AR="$(call zig,$(1)) ar")
with_tools = PATH="$(abspath $(1)/$(SCRIPTS)):$$PATH" CYTHON="$(abspath $(1)/$(SCRIPTS)/cython)" $(call with_compiler,$(1))
# What builds those needs of the tests that come as sources alone (odfpy), outside of an environment of their own.
WITHOUT_WHEELS := "setuptools>=77" wheel
# A build stays beside its environment: more extras, or changed sources, rebuild what they have to.
editable = pip install -qq --disable-pip-version-check --no-build-isolation --config-settings=build-dir=$(1)/build --editable

# Python must keep its bytecode: without it each process that starts compiles scikit-learn anew, in five seconds instead of one.
unexport PYTHONDONTWRITEBYTECODE

# Data sets next to the checkout, where there are any, save the downloads.
ifndef KSUPPORT_DATA
ifneq ($(wildcard ../shared/data/.),)
export KSUPPORT_DATA := $(abspath ../shared/data)
endif
endif

.DEFAULT_GOAL := help
.NOTPARALLEL: # one pip at a time
.PHONY: help demo test test-long test-quick test-cpus test-faults test-memory test-valgrind test-oldest test-dist coverage mutants fuzz fuzz-files
.PHONY: check hooks api dist golden audit
.PHONY: bench bench-fmri bench-load bench-phases bench-promises bench-response bench-scale bench-selection bench-steps docs paper clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r target what; \
		do printf 'make %-16s %s\n' "$$target" "$$what"; done

demo: $(VENV)/.with-cli ## recover a sparse model from correlated measurements, and look at it
	@$(BIN)/ksupport demo

# One BLAS thread per test process: they would fight for the cores otherwise.
test test-long test-quick test-faults test-memory test-oldest coverage mutants fuzz fuzz-files: export OMP_NUM_THREADS := 1
test: $(VENV)/.with-cli,data,test ## run the tests and the examples in the docstrings
	@$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not long"

test-long: $(VENV)/.with-cli,data,test ## run the tests of a minute each: many genotypes, full disks, kills
	@$(BIN)/python -m pytest -q -n auto --dist worksteal -m long tests

test-quick: $(VENV)/.with-cli,data,test ## the part of the tests that is done in half a minute
	@$(BIN)/python -m pytest -q -n auto --dist worksteal -m quick tests

test-memory: $(SANITIZED)/.made ## run tests of compiled code with its indices, addresses and arithmetic checked (Linux, gcc)
	@LD_PRELOAD="$$(gcc -print-file-name=libasan.so):$$(gcc -print-file-name=libubsan.so)" PYTHONMALLOC=malloc \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		$(SANITIZED)/$(SCRIPTS)/python -m pytest -q -p no:cacheprovider $(addprefix tests/,_kernels algorithms choosing losses posterior walking)

test-valgrind: $(VENV)/.with-cli,data,test ## call all compiled functions under valgrind, with arrays that they were not made for
	@$(BIN)/python tools/valgrind.py

test-cpus: $(VENV)/.with-cli,data,test ## run part of the tests, and compare what is chosen, as on other CPUs
	@$(BIN)/python tests/cpus/compare.py

test-faults: $(VENV)/.with-cli,data,test ## kill commands, workers and disks at a hundred random points
	@FAULT_POINTS=100 $(BIN)/python -m pytest -q tests/faults tests/design/test_dask_cluster.py

fuzz: $(VENV)/.with-cli,data,test ## try the properties of all functions and estimators on 100 000 random examples
	@$(BIN)/python -m pytest -q tests/properties --hypothesis-profile=fuzz

fuzz-files: $(VENV)/.with-cli,data,fuzz,test ## try a million damaged files on every reader, led by coverage
	@$(BIN)/python tests/fuzzing/files.py all 1000000

test-oldest: $(OLDEST)/.made ## run the tests with the oldest versions that pyproject.toml allows
	@$(OLDEST)/$(SCRIPTS)/python -m pytest -q -n auto --dist worksteal -m "not long"

coverage: $(VENV)/.with-cli,cover,data,fmri,test ## which branches of the source the tests take, experiments and compiled code apart
	@$(BIN)/python -m coverage erase
	@$(BIN)/python -m coverage run -m pytest -q -n auto --dist worksteal -m "not long"
	@$(BIN)/python -m coverage combine --quiet
	@$(BIN)/python -m coverage report --skip-covered --fail-under=95

mutants: $(VENV)/.with-cli,cover,data,test ## change 300 places of posterior/ and walking/, and count what the tests notice
	@$(BIN)/python tools/mutants.py src/ksupport/posterior src/ksupport/walking --tests tests/posterior tests/walking

# Layers are read from the files themselves (-S), which an editable install of compiled code hides.
check: $(VENV)/.with-check ## lint, format, types and layers
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy --no-error-summary
	@told=$$(PYTHONPATH=src:$$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))") \
		$(BIN)/python -S -c "from importlinter.cli import lint_imports_command; lint_imports_command()" --no-cache) || \
		{ echo "$$told"; false; }

hooks: $(VENV)/.with-cli,data,hooks,test ## let git ask for these checks before every commit
	@$(BIN)/pre-commit install

api: $(VENV)/.with-cli,data,test ## renew the list of public names that the tests compare with
	@$(BIN)/python tools/api.py > tests/api.txt

golden: $(VENV)/.with-cli,data,test ## write models of this version for later ones to read (before a release)
	@$(BIN)/python tools/golden.py

dist: $(VENV)/.with-dist ## build the source distribution and the wheel into dist/
	@rm -rf dist
	@$(call with_compiler,$(VENV)) $(BIN)/python -m build --outdir dist .
	@$(BIN)/python -m twine check --strict dist/*

test-dist: dist ## install what dist/ holds into clean environments, with no extra and with each
	@$(BIN)/python tools/check_dist.py dist

audit: $(VENV)/.with-audit,cli,files,plot,dask,data ## look up known weaknesses of what is installed (needs a network)
	@$(BIN)/python -m pip_audit --skip-editable

bench: $(VENV)/.with-bench ## measure speed side by side with other implementations
	@$(BIN)/python -m benchmarks

bench-steps: $(VENV)/.with-bench ## count the steps of IRKSN with and without a norm, and what they meet
	@$(BIN)/python -m benchmarks steps supports

bench-scale: $(VENV)/.with-bench,dask ## measure passes, memory and growth on data beyond memory and beyond one machine
	@$(BIN)/python -m benchmarks scale scale_selection scale_dask

bench-phases: $(VENV)/.with-bench ## measure where the passes over X of a selection go, phase by phase
	@$(BIN)/python -m benchmarks phases

bench-selection: $(VENV)/.with-bench ## measure how well supports are found, tuning included
	@$(BIN)/python -m benchmarks selection

bench-promises: $(VENV)/.with-bench ## measure whether error rates, sets and intervals keep their promise (KSUPPORT_QUICK=1: few draws)
	@$(BIN)/python -m benchmarks --shared promises

bench-response: $(VENV)/.with-bench ## measure what is found with other responses, and beside confounders
	@$(BIN)/python -m benchmarks response

bench-load: $(VENV)/.with-bench ## fit for an hour (KSUPPORT_MINUTES), and watch memory, threads and handles
	@$(BIN)/python -m benchmarks load

bench-fmri: $(VENV)/.with-bench,fmri ## measure whole-brain decoding: time and memory
	@$(BIN)/python -m benchmarks fmri

docs: $(VENV)/.with-cli,dask,data,doc,fmri ## build the documentation into docs/_build/html
	@$(BIN)/python -m sphinx -q -W --keep-going docs docs/_build/html
	@$(BIN)/python tools/manual.py docs/_build/html

paper: $(VENV)/.with-plot ## draw the figures of paper/paper.md from the measurements in the manual
	@$(BIN)/python paper/figures.py

clean: ## remove everything that these targets made
	@rm -rf $(VENV) $(OLDEST) $(SANITIZED) docs/_build docs/auto_examples docs/auto_tutorials docs/measured docs/api dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# .venv/.with-a,b marks that the extras a and b are installed, as pyproject.toml asks for them.
# Python keeps bytecode of what it imports; compiling everything that pip installs would take half a minute.
$(VENV)/.with-%: pyproject.toml | $(VENV)/.tools
	@echo "installing ksupport[$*] into $(VENV)"
	@$(call with_tools,$(VENV)) $(BIN)/python -m $(call editable,$(VENV)) '.[$*]' --no-compile
	@$(BIN)/python -m compileall -q src # meson's editable installations read bytecode and never write it
	@touch $@

$(VENV)/.tools: pyproject.toml | $(VENV)/.made
	@$(if $(COMPILER),echo "no C compiler on this machine: taking $(COMPILER) from PyPI")
	@$(PYTHON) tools/build_needs.py > $(VENV)/build-needs.txt
	@$(BIN)/python -m pip install -qq --no-compile --disable-pip-version-check -r $(VENV)/build-needs.txt $(WITHOUT_WHEELS) $(COMPILER)
	@touch $@

$(VENV)/.made:
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(OLDEST)/.made: pyproject.toml tools/oldest.py
	@echo "installing the oldest versions allowed into $(OLDEST)"
	@$(PYTHON) -m venv --clear $(OLDEST)
	@$(PYTHON) tools/oldest.py > $(OLDEST)/constraints.txt
	@$(PYTHON) tools/build_needs.py > $(OLDEST)/build-needs.txt
	@$(OLDEST)/$(SCRIPTS)/python -m pip install -qq --disable-pip-version-check \
		--constraint $(OLDEST)/constraints.txt -r $(OLDEST)/build-needs.txt $(WITHOUT_WHEELS) $(COMPILER)
	@$(call with_tools,$(OLDEST)) $(OLDEST)/$(SCRIPTS)/python -m $(call editable,$(OLDEST)) '.[cli,data,test]' \
		--constraint $(OLDEST)/constraints.txt
	@touch $@

SANITIZERS := -Db_sanitize=address,undefined -Db_lundef=false -Dbounds=true
$(SANITIZED)/.made: pyproject.toml
	@echo "installing a build with AddressSanitizer, UndefinedBehaviorSanitizer and bounds checks into $(SANITIZED)"
	@$(PYTHON) -m venv --clear $(SANITIZED)
	@$(PYTHON) tools/build_needs.py > $(SANITIZED)/build-needs.txt
	@$(SANITIZED)/$(SCRIPTS)/python -m pip install -qq --disable-pip-version-check -r $(SANITIZED)/build-needs.txt $(WITHOUT_WHEELS)
	@$(call with_tools,$(SANITIZED)) $(SANITIZED)/$(SCRIPTS)/python -m $(call editable,$(SANITIZED)) \
		$(foreach each,$(SANITIZERS),--config-settings=setup-args=$(each)) '.[cli,data,test]'
	@touch $@
