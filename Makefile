# Watchkeeper. `make demo` and `make test` set up all they need; a second run is instant.
PYTHON ?= python3
PY := .venv/bin/python
# What a run needs is locked apart from what its development needs.
RUN := .venv/.locked-run
DEV := .venv/.locked-dev
# A Slack server written by others, for the scenarios.
OTHER_SLACK := .cache/local-slack/.locked
# Two workers; a file's tests stay together, so that its servers are started once.
WORKERS ?= 2
PYTEST_ARGS ?=
# Options of the demo, e.g. DEMO=--real-model
DEMO ?=
# Seconds for each target of `make fuzz`, and which targets; all when none is named.
FUZZ_SECONDS ?= 300
FUZZ ?=
# The seed of `make chaos`; a new one when empty.
SEED ?=

.DELETE_ON_ERROR:
.PHONY: help demo test test-fast lint bench fuzz chaos web lock system-packages

help:
	@echo "make demo       a local Slack in the browser, the bot and a throw-away machine"
	@echo "make test       everything; make test-fast: what takes under a minute"
	@echo "make fuzz       rubbish into all that reads, FUZZ_SECONDS=300 for each of its targets"
	@echo "make chaos      200 messages, 20 kills, a Slack that plays up; SEED= runs one again"
	@echo "make bench      what it costs, each beside its floor"
	@echo "make web        builds the page of the local Slack anew (needs Node.js)"
	@echo "make lock       locks the newest allowed versions of all dependencies"

demo: $(RUN)
	@exec $(PY) -m bot demo $(DEMO)

test: system-packages $(DEV) $(OTHER_SLACK) lint
	$(PY) -m pytest -n $(WORKERS) --dist loadfile $(PYTEST_ARGS)

test-fast: $(DEV)
	$(PY) -m ruff check --quiet .
	$(PY) -m pytest -n $(WORKERS) --dist loadfile -m "not slow and not browser" $(PYTEST_ARGS)

lint: $(DEV)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	.venv/bin/lint-imports --no-logo

bench: $(DEV)
	@exec $(PY) -m tests.bench

fuzz: $(DEV)
	@FUZZ_EXAMPLES=100 exec $(PY) -m tests.fuzz --seconds $(FUZZ_SECONDS) $(FUZZ)

chaos: system-packages $(DEV)
	@exec $(PY) -m tests.chaos $(if $(SEED),--seed $(SEED))

web:
	cd bot/workspace/page && npm ci && npm run build

# make lock UPGRADE= keeps the versions already locked where they are still allowed.
UPGRADE ?= --upgrade
LOCKED := --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-emit-find-links --no-annotate
lock: $(DEV)
	test -x .venv/bin/uv || $(PY) -m pip install --quiet uv
	.venv/bin/uv pip compile pyproject.toml $(UPGRADE) $(LOCKED) -o requirements.lock
	.venv/bin/uv pip compile pyproject.toml $(UPGRADE) $(LOCKED) --group dev \
		-c requirements.lock -o requirements-dev.lock

system-packages:
	@.ci/system-packages

$(OTHER_SLACK): tests/scenarios/local-slack/package-lock.json .ci/local-slack | system-packages
	@.ci/local-slack $@

$(RUN): requirements.lock .ci/environment
	@PYTHON=$(PYTHON) .ci/environment requirements.lock $@

# All of the run's packages are locked here too, in the same versions.
$(DEV): requirements-dev.lock .ci/environment
	@PYTHON=$(PYTHON) .ci/environment requirements-dev.lock $@
