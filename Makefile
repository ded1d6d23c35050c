# Builds the steps, ./step01 to ./step08, and what belongs to them. You type, for example:
#
#   make step04 && ./step04       build a step, and run it
#   make lab04                    check your exercise
#   make try FILE=program.cu      run a CUDA program of yours on the simulator
#   make report                   run all steps, and write a chapter about the results
#   make test                     build and run the tests
#   make clean                    remove what was built
#   make help                     list all targets, and all settings
#
# Settings follow the target or stand in the environment: CXX=clang++, NVCC= (no GPU), JOBS=1, CXXFLAGS=-O0, V=1.
# Every kernel file is compiled twice, and both halves are linked into one program: by CXX for the simulator and, where
# there is one, by nvcc for the GPU. The rules are in mk/, one file for each job.

# Some systems export a NAME, a GPU or an ARCH of their own, so these count only on the command line. make hands them on
# in the environment: recipes read "$$FILE", because a quote in a text would end one of the recipe.
TEXTS := FILE ARGS SIM CHECK NAME NAMES SUBMISSIONS EXERCISE EXPORT GRADE SEED DUE \
         LATE_POINTS RESULTS AGAINST PAGE URL PEER_SIZES PEER_TYPES SPREAD_SIZES PREFIX DESTDIR
SETTINGS := DEVICE SHOW NEWEST COMMIT ARCH GPU V SANITIZE
$(foreach name,$(TEXTS) $(SETTINGS),$(if $(findstring environment,$(origin $(name))),$(eval undefine $(name))))
export RESULTS ?= results

# As many jobs as processors, unless -jN or JOBS=N says otherwise.
JOBS ?= $(shell nproc)
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif

# Compiler options come after those of the project: CXXFLAGS=-O0 builds faster, and the simulator is then slower.
NVCCFLAGS ?= -O3 -lineinfo
# The compiler of programs that run during the build. It differs from CXX when cross-compiling.
HOSTCXX ?= $(CXX)
# nvcc: on PATH, or under CUDA_HOME.
ifeq ($(origin NVCC),undefined)
NVCC := $(or $(shell command -v nvcc),$(if $(CUDA_HOME),$(wildcard $(CUDA_HOME)/bin/nvcc)))
endif
# Architectures: that of this machine's card, or else every major one that the toolkit knows, and PTX.
GPU := $(if $(NVCC),$(shell nvidia-smi -L 2>/dev/null | grep GPU))
ARCH := $(if $(GPU),native,all-major)

.PHONY: all list grade prelab grade-prelab slides notebook handout gradescope table-whitepaper table-book \
        table-bandwidth peers report check test test-all lint sanitize bench-sim try clean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:
all:

# `make clean all` cleans before it builds.
ifneq ($(and $(filter clean,$(MAKECMDGOALS)),$(filter-out clean,$(MAKECMDGOALS))),)
goals := $(filter-out clean,$(MAKECMDGOALS))
.PHONY: $(goals)
$(goals): cleaned ;
cleaned: clean
	@$(MAKE) --no-print-directory $(goals)
else
include $(addprefix mk/,compile.mk witness.mk simcuda.mk try.mk gpus.mk lab.mk python.mk measure.mk tests.mk wrong.mk)
all: $(STEPS)
endif

clean:
	rm -rf build step0[0-9] $(patsubst bench/%.cu,%,$(wildcard bench/*.cu))

help:
	@CXX='$(CXX)' NVCC='$(NVCC)' JOBS='$(JOBS)' ARCH='$(if $(NVCC),$(ARCH))' sh mk/help.sh
