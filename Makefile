# Builds the steps, ./step01 to ./step08, and what belongs to them. `make help` lists the targets.
#
# Every kernel file is compiled twice, and both halves are linked into one program: by CXX for the simulator and, where
# there is one, by nvcc for the GPU. The rules are in mk/, one file for each job.

# TEXTS and SETTINGS count only on the command line. Some systems export a NAME, a GPU or an ARCH of their own. BUILD
# counts from the environment, too, as in other projects. OURS are set by these files alone. No value is expanded: make
# would run the command in FILE='$(shell rm -r ~)'. Recipes get the TEXTS from the environment, as "$$FILE", because a
# quote in a text would end one of the recipe. This stands before the first $(shell), because make 4.4 expands what the
# command line sets for that one, too.
TEXTS := FILE ARGS SIM CHECK NAME NAMES SUBMISSIONS EXERCISE EXPORT PSEUDONYMS GRADE SEED DUE \
         LATE_POINTS RESULTS WORK AGAINST PEER_SIZES PEER_TYPES SPREAD_SIZES PREFIX DESTDIR
SETTINGS := DEVICE SHOW NEWEST COMMIT ARCH GPU V SANITIZE COUNTING CLEANED
BUILD := CXX CXXFLAGS CPPFLAGS LDFLAGS LDLIBS CC CFLAGS HOSTCXX NVCC NVCCFLAGS CUDA_HOME NCCL_HOME SIM_O JOBS
OURS := SANITIZERS WRAP LIBRARIES GROUPED PLOTS_PYTHON RENAME_HOOKS TO_MAKE made
$(foreach name,$(TEXTS) $(SETTINGS) $(OURS), \
    $(if $(filter command,$(origin $(name))),,$(eval override undefine $(name))))
$(foreach name,$(TEXTS) $(SETTINGS) $(BUILD), \
    $(if $(filter command environment,$(origin $(name))),$(eval override $(name) := $$(value $(name)))))
override RESULTS := $(or $(value RESULTS),results)
export $(TEXTS)
# $(call quoted,text): the text as one word of the shell.
quoted = '$(subst ','\'',$(1))'

# As many jobs as processors, unless -jN says otherwise.
JOBS ?= $(shell nproc)
digits := 0 1 2 3 4 5 6 7 8 9
no_digits = $(if $(1),$(call no_digits,$(wordlist 2,10,$(1)),$(subst $(firstword $(1)),,$(2))),$(2))
ifneq ($(words $(JOBS))$(call no_digits,$(digits),$(JOBS)),1)
$(error JOBS=$(JOBS): expected a number of compilations at once, such as JOBS=2)
endif
ifeq ($(CLEANED),)
MAKEFLAGS += -j$(JOBS)
endif

# Compiler options come after those of the project: CXXFLAGS=-O0 builds faster, and the simulator is then slower.
CXXFLAGS ?=
NVCCFLAGS ?= -O3 -lineinfo
# The compiler of programs that run during the build. It differs from CXX when cross-compiling.
HOSTCXX ?= $(CXX)

# nvcc: on PATH, or under CUDA_HOME; NVCC= builds for the simulator alone.
ifeq ($(origin NVCC),undefined)
NVCC := $(or $(shell command -v nvcc 2>/dev/null),$(if $(CUDA_HOME),$(wildcard $(CUDA_HOME)/bin/nvcc)))
endif
# Architectures: that of this machine's card, or else every major one that the toolkit knows, and PTX.
GPU := $(if $(NVCC),$(shell nvidia-smi -L 2>/dev/null | grep GPU))
ARCH := $(if $(GPU),native,all-major)

.PHONY: all list grade prelab grade-prelab slides handout gradescope table-whitepaper table-book \
        table-bandwidth peers report check test test-all lint pins sanitize bench-sim bench-page try clean help
.DELETE_ON_ERROR:
.SECONDARY:
all:

# `make clean all` cleans before it builds.
ifneq ($(and $(filter clean,$(MAKECMDGOALS)),$(filter-out clean,$(MAKECMDGOALS))),)
.PHONY: $(MAKECMDGOALS) after-clean
$(filter-out clean,$(MAKECMDGOALS)): after-clean ;
after-clean: clean
	@$(MAKE) --no-print-directory CLEANED=1 $(foreach goal,$(filter-out clean,$(MAKECMDGOALS)),$(call quoted,$(goal)))
else
include mk/compile.mk mk/simcuda.mk mk/try.mk mk/gpus.mk mk/lab.mk mk/measure.mk mk/tests.mk mk/python.mk mk/wrong.mk

all: $(STEPS)

list: $(STEPS)
	@for step in $(STEPS); do ./$$step --list; done | awk 'NR == 1 || !/^step  /'
	@printf '%-18s %-30s %-8s %-4s %-21s %s\n' 'every step' '--one-launch, for any kernel' option GPU 'as the kernel' W12
	@echo
	@echo 'W: the whitepaper; B: the book; F: the bandwidth post; C: the coalescing notes; R: the remap post;' \
	    'E: their errata.'

# The chapter: all steps run on this machine, then tables, figures and verdicts. The packages come before anything is
# compiled, because fetching them is what may fail.
report: $(PLOTS_READY)
	@echo 'make report: builds the steps, runs them, and writes the chapter: 2 to 5 minutes on two idle cores'
	@$(MAKE) -s CLEANED=1 $(STEPS)
	@bash bench/measure.sh report "$$RESULTS" $(or $(PLOTS_PYTHON),.venv/bin/python) plots/report.py

ifeq ($(wildcard tests),)
test test-all:
	@echo 'make $@: this copy has no tests. To check your exercise, type make labNN. To verify the kernel of step 4,' \
	    'type make step04 && ./step04.'
check:
	@echo 'make check: this copy has no tests. ./step04 --all verifies the kernels of a step,' \
	    'make labNN checks your exercise' >&2; exit 2
else
# For who changes a kernel: every kernel verified, and the lessons' counts as a profiler has them.
check: $(STEPS)
	@python3 tools/check.py

# Everything that the tests need is built first. Then the test files run in parallel, one more than there are
# processors, because some wait.
test: .venv/tests all lab-ready simcuda $(TEST_PROGRAMS) $(TRY_PROGRAMS)
	@echo 'make test: about 15 minutes on two idle cores$(if $(TESTS),; test-all takes several times as long)'
	.venv/bin/python -m pytest tests -n $$(($(JOBS) + 1)) --dist loadgroup --durations=10

# make test tries a sample of what takes long (tests/samples.py); this tries all of it, and takes several times as long.
test-all: export TESTS = all
test-all: test
endif
endif

clean:
	rm -rf build compile_commands.json step0[0-9] $(patsubst bench/%.cu,%,$(wildcard bench/*.cu))

# For editors and clangd.
compile_commands.json: FORCE
	@python3 tools/compile_commands.py

help:
	@sh mk/help.sh $(call quoted,$(CXX)) $(call quoted,$(or $(NVCC),none)) $(JOBS) \
	    $(call quoted,$(or $(if $(NVCC),$(ARCH)),none))
