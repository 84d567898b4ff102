# `make` lists the verbs. Everything lives in .venv; nothing is installed outside the checkout.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
# Errors only: what pip warns of (caches, extra indexes, its own age) is of the machine's settings, and harmless here.
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help setup fmt check test demo bench docs clean lock

help: ## list the verbs
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(STAMP) ## make .venv with everything the other verbs need

$(STAMP): requirements/dev.txt pyproject.toml companions/groundql-embedded/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("GroundQL needs Python 3.11 or newer; this is %s. Try: make PYTHON=python3.12" % sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@echo "Setting up $(VENV): about 210 MB of Python packages to download, once."
	@$(PYTHON) -m venv $(VENV) || { echo "Could not make a virtual environment. On Debian: apt install python3-venv"; exit 1; }
	@$(PIP) install --require-hashes -r requirements/dev.txt
	@$(PIP) install --no-build-isolation --no-deps -e companions/groundql-embedded -e .
	@touch $@
	@echo "Ready. To have groundql on the path of this shell: . $(BIN)/activate"

fmt: setup ## format the code
	@$(BIN)/ruff format src tests benchmarks worlds
	@$(BIN)/ruff check --fix --quiet src tests benchmarks worlds

check: setup ## ruff, pyright strict, import layers, docstrings
	@$(BIN)/ruff format --check src tests benchmarks worlds
	@$(BIN)/ruff check src tests benchmarks worlds
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/pyright

test: setup ## run the tests
	@$(BIN)/pytest

demo: setup ## ask three questions of a sample world with a local model
	@$(BIN)/groundql demo

bench: setup ## run the benchmarks that need no network (see benchmarks/README.md)
	@$(BIN)/python -m benchmarks

docs: setup ## check that the documentation covers every verb and setting, and run its examples
	@$(BIN)/pytest tests/docs

lock: setup ## pin every dependency anew, with hashes
	@$(PIP) install uv
	@$(BIN)/uv pip compile pyproject.toml requirements/dev.in --extra local --extra anthropic --group dev --universal \
		--generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 -o requirements/dev.txt

clean: ## remove what the other verbs made
	@rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis dist build .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
