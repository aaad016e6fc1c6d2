# `make` needs python3 (3.11 or newer) and nothing else: .venv is made by whichever
# target runs first, from requirements.lock, and again when that file changes.
PYTHON ?= python3
ARGS   ?=
BIN    := .venv/bin
READY  := .venv/ready
PIP    := $(BIN)/python -m pip install -qq --no-compile --disable-pip-version-check
LOCKED := --no-deps --require-hashes -r requirements.lock

.DEFAULT_GOAL := help
.PHONY: help load demo ui test test-slow faults fuzz soak check fmt-check lint types layers sql fmt accept bench second-opinion lock notebook docs pages links

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

load: $(READY)  ## load every agent found on this machine (ARGS="...": see `agentlake load --help`)
	@$(BIN)/agentlake load $(ARGS)
demo: $(READY)  ## load the shipped examples into a throw-away warehouse and show them
	@$(BIN)/agentlake demo $(ARGS)
ui: $(READY)  ## start Dagster on your warehouse
	@$(BIN)/agentlake ui $(ARGS)
notebook: $(READY)  ## open notebooks/usage.py on your warehouse (ARGS="--warehouse FILE": another)
	@$(BIN)/agentlake notebook $(ARGS)

test: $(READY)  ## run the fast tests, on all cores (ARGS="-k codex -x", ...)
	@$(BIN)/pytest -q -n auto -m "not slow" $(ARGS)
test-slow: $(READY)  ## the others: real writers, kills, Dagster, the notebook (minutes)
	@$(BIN)/pytest -q -n auto -m slow $(ARGS)
faults: $(READY)  ## fail, kill or fill the disk at 60 changes of files per command (FAULTS=all: at each, hours)
	@AGENTLAKE_FAULTS=$(or $(FAULTS),60) $(BIN)/pytest -q -n auto tests/faults $(ARGS)
fuzz: $(READY)  ## read spoiled homes of all sources for ten minutes (ARGS="--seconds 36000 --seed 7")
	@$(BIN)/python benchmarks/fuzz.py $(ARGS)
soak: $(READY)  ## play homes back for an hour, with kills and readers (ARGS="--under ui --seed 7")
	@$(BIN)/python benchmarks/soak.py $(ARGS)
check: fmt-check lint types layers sql test test-slow  ## everything that CI checks
fmt-check: $(READY)  ## is everything formatted?
	@$(BIN)/ruff format --check --quiet . && $(BIN)/sqlfmt --check --quiet sql docs/queries
lint: $(READY)  ## ruff
	@$(BIN)/ruff check --quiet .
types: $(READY) links  ## mypy, strict
	@$(BIN)/mypy
layers: $(READY) links  ## imports go one way
	@cd .typing && ../$(BIN)/lint-imports --no-logo ../pyproject.toml
sql: $(READY)  ## sqlfluff on the models
	@$(BIN)/sqlfluff lint --disable-progress-bar sql docs/queries
fmt: $(READY)  ## format and repair what can be repaired
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet . && $(BIN)/sqlfmt --quiet sql docs/queries

accept: $(READY)  ## rewrite golden facts and the graph of models (NAME=codex: only those); read the diff
	@AGENTLAKE_ACCEPT=1 $(BIN)/pytest -q $(if $(NAME),-k "$(NAME)") $(ARGS)
pages: $(READY)  ## make the pages of the docs that come from the code
	@$(BIN)/python docs/pages.py && $(BIN)/python docs/chain.py
docs: $(READY)  ## build the docs site into build/site; a broken link fails
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict $(ARGS)
second-opinion: build/second-opinion/ready  ## compare every rate with litellm's table; what is not judged fails
	@$(BIN)/python benchmarks/second_opinion.py build/second-opinion/litellm/model_prices_and_context_window_backup.json
build/second-opinion/ready: benchmarks/second_opinion.lock $(READY)
	@rm -rf $(@D)
	@$(PIP) --no-deps --require-hashes --only-binary :all: --platform manylinux_2_28_x86_64 --target $(@D) -r $<
	@touch $@
bench: $(READY)  ## measure against the budgets (minutes)
	@$(BIN)/python benchmarks/run.py $(ARGS)
lock: $(READY)  ## resolve requirements.lock again (ARGS=--upgrade: to the newest versions)
	@$(BIN)/uv pip compile --system-certs pyproject.toml --extra ui --extra notebook --group dev --universal --python-version 3.11 --generate-hashes \
	    --custom-compile-command "make lock" --quiet --output-file requirements.lock $(ARGS)

# uv needs a fifth of pip's time; pip does it where uv is not to be had, or not let out.
$(READY): requirements.lock
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("agentlake needs Python 3.11 or newer; \
	$(PYTHON) is " + sys.version.split()[0] + ". Choose another: make PYTHON=python3.12 ...")'
	@echo "making .venv (a minute at most, once) ..." >&2
	@$(PYTHON) -m venv .venv
	@{ $(PIP) uv==0.13.9 && $(BIN)/uv pip install --system-certs --compile-bytecode --quiet --python $(BIN)/python $(LOCKED); } || $(PIP) $(LOCKED)
	@$(PIP) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q adapters agentlake models pipelines
	@touch $@

# .typing shows the tools that do not know our import hook where `agentlake.*` is.
links:
	@mkdir -p .typing/agentlake && ln -sfn $(foreach d,adapters fixtures models pipelines sql,../../$(d)) \
	    $(addprefix ../../,$(wildcard agentlake/*.py) agentlake/py.typed) .typing/agentlake/
