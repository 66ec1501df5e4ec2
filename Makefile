# `make demo` shows CocoRecall at work, `make test` runs every check. Needs a Python 3.11 to 3.14 and nothing else.
# PYTHON=… takes another interpreter than the first one found that is new enough.
ACCEPTS := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
PYTHON  ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$python" -c '$(ACCEPTS)' 2>/dev/null && echo "$$python" && exit; done; echo python3.11)
VENV    := .venv
BIN     := $(VENV)/bin
PIP     := $(BIN)/python -m pip --quiet --disable-pip-version-check
DEMO    := .demo

# Runs `recall …` in the demo's folder, after showing the command as a person would type it.
define recall
@printf '\n$$ recall %s\n' '$(strip $(1))'
@cd $(DEMO) && PAGER=cat ../$(BIN)/recall $(1)
endef

.PHONY: demo test lint bench fuzz lock clean

$(VENV)/installed: requirements-dev.lock pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) install --require-hashes -r requirements-dev.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

demo: $(VENV)/installed
	@rm -rf $(DEMO)
	@cp -R examples/demo $(DEMO)
	$(call recall, import)
	$(call recall, search why did we set the threshold to 0.85)
	$(call recall, show 0d60:19 --around 1)
	$(call recall, search --function score_lead --outcome-status fail)
	$(call recall, timeline score_lead --budget 500)
	$(call recall, fix 002003 --budget 600)
	$(call recall, premortems --status open)
	$(call recall, status)
	@printf '\nNow you: cd %s && ../%s/recall search dedupe_orders merge key\n' $(DEMO) $(BIN)

test: lint
	$(BIN)/python -m pytest -n 2 -q

lint: $(VENV)/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/installed
	$(BIN)/python benchmarks/speed/measure.py

# Coverage-guided fuzzing of every parser, for SECONDS each; what it finds becomes a test in fuzz/corpus.
SECONDS ?= 60
fuzz: $(VENV)/installed
	$(PIP) install 'atheris>=3,<4'
	$(BIN)/python fuzz/run.py --seconds $(SECONDS)

# Needs `uv`; everything else installs from the lock file with pip alone.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
		--group dev --output-file requirements-dev.lock pyproject.toml

clean:
	rm -rf $(VENV) $(DEMO) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
