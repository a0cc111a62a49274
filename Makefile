# Each target sets up what it needs: the first one called makes .venv, which takes a minute or two.
# PYTHON=/path/to/python3.12 chooses the interpreter; ARGS="..." goes to the program that is run.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
SHELL := /bin/sh

PYTHON ?=
ARGS ?=
BIN := .venv/bin
INSTALLED := .venv/.installed

export PYTHON

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: serve
serve: $(INSTALLED) ## Start the service; ARGS="--help" lists its options
	@exec $(BIN)/remanence serve $(ARGS)

.PHONY: demo
demo: $(INSTALLED) ## Show what it does on a small conversation, then leave no trace
	@exec $(BIN)/remanence demo $(ARGS)

.PHONY: test
test: $(INSTALLED) ## Run the tests, in parallel; ARGS="-k name" picks some
	$(BIN)/python -m pytest -n auto $(ARGS)

.PHONY: fuzz
fuzz: $(INSTALLED) ## Send odd requests to a server, made from the OpenAPI document
	$(BIN)/python -m tests.fuzz $(ARGS)

.PHONY: lint
lint: $(INSTALLED) ## Check layout, style, types, architecture and contract
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports --no-logo --cache-dir .build/import-linter
	$(BIN)/python tools/contract.py lint check breaking
	$(BIN)/mypy

.PHONY: format
format: $(INSTALLED) ## Lay out code and protos, and mend what can be mended
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	$(BIN)/python tools/contract.py format

.PHONY: generate
generate: $(INSTALLED) ## Write gen/ from proto/
	$(BIN)/python tools/contract.py generate

.PHONY: bench
bench: $(INSTALLED) ## Measure, and print beside the last committed figures
	$(BIN)/python -m tests.bench $(ARGS)

.PHONY: crash
crash: $(INSTALLED) ## Kill the service at every step, hundreds of times; ARGS="--kills 50"
	$(BIN)/python -m tests.crash $(ARGS)

.PHONY: soak
soak: $(INSTALLED) ## Write and read for ten minutes while it is killed; ARGS="--minutes 2"
	$(BIN)/python -m tests.crash.soak $(ARGS)

.PHONY: setup
setup: $(INSTALLED) ## Make .venv with the locked packages; the other targets do it for you

$(INSTALLED): requirements.lock pyproject.toml clients/python/pyproject.toml
	@sh tools/setup.sh

.PHONY: lock
lock: ## Pin the dependencies again; ARGS=--upgrade takes the newest versions
	@python=$$(sh tools/python.sh) && "$$python" -m venv --clear .build/lock
	@.build/lock/bin/python -m pip install --quiet --disable-pip-version-check "uv>=0.9,<1" packaging
	@.build/lock/bin/python tools/lock.py $(ARGS)

.PHONY: clean
clean: ## Remove caches and build products; .venv stays
	rm -rf .build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
