# Two commands do everything: `make design` and `make test`. They need Python 3.11 or newer, pip and make.
PYTHON ?= python3
VENV ?= .venv
GOAL ?= pour a cup
ARGS ?=
BIN := $(VENV)/bin

.PHONY: design test fuzz check clean

design: $(VENV)/installed
	$(BIN)/eureka-lite design "$(GOAL)" --preset quick $(ARGS)

test: $(VENV)/installed-dev
	$(BIN)/python -m pytest $(ARGS)

# 20,000 random programs through three back ends, about an hour on one core; the result goes to tests/reward/fuzz.txt
fuzz: $(VENV)/installed-dev
	FUZZ_PROGRAMS=20000 $(BIN)/python -m pytest tests/reward/test_backends.py

check: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "eureka-lite needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
