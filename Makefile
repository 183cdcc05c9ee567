# Everything a newcomer needs. `make help` lists it.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup analytics run test test-stories test-attacks test-parts test-long check check-static check-tests fmt path clean compose-test

VENV := .venv
BIN := $(VENV)/bin
PIP := sh infra/local/pip.sh $(VENV)
INSTALL := $(PIP) install --quiet --quiet --no-deps --require-hashes
CACHE := .cache
AXE := axe-core@4.14.1
ASYNCAPI := @asyncapi/parser@3.6.6
CODE := schemas shared services infra tests
PYTEST := $(BIN)/python -m pytest --timeout 600
PARTS := tests/unit/ tests/contracts/ tests/architecture/ tests/services/
STORIES := tests/paths/ tests/readme/ tests/consumers/ tests/web/
CLUSTER := $(wildcard tests/*/test*_cluster.py)
ALONE := $(addprefix --ignore=,$(filter-out tests/unit/%,$(CLUSTER)))

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.ready ## Install everything into .venv; leaves .venv/bin/schleuse

$(VENV)/.ready: infra/requirements/run.txt infra/local/launcher.sh infra/local/make-venv.sh
	@echo "Installing into $(VENV) (about a minute)"
	@sh infra/local/make-venv.sh $(VENV)
	@$(INSTALL) -r infra/requirements/run.txt
	@$(BIN)/python -c 'import sysconfig, pathlib; pathlib.Path(sysconfig.get_path("purelib"), "schleuse.pth").write_text(str(pathlib.Path.cwd()) + "\n")'
	@install -m 755 infra/local/launcher.sh $(BIN)/schleuse
	@$(BIN)/python -m compileall -q schemas shared services infra
	@touch $@

$(VENV)/.ready-test: infra/requirements/test.txt $(VENV)/.ready
	@echo "Installing what tests need"
	@$(INSTALL) -r infra/requirements/test.txt
	@touch $@

analytics: $(VENV)/.ready-analytics ## Add ClickHouse, embedded (chDB), for figures over millions of rows: 100 MB to download, 350 MB on the disk

$(VENV)/.ready-analytics: infra/requirements/analytics.txt $(VENV)/.ready
	@echo "Installing ClickHouse (chDB)"
	@$(INSTALL) -r infra/requirements/analytics.txt
	@touch $@

run: setup ## Set up and start everything in this terminal; Ctrl-C stops it (UP="--port-base 9000" passes options)
	@exec $(BIN)/schleuse up $(UP)

test: $(VENV)/.ready-test $(VENV)/.ready-analytics $(CACHE)/.browser $(CACHE)/.axe $(CACHE)/.nginx $(CACHE)/.firewall $(CACHE)/.mail $(CACHE)/.age $(CACHE)/.asyncapi $(CACHE)/.node ## Run every test but the long campaigns, in random order
	@$(MAKE) --no-print-directory -j3 --output-sync=line test-stories test-attacks test-parts

# Two installations beside each other: tests of a running product wait more than they compute
test-stories:
	@$(PYTEST) -m "not long" $(ARGS) $(ALONE) $(STORIES)

test-attacks:
	@$(PYTEST) -m "not long" $(ARGS) $(ALONE) $(filter-out $(PARTS) $(STORIES),$(wildcard tests/*/))

# What needs no running product gives way to what measures one. A cluster takes a fifth of the machine while it does nothing, so there is one, and late
test-parts:
	@nice -n 10 $(PYTEST) -m "not long" $(ARGS) $(PARTS); parts=$$?; \
	$(PYTEST) -m "not long" $(ARGS) $(filter-out tests/unit/%,$(CLUSTER)) && exit $$parts

test-long: $(VENV)/.ready-test $(CACHE)/.browser $(CACHE)/.axe $(CACHE)/.nginx $(CACHE)/.firewall $(CACHE)/.mail $(CACHE)/.age $(CACHE)/.asyncapi $(CACHE)/.node ## Run the long campaigns
	@$(PYTEST) -m long --timeout 3000 $(ARGS) tests

compose-test: $(VENV)/.ready-test ## Run docker-compose.yml with podman from nothing, attack it, publish in it, take it down (as root)
	@$(BIN)/python -m tests.compose.trial

check: $(VENV)/.ready-test ## Format, lint, types, import contracts, unit and contract tests: under a minute
	@$(MAKE) --no-print-directory -j2 --output-sync=target check-static check-tests

check-static:
	@$(BIN)/ruff format --check --quiet $(CODE)
	@$(BIN)/ruff check --quiet $(CODE)
	@$(BIN)/lint-imports --no-cache >/dev/null || $(BIN)/lint-imports --no-cache
	@$(BIN)/mypy

check-tests:
	@$(PYTEST) -q $(wildcard tests/unit tests/contracts tests/architecture)

fmt: $(VENV)/.ready-test ## Format the code and repair what the linter can
	@$(BIN)/ruff format $(CODE)
	@$(BIN)/ruff check --fix $(CODE)

path: setup ## Follow one event through the code: make path EVENT=item.decided
	@$(BIN)/python -m infra.local.event_path $(EVENT)

$(CACHE)/.browser:
	@mkdir -p $(CACHE)
	@sh infra/local/browser.sh
	@touch $@

$(CACHE)/.axe:
	@mkdir -p $(CACHE)
	@if command -v npm >/dev/null; then npm install --silent --no-save --prefix $(CACHE) $(AXE); \
	else echo "npm is missing: the accessibility tests will be skipped" >&2; fi
	@touch $@

$(CACHE)/.nginx: infra/local/edge.sh
	@mkdir -p $(CACHE)
	@sh infra/local/edge.sh
	@touch $@

$(CACHE)/.age: infra/local/age.sh
	@mkdir -p $(CACHE)
	@sh infra/local/age.sh
	@touch $@

$(CACHE)/.firewall: infra/local/firewall.sh
	@mkdir -p $(CACHE)
	@sh infra/local/firewall.sh
	@touch $@

$(CACHE)/.mail: infra/local/mail.sh
	@mkdir -p $(CACHE)
	@sh infra/local/mail.sh
	@touch $@

$(CACHE)/.node: schemas/consumers/node/package-lock.json
	@mkdir -p $(CACHE)/node
	@if command -v npm >/dev/null; then cp schemas/consumers/node/package*.json $(CACHE)/node/ && npm ci --silent --prefix $(CACHE)/node; \
	else echo "npm is missing: the consumer in Node will not be tried" >&2; fi
	@touch $@

$(CACHE)/.asyncapi:
	@mkdir -p $(CACHE)/asyncapi
	@if command -v npm >/dev/null; then npm install --silent --no-save --prefix $(CACHE)/asyncapi $(ASYNCAPI); \
	else echo "npm is missing: the AsyncAPI documents will not be parsed" >&2; fi
	@touch $@

clean: ## Remove .venv and caches; state directories stay
	@rm -rf $(VENV) $(CACHE) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
