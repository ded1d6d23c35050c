# Python's packages, in .venv. make report installs only those of plots, and none where python3 has them; make test adds
# those of the tests. pip resolves both files together, so that no package of the tests changes a pinned version of
# plots.

# Python compiles a module when it is first imported. To compile all of them takes as long as to fetch them.
VENV_INSTALL := .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile
VENV_CREATE := python3 -m venv .venv > build/venv.log 2>&1 || \
    { rm -rf .venv; echo "Python's venv module is missing; install it: apt-get install python3-venv" >&2; exit 1; }
# $(call fetching,requirements,MB): says what is about to be fetched, because pip is silent for a minute or two.
packages_of = $(shell sed -n 's/^\([A-Za-z][A-Za-z0-9_-]*\)==.*/\1/p' $(1) | sort -u)
fetching = @echo 'packages: installing $(call packages_of,$(1)) and what they need into .venv: about $(2) MB' \
    'from pip'\''s index (pypi.org, if nothing else is set), once, in a minute or two'

# Where there is no .venv and python3 has the packages, python3 makes the chapter: no network is needed.
ifneq ($(filter report slides,$(MAKECMDGOALS)),)
PLOTS_PYTHON := $(if $(wildcard .venv/ready),,$(shell python3 plots/packages.py && echo python3))
endif
PLOTS_READY := $(if $(PLOTS_PYTHON),,.venv/ready)

.venv/ready: plots/requirements.txt
	@mkdir -p build; rm -rf .venv
	$(call fetching,$<,40)
	@echo 'packages: 1 of 2: making .venv'
	@$(VENV_CREATE)
	@echo 'packages: 2 of 2: fetching and installing'
	@$(VENV_INSTALL) -r $< 2> build/venv.log || \
	    { rm -rf .venv; python3 plots/packages.py --missing || exit 1; tail -n 3 build/venv.log >&2; exit 1; }
	@touch $@

.venv/tests: tests/requirements.txt lab/requirements.txt .venv/ready
	$(VENV_INSTALL) -r plots/requirements.txt -r lab/requirements.txt -r $<
	@touch $@

.venv/lab: lab/requirements.txt
	@mkdir -p build
	$(call fetching,$<,5)
	@test -x .venv/bin/python || echo 'packages: 1 of 2: making .venv'
	@test -x .venv/bin/python || $(VENV_CREATE)
	@echo 'packages: 2 of 2: fetching and installing'
	@$(VENV_INSTALL) -r $< 2> build/venv.log || \
	    { echo "make similar: pip cannot fetch the packages of $<: $$(tail -n 1 build/venv.log)" >&2; exit 1; }
	@touch $@

# The style of the code, as CI asks for it.
SHELL_FILES := .ci/run .ci/packages $(wildcard mk/*.sh bench/*.sh tools/*.sh)
lint: .venv/tests
	python3 tools/columns.py
	.venv/bin/ruff check --quiet .
	.venv/bin/shellcheck --severity=warning $(SHELL_FILES)
