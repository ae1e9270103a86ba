# Every verb sets up what it needs. A fresh machine needs Python 3.9 or newer and make.

FIRST_PYTHON := $(shell for p in python3.13 python3 python3.12 python3.11 python3.10 python3.9 /usr/bin/python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null && echo $$p && break; done)
PY := .venv/bin/python
PORT ?= 8000
export PATH := $(PATH):$(CURDIR)/.tools/bin
export NO_MKDOCS_2_WARNING := 1
export PYTHONWARNINGS := ignore::SyntaxWarning:jieba

SOURCES := $(shell find docs calculators data scripts/site scripts/archive mkdocs.yml mkdocs.zh.yml requirements.txt package-lock.json -type f -not -name '*.pyc' -not -path '*/__pycache__/*' 2>/dev/null)

.PHONY: serve build test check bench lock setup browser clean

serve: build ## build the site and serve it with the calculators running
	$(PY) -m scripts.site.serve --port $(PORT)

build: site/.built ## build the site, both languages, into site/

site/.built: $(SOURCES) | setup
	$(PY) -m mkdocs build --strict
	$(PY) -m scripts.site.compress site
	@touch $@

test: check browser build ## everything: lint, types, unit, property and browser tests
	$(PY) -m pytest -n 2 --cov --cov-report=term --cov-report=json:build/coverage.json

check: setup ## lint, formatting, types
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

bench: browser build ## the benchmarks, as medians and ratios of one run
	$(PY) -m scripts.bench

lock: setup ## write requirements.txt anew from pyproject.toml
	$(PY) -m scripts.lock

setup:
	@test -n "$(FIRST_PYTHON)" || { echo "setup: no Python 3.9 or newer was found"; exit 1; }
	@$(FIRST_PYTHON) scripts/setup.py

browser: setup
	@$(FIRST_PYTHON) scripts/setup.py --browser

clean: ## remove what was built; fetched packages stay
	rm -rf site build .cache
