# Needs python3 (3.11 or newer) with pip, and make; everything else goes into $(VENV).
VENV ?= .venv
# Dependency group to install for the tests: dev (everything) or test (no optional library).
GROUP ?= dev
# Processes that share the tests.
JOBS ?= 2

ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN := $(VENV)/Scripts
else
PYTHON ?= python3
BIN := $(VENV)/bin
endif
VENV_PYTHON := $(BIN)/python

# Another environment's search path must not leak into ours.
unexport PYTHONPATH PYTHONHOME

# An environment without a working interpreter (interrupted, moved, or its Python gone) is made anew.
ifneq ($(shell $(VENV_PYTHON) -c "print('works')" 2>/dev/null),works)
$(shell rm -f $(VENV)/.made)
endif

# The environment's own pip, or else the system's working on the environment; -q -q leaves errors only.
PIP = $$($(VENV_PYTHON) -m pip --version >/dev/null 2>&1 && echo "$(VENV_PYTHON) -m pip" \
	|| echo "$(PYTHON) -m pip --python $(VENV_PYTHON)")
INSTALL = $(PIP) install -q -q --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test test-core coverage lint format types layers docs pictures packages recipe mutants fuzz bench paper clean

help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' Makefile

demo: $(VENV)/.extra-files,report ## select features of two data sets, say why, and write the report demo.html
	@$(VENV_PYTHON) -m bahsic demo --report demo.html

test: $(VENV)/.group-$(GROUP) ## run all tests and the examples of the documentation
	$(VENV_PYTHON) -m pytest -n $(JOBS) --dist worksteal $(ARGS)

test-core: ## run the tests without any optional library, in an environment of its own
	@$(MAKE) --no-print-directory VENV=.venv-core GROUP=test test

coverage: $(VENV)/.group-dev ## run all tests and say which lines of the package none of them runs; also in coverage.xml
	$(VENV_PYTHON) -m coverage run -m pytest $(ARGS)
	$(VENV_PYTHON) -m coverage combine -q
	$(VENV_PYTHON) -m coverage xml -q
	$(VENV_PYTHON) -m coverage report

lint: $(VENV)/.group-dev ## check style, formatting, spelling, prose, the workflows and the repository
	$(VENV_PYTHON) -m ruff check .
	$(VENV_PYTHON) -m ruff format --check .
	$(BIN)/codespell src docs experiments benchmarks *.md
	$(VENV_PYTHON) docs/check_prose.py
	$(BIN)/zizmor --offline --no-progress --quiet .github
	$(VENV_PYTHON) -m repo_review --show err .

format: $(VENV)/.group-dev ## format the sources in place
	$(VENV_PYTHON) -m ruff format .

types: $(VENV)/.group-dev ## check the types
	$(VENV_PYTHON) -m mypy

layers: $(VENV)/.group-dev ## check that imports point down only
	$(BIN)/lint-imports --no-cache

docs: $(VENV)/.group-docs ## build the site into docs/_build/html; a warning or a broken link is an error
	@$(VENV_PYTHON) -m sphinx -b html -W --keep-going -n -q -d docs/_build/doctrees docs docs/_build/html $(ARGS)
	@$(VENV_PYTHON) docs/check_links.py docs/_build/html

pictures: $(VENV)/.group-dev ## draw the pictures of the README and of docs; ARGS="report.png plot_*" chooses; needs Chromium
	@$(VENV_PYTHON) docs/pictures/make.py $(ARGS)

packages: $(VENV)/.group-dev ## build wheel and sdist, and try them in empty environments; ARGS="alone dask" chooses
	@$(VENV_PYTHON) .ci/packages.py $(ARGS)

recipe: $(VENV)/.group-dev ## render the recipe for conda-forge
	@$(INSTALL) "py-rattler-build>=0.73,<0.74"
	@$(VENV_PYTHON) -c "import rattler_build as r; print(*r.Stage0Recipe.from_file('.conda/recipe/recipe.yaml').render())"

mutants: $(VENV)/.group-dev ## try small changes of the code and count those that no test notices; ARGS="--part engine"
	@$(INSTALL) "cosmic-ray>=8.3"
	@$(VENV_PYTHON) .ci/mutants.py $(ARGS)

fuzz: $(VENV)/.group-dev ## attack files, results, checkpoints, inference and selections at random; ARGS="--minutes 10 --seed 7"
	@PYTHONPATH=tests $(VENV_PYTHON) -m fuzz $(ARGS)

bench: $(VENV)/.group-dev ## measure speed, memory and exactness; ARGS="--quick roof" chooses
	@$(VENV_PYTHON) benchmarks/run.py $(ARGS)

paper: $(VENV)/.extra-experiments ## run what is missing of the experiments, draw them and write their pages in docs; ARGS="ring --renew"
	@$(VENV_PYTHON) -m experiments run $(ARGS)
	@$(VENV_PYTHON) -m experiments figure
	@$(VENV_PYTHON) docs/pictures/make.py "artificial_*"
	@$(VENV_PYTHON) -m experiments page

clean: ## remove the environments and everything generated
	rm -rf .venv .venv-core benchmarks/.peers benchmarks/.scale demo.html demo_features.csv dist docs/_build docs/gallery docs/generated .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage* coverage.xml
	find src tests benchmarks experiments docs -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made:
	@echo "Creating $(VENV)"
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'bahsic needs Python 3.11 or newer, this is ' + sys.version)"
	@$(VENV_PYTHON) -c "" 2>/dev/null || $(PYTHON) -m venv --clear $(VENV) >/dev/null 2>&1 \
		|| $(PYTHON) -m venv --clear --without-pip $(VENV)
	@touch $@

$(VENV)/.extra-%: pyproject.toml $(VENV)/.made
	@echo "Installing bahsic[$*]"
	@$(INSTALL) -e ".[$*]"
	@touch $@

$(VENV)/.group-%: pyproject.toml $(VENV)/.made
	@echo "Installing bahsic for $*"
	@$(VENV_PYTHON) .ci/requirements.py $* > $@.txt
	@$(INSTALL) -e . -r $@.txt
	@touch $@

# The selectors that ours are measured against; benchmarks/peers.py asks for this with a VENV of its own.
$(VENV)/.peers: benchmarks/peers.txt $(VENV)/.made
	@echo "Installing $<"
	@$(INSTALL) -r $<
	@touch $@
