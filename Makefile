# Everything runs in .venv; `make setup` fills it. Needs git, make and Python >= 3.11.

PYTHON ?= python3
PORT ?= 8000
BIN := .venv/bin
export UV_PYTHON_DOWNLOADS := never
# The certificates of the system, as git and pip use them: a company's own proxy is among them.
export UV_SYSTEM_CERTS := true
export UV_PROJECT_ENVIRONMENT := .venv

.DEFAULT_GOAL := help
.PHONY: help setup demo run test soak check format bench browser stop clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

setup: .venv/.synced ## Install what is locked into .venv

.venv/.synced: pyproject.toml uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Fairdrop needs Python >= 3.11; say which with PYTHON=...")'
	@if command -v uv >/dev/null; then uv sync --frozen --quiet --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')"; else \
		{ test -x $(BIN)/python || $(PYTHON) -m venv .venv; } && \
		{ test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv; } && \
		$(BIN)/uv sync --frozen --quiet --python $(BIN)/python; fi
	@touch $@

demo: setup ## Sell 10 units to 1,000 concurrent buyers over HTTP, and prove it
	@$(BIN)/python manage.py migrate --verbosity 0
	@$(BIN)/python manage.py stampede --buyers 1000 --stock 10

run: setup ## Serve at 127.0.0.1:PORT (8000) until Ctrl-C
	@$(BIN)/python manage.py migrate --verbosity 0
	@$(BIN)/python manage.py make_staff --port $(PORT)
	@exec $(BIN)/python manage.py serve --port $(PORT)

test: setup browser ## Run all tests against a real PostgreSQL and a real Valkey
	@$(BIN)/pytest

soak: setup ## Run the long tests that make test leaves out
	@$(BIN)/pytest -m soak

check: setup ## Format, lint, types, layers, migrations, Django's checks, OpenAPI
	@$(BIN)/ruff format --check --quiet . || { echo "run: make format"; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python manage.py makemigrations --check --dry-run --verbosity 0
	@$(BIN)/python manage.py check --fail-level WARNING
	@$(BIN)/python manage.py spectacular --validate --fail-on-warn --file /dev/null
	@echo "make check: all is well"

format: setup ## Format the source
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: setup ## Measure: each figure as a ratio of the floor, in one run
	@$(BIN)/python -m bench

browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || { \
		if [ "$$(id -u)" = 0 ]; then as=; else as=sudo; fi; \
		$$as apt-get update -qq && $$as apt-get install -qq -y --no-install-recommends chromium >/dev/null; } || \
		{ echo "The browser tests need Chromium: install it, then run make test again."; exit 1; }

stop: setup ## End the embedded PostgreSQL and Valkey of this checkout
	@$(BIN)/python manage.py services stop

clean: ## Remove .venv and all embedded data
	@if test -x $(BIN)/python; then $(BIN)/python manage.py services remove; fi
	rm -rf .venv .state
