# Python's packages, in .venv. make report installs only those of plots, and none where python3 has them; make test adds
# those of the tests. A room's requirements.txt has what a person chose, each package with its reason, and then the
# packages that come along. Every package has one version.

# Where there is no .venv and python3 has the packages, python3 makes the chapter: no network is needed.
ifneq ($(filter report slides,$(MAKECMDGOALS)),)
PLOTS_PYTHON := $(if $(wildcard .venv/ready),,$(shell python3 plots/packages.py && echo python3))
endif
PLOTS_READY := $(if $(PLOTS_PYTHON),,.venv/ready)

.venv/ready: plots/requirements.txt
	@sh mk/packages.sh $@ $<

.venv/tests: tests/requirements.txt .venv/ready
	@sh mk/packages.sh $@ $<

# The style of the code, as CI asks for it. For AArch64, shellcheck is not among Python's packages.
SHELL_FILES := .ci/run .ci/packages .ci/site sim/simcuda $(wildcard mk/*.sh bench/*.sh tools/*.sh sim/command/*.sh)
lint: .venv/tests
	@! git ls-files -z ':!*.md' ':!*.csv' ':!*.svg' ':!*.json' ':!*.cff' ':!LICENSE' | \
	    LC_ALL=C.UTF-8 xargs -0 grep -snE '^.{121}'
	.venv/bin/ruff check --quiet .
	python3 tools/indentation.py
	$(or $(wildcard .venv/bin/shellcheck),shellcheck) --severity=warning $(SHELL_FILES)
