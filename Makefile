# `make demo` shows CocoRecall at work, `make test` runs every check. Needs Python 3.11 to 3.14 only.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DEMO   := .demo
RECALL := ../$(BIN)/recall

.PHONY: demo test lint bench lock clean

$(VENV)/installed: requirements-dev.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

demo: $(VENV)/installed
	rm -rf $(DEMO)
	cp -R examples/demo $(DEMO)
	@echo; echo '$$ recall import'
	@cd $(DEMO) && $(RECALL) import
	@echo; echo '$$ recall search why did we set the threshold to 0.85?'
	@cd $(DEMO) && $(RECALL) search 'why did we set the threshold to 0.85?'
	@echo; echo '$$ recall show (the session of the first hit) -C 2'
	@cd $(DEMO) && $(RECALL) show "$$($(RECALL) search --json --limit 1 'threshold 0.85' | $(CURDIR)/$(BIN)/python -c 'import json, sys; print(json.load(sys.stdin)["results"][0]["session_id"])')" -C 2
	@echo; echo '$$ recall status'
	@cd $(DEMO) && $(RECALL) status
	@echo; echo 'Try your own: cd $(DEMO) && $(RECALL) search dedupe_orders merge key'

test: lint
	$(BIN)/python -m pytest -n 2 -q

lint: $(VENV)/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/installed
	$(BIN)/python benchmarks/speed/measure.py

# Needs `uv`; everything else uses the lock file with pip alone.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
		--group dev --output-file requirements-dev.lock pyproject.toml

clean:
	rm -rf $(VENV) $(DEMO) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
