# Builds the steps, ./step01 to ./step08, and runs their tests. `make help` lists the targets.
#
# Every kernel file is compiled twice and both halves are linked into one program: by CXX for
# the simulator and, where there is one, by nvcc for the GPU.

# Paths and names reach the shell unchanged, whatever characters they contain. This stands before the first $(shell), because make 4.4
# expands what the command line sets for that one, too: FILE='$(shell rm -r ~)' would run.
RESULTS ?= results
override FILE := $(value FILE)
override SUBMISSIONS := $(value SUBMISSIONS)
override RESULTS := $(value RESULTS)
override CLASS := $(value CLASS)
override PSEUDONYMS := $(value PSEUDONYMS)
override NAMES := $(value NAMES)
# Only from the command line: Windows' Linux exports a NAME, which is the machine's.
override NAME := $(if $(filter command line,$(origin NAME)),$(value NAME))
export FILE SUBMISSIONS RESULTS CLASS PSEUDONYMS NAME NAMES

# As many jobs as processors, unless -jN says otherwise.
JOBS ?= $(shell nproc)
MAKEFLAGS += -j$(JOBS)

CXXFLAGS ?= -O2
# The compiler of programs that run during the build. It differs from CXX when cross-compiling.
HOSTCXX ?= $(CXX)
NVCCFLAGS ?= -O3 -lineinfo

# nvcc: on PATH, or under CUDA_HOME; NVCC= builds for the simulator alone.
ifeq ($(origin NVCC),undefined)
NVCC := $(or $(shell command -v nvcc 2>/dev/null),$(if $(CUDA_HOME),$(wildcard $(CUDA_HOME)/bin/nvcc)))
endif

# Architectures: that of this machine's card, or else every major one that the toolkit knows, and PTX.
ifneq ($(NVCC),)
GPU := $(shell nvidia-smi -L 2>/dev/null | grep GPU)
ARCH ?= $(if $(GPU),native,all-major)
endif

comma := ,
WARNINGS := -Wall -Wextra -Werror
CPP := -std=c++17 -I. -MMD -MP
# CPPFLAGS of `make try` apply to the program, not to the simulator. A standard, as in CPPFLAGS=-std=c++20, is the compiler's, too.
STANDARD := $(filter -std=%,$(CPPFLAGS) $(CXXFLAGS))
COMPILE = $(CXX) $(CPP) $(WARNINGS) $(if $(filter try,$(MAKECMDGOALS)),,$(CPPFLAGS)) $(CXXFLAGS) $(SANITIZERS) -pthread

# A kernel for the simulator passes through three programs: the preprocessor, build/rewrite, which rewrites the syntax that
# only nvcc understands, and the compiler, which puts a call in front of every memory access (-fsanitize=thread).
# sim/core/hooks.cpp is linked in place of the compiler's library. An access is identified by its place in the
# source, so the options keep the compiler from merging or splitting accesses.
SIM_O ?= -O1
SIM_CPP := -x c++ -DSIMULATOR -Isim/cuda
SIM_KERNELS := -w -g -fstack-clash-protection $(SIM_O) -fsanitize=thread,bounds,alignment,vla-bound -fno-optimize-sibling-calls -ftls-model=local-exec
ifneq ($(findstring clang,$(shell $(CXX) --version 2>/dev/null)),)
# Versions after 14 warn about deprecated functions even where the C++ library calls them.
WARNINGS += -Wno-deprecated-declarations
# From -O1 on, clang splits structures before it instruments their accesses. Its bounds checks of locals trap without a report.
SIM_KERNELS += -O0 -fno-inline -fno-sanitize=local-bounds -Xclang -mllvm -Xclang -tsan-instrument-func-entry-exit=0 \
               -Xclang -mllvm -Xclang -tsan-instrument-read-before-write=1 -Xclang -mllvm -Xclang -tsan-distinguish-volatile=1
else
GCC := $(shell $(CXX) -dumpversion 2>/dev/null | cut -d. -f1)
ifneq ($(filter 4 5 6 7 8 9 10,$(GCC)),)
ifneq ($(filter-out clean help,$(or $(MAKECMDGOALS),all)),)
$(error CXX=$(CXX) is g++ $(GCC). The simulator needs g++ 11 or clang++ 14, or newer. Type make CXX=g++-11 or make CXX=clang++)
endif
endif
GROUPED := -Wno-subobject-linkage
SIM_KERNELS += --param tsan-instrument-func-entry-exit=0 --param tsan-distinguish-volatile=1 -fno-tree-sra -fno-ipa-sra -fno-ipa-icf -fno-crossjumping \
               -fno-tree-tail-merge -fno-tree-cselim -fno-tree-pre -fno-code-hoisting -fno-hoist-adjacent-loads -fno-tree-vectorize -fno-tree-sink \
               -fno-thread-jumps --param max-jump-thread-duplication-stmts=0 -fno-strict-aliasing \
               -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset
# g++ does not watch a structure that is an argument or a result. Made by its copy constructor, it is watched. The compiler writes such a
# constructor itself and inlines it, so that its accesses have the place of the copy. g++ inlines a function only if both have some check of
# -fsanitize=undefined, or none. The rewriter leaves out checks that a function does not need; vla-bound, which costs nothing, stays.
SIM_KERNELS += -fno-elide-constructors -finline-small-functions
# The simulator does not ask which register holds a variable, and to note it takes a tenth of the time.
SIM_KERNELS += -fno-var-tracking
# From version 16 on, g++ merges two copies of a structure into one, which moves the load to the line after the store.
SIM_KERNELS += $(shell test '$(GCC)' -ge 16 2>/dev/null && echo -fno-tree-forwprop)
endif

# SANITIZE=address,undefined or SANITIZE=thread: sanitizers watch the host's code; undefined also the kernels'. `make sanitize` runs
# what runs with them. tests/sanitize.py says what they cannot see.
ifneq ($(SANITIZE),)
# Frames are several times as large with them, and the simulator reads debug information on a fiber, too.
SANITIZERS := -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer -g -DSIM_STACK_BYTES=524288
# The simulator has the handler of a kernel's indices itself.
SIM_KERNELS += $(if $(filter undefined,$(subst $(comma), ,$(SANITIZE))),-fsanitize=undefined -fno-sanitize-recover=undefined -fsanitize-recover=bounds)
ifneq ($(filter thread,$(SANITIZE)),)
# Functions end on other fibers than they began on, so their entries and exits are not counted.
SANITIZERS += $(if $(findstring clang,$(shell $(CXX) --version)),-mllvm -tsan-instrument-func-entry-exit=0,-Wno-tsan --param tsan-instrument-func-entry-exit=0) -DHOOKED_AS=__sim_
# What kernels call is the simulator's; the compiler's library has the usual names.
rename_hooks = && nm $(1) | sed -n 's/.* \(__tsan_\(.*\)\)/\1 __sim_\2/p' | sort -u > $(1).hooks && objcopy --redefine-syms=$(1).hooks $(1)
endif
endif

ifneq ($(NVCC),)
CUDA_COMPILE = $(NVCC) -ccbin $(CXX) -arch=$(ARCH) $(CPP) $(NVCCFLAGS) -Xcompiler -Wall,-Wextra,-Werror -Werror all-warnings
LINK = $(NVCC) -ccbin $(CXX) -arch=$(ARCH) $(addprefix -Xcompiler ,-pthread $(SANITIZERS) $(LDFLAGS))
# common/devices/launches.cu records launches before the CUDA runtime gets them.
WRAP := $(addprefix -Xlinker --wrap=,__cudaPushCallConfiguration cudaLaunchKernel __cudaLaunchKernel)
else
LINK := $(CXX) -pthread $(SANITIZERS) $(LDFLAGS)
endif

# The recipe that links a program's objects.
link = $(call say,link,$@) $(LINK) $(if $(filter build/common/devices/launches.cuda.o,$^),$(WRAP)) -o $@ $(filter %.o,$^)

# The objects of C++ and of kernel sources.
cpp_objects = $(patsubst %.cpp,build/%.o,$(filter %.cpp,$(1)))
cu_objects = $(patsubst %.cu,build/%.sim.o,$(filter %.cu,$(1))) $(if $(NVCC),$(patsubst %.cu,build/%.cuda.o,$(filter %.cu,$(1))))
objects = $(cpp_objects) $(cu_objects)

# Step 8 is a program of its own, because it drives several GPUs: see below.
SPREAD := step08_gpus
STEP_8 := $(if $(wildcard $(SPREAD)/main.cu),step08)
STEPS := $(sort $(foreach folder,$(filter-out $(SPREAD),$(wildcard step[0-9][0-9]_*)),$(firstword $(subst _, ,$(folder)))))
# An exercise is not part of its step. `make labNN` compiles and checks it separately. NN is the step's number or,
# for exerciseNN.cu, that of the file.
numbered_exercises = $(wildcard $(1)_*/exercise[0-9][0-9].cu)
step_sources = $(sort $(filter-out %/exercise.cu $(numbered_exercises),$(wildcard $(1)_*/*.cu $(1)_*/*.cpp)))
ALL_KERNELS := $(call objects,$(foreach step,$(STEPS),$(call step_sources,$(step))))

# Half of a small file's compile time is the standard headers, so the compiler gets up to twelve files at once.
# Local names of the files in a folder therefore differ. A file's own types may have local types as members: -Wno-subobject-linkage.
# $(call grouped,folder,sources): build/folder/group1.o and so on. GROUP_RULE below makes them.
grouped = $(if $(2),$(call note_group,build/$(1)/group$(words x $(3)).o,$(wordlist 1,12,$(2))) $(call grouped,$(1),$(wordlist 13,99,$(2)),x $(3)))
note_group = $(eval GROUPS += $(1))$(eval sources_of_$(1) := $(2))$(1)
GROUPS :=
COMMON := build/common/base/commit.o $(call grouped,common/base,$(filter-out %/commit.cpp,$(sort $(wildcard common/base/*.cpp)))) \
          $(call grouped,common,$(filter-out %/main.cpp,$(sort $(wildcard common/*.cpp)))) \
          $(call grouped,common/devices,$(sort $(wildcard common/devices/*.cpp))) $(call grouped,sim/core,$(sort $(wildcard sim/core/*.cpp)))
COMMON_CPP := $(COMMON)
# The CUDA runtime of programs with a main of their own, on the simulator.
RUNTIME := $(call grouped,sim/runtime,$(sort $(wildcard sim/runtime/*.cpp)))
ifneq ($(NVCC),)
COMMON += $(patsubst %.cu,build/%.cuda.o,$(wildcard common/devices/*.cu))
endif
MAIN := build/common/main.o

# make V=1 shows the commands.
ifeq ($(V),)
say = @printf '  %-5s %s\n' '$(1)' '$(2)';
endif

.PHONY: all list grade similar prelab grade-prelab slides handout gradescope table-whitepaper table-book table-bandwidth peers report check test test-all sanitize bench-sim bench-page clean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(STEPS) $(STEP_8)

# The common objects come first. The linker then takes their copy of a shared function template, which is
# not instrumented.
define STEP_RULE
$(1): $(COMMON) $(MAIN) $(call objects,$(call step_sources,$(1))) build/flags.link
	$$(link)
endef
$(foreach step,$(STEPS),$(eval $(call STEP_RULE,$(step))))

build/%.o: %.cpp build/flags
	@mkdir -p $(@D)
	$(call say,C++,$<) $(COMPILE) -c $< -o $@

define GROUP_RULE
$(1): $(sources_of_$(1)) build/flags
	@mkdir -p $$(@D)
	$$(call say,C++,$(patsubst build/%/,%,$(dir $(1))): $(notdir $(sources_of_$(1):.cpp=))) $$(COMPILE) $(GROUPED) $(addprefix -include ,$(sources_of_$(1))) -x c++ -c /dev/null -o $$@
endef
$(foreach group,$(GROUPS),$(eval $(call GROUP_RULE,$(group))))

# Both halves of a program define kernels of the same names. Those of the simulator go into a separate namespace.
build/%.sim.o: %.cu build/rewrite build/flags
	@mkdir -p $(@D)
	$(call say,sim,$<) $(CXX) $(CPP:-MMD=-MD) $(SIM_CPP) $(CPPFLAGS) $(STANDARD) -MF build/$*.sim.d -MT $@ -E $< -o build/$*.sim.pre.ii
	@build/rewrite --namespace simulated build/$*.sim.pre.ii > build/$*.sim.ii
	@$(CXX) -std=c++17 $(CXXFLAGS) $(STANDARD) -pthread $(SIM_KERNELS) -c build/$*.sim.ii -o $@ $(call rename_hooks,$@)

# It runs during the build, so it is compiled for this machine and without the kernels' flags.
build/rewrite: $(wildcard sim/rewrite/*.cpp sim/rewrite/*.h)
	@mkdir -p $(@D)
	$(call say,C++,$@) $(HOSTCXX) -std=c++17 $(WARNINGS) -O1 -o $@ $(filter %.cpp,$^)

build/%.cuda.o: %.cu build/flags.cuda
	@mkdir -p $(@D)
	$(call say,nvcc,$<) $(CUDA_COMPILE) -c $< -o $@

build/common/base/commit.o: build/commit.h

# Loops over 32 lanes compare and count a warp; -O3 vectorizes them.
build/sim/%.o: private CXXFLAGS += -O3 -ftls-model=local-exec

# The serial functions of a step are measured on one core, so they are optimized fully.
build/step%.o: private CXXFLAGS += -O3

# $(call update,text) rewrites the target only if its text changes. It is safe when several makes share a folder, as on a cluster.
update = @mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' > $@.$$$$; if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi

# A change of a compile or link command rebuilds the objects or programs that it makes.
build/flags: FORCE
	$(call update,$(COMPILE) $(SIM_KERNELS) $(TRY_CPP) $(foreach group,$(GROUPS),$(sources_of_$(group))))
build/flags.cuda: FORCE
	$(call update,$(CUDA_COMPILE))
build/flags.link: FORCE
	$(call update,$(LINK) $(WRAP))

COMMIT ?= $(or $(shell git describe --always --dirty --abbrev=10 --exclude '*' 2>/dev/null),unknown)
build/commit.h: FORCE
	$(call update,#define BUILD_COMMIT "$(COMMIT)")

# Tests.

TRY_PROGRAMS := $(patsubst %.cu,build/try/%,$(wildcard tests/programs/*.cu tests/language/*.cu tests/seen/*.cu) tests/divergence.cu tests/atomics_async.cu tests/merges.cu)
TEST_PROGRAMS := build/tests/unit build/tests/rules build/tests/order build/tests/places build/tests/witness build/tests/planted build/tests/faults build/tests/unusual/unusual build/tests/bench_sim build/tests/faulty_gpu

build/tests/unit: $(COMMON) build/tests/unit.o build/tests/probes.sim.o build/flags.link
	$(link)

build/tests/rules build/tests/order: build/tests/%: build/tests/%.o $(COMMON) build/flags.link
	$(link)

# Compares what the hooks saw with what valgrind saw.
build/tests/witness: build/tests/witness.o build/flags.link
	$(link)

# It reads its own debug information.
build/tests/places.o: private override CXXFLAGS += -g
build/tests/places: build/tests/places.o $(COMMON) build/flags.link
	$(link)

build/tests/planted build/tests/faults: build/tests/%: $(COMMON) $(MAIN) $(call cu_objects,tests/%.cu) build/flags.link
	$(link)

build/tests/unusual/unusual: $(COMMON) $(MAIN) $(call cu_objects,$(sort $(wildcard tests/unusual/*.cu))) build/flags.link
	$(link)

# Faults that sanitizers find.
build/tests/sanitized: $(COMMON) $(MAIN) $(call cu_objects,tests/sanitized.cu) build/tests/sanitized_host.o build/flags.link
	$(link)

# Step 4 with common/devices/, both compiled by CXX for the CUDA runtime of tests/faulty_cuda.cpp, whose calls can fail. It has the simulator, too.
FAULTY := $(patsubst %.cu,build/faulty/%.o,common/devices/cuda.cu $(filter %.cu,$(call step_sources,step04)))
build/faulty/%.o: %.cu build/rewrite build/flags
	@mkdir -p $(@D)
	$(call say,C++,$< for tests/faulty_cuda.cpp) $(CXX) $(CPP:-MMD=-MD) $(filter-out -DSIMULATOR,$(TRY_CPP)) $(CPPFLAGS) -MF $(@:.o=.d) -MT $@ -E $< -o $(@:.o=.pre.ii)
	@build/rewrite $(@:.o=.pre.ii) > $(@:.o=.ii)
	@$(CXX) -std=c++17 $(CXXFLAGS) -pthread -w -g -ftls-model=local-exec $(SANITIZERS) -c $(@:.o=.ii) -o $@

build/tests/faulty_cuda.o: private override CPPFLAGS += -isystem sim/cuda
build/tests/faulty_gpu: $(COMMON_CPP) $(MAIN) build/tests/faulty_cuda.o $(FAULTY) $(patsubst %.cu,build/%.sim.o,$(filter %.cu,$(call step_sources,step04))) build/flags.link
	$(call say,link,$@) $(CXX) -pthread $(SANITIZERS) $(LDFLAGS) -o $@ $(filter %.o,$^)

# Mutants of the steps' kernels, written by tests/mutation.py.
build/mutants/%: $(COMMON) $(MAIN) build/build/mutants/%.sim.o build/flags.link
	$(link)

# Measures wavefronts of requests to shared memory on a GPU; needs nvcc to build and a GPU to run.
build/tests/wavefronts: build/tests/wavefronts.cuda.o build/flags.link
	$(link)

build/tests/bench_sim: $(COMMON) build/tests/bench_sim.o $(ALL_KERNELS) build/flags.link
	$(link)

# make report installs only the packages of plots, and none where python3 has them; make test adds those of the tests. pip resolves
# both files together, so that no package of the tests changes a pinned version of plots. Python compiles a module when it is first
# imported. To compile all of them takes as long as to fetch them.
VENV_INSTALL := .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile

VENV_CREATE = python3 -m venv .venv > build/venv.log 2>&1 || { rm -rf .venv; echo "Python's venv module is missing; install it: apt-get install python3-venv" >&2; exit 1; }
.venv/ready: plots/requirements.txt
	@mkdir -p build; rm -rf .venv
	@$(VENV_CREATE)
	@$(VENV_INSTALL) -r $< 2> build/venv.log || { rm -rf .venv; python3 plots/packages.py --missing || exit 1; tail -n 3 build/venv.log >&2; exit 1; }
	touch $@

.venv/tests: tests/requirements.txt lab/requirements.txt .venv/ready
	$(VENV_INSTALL) -r plots/requirements.txt -r lab/requirements.txt -r $<
	touch $@

.venv/lab: lab/requirements.txt
	@mkdir -p build; test -x .venv/bin/python || $(VENV_CREATE)
	@$(VENV_INSTALL) -r $< 2> build/venv.log || { echo "make similar: pip cannot fetch the packages of $<: $$(tail -n 1 build/venv.log)" >&2; exit 1; }
	touch $@

# Everything that the tests need is built first; then the test files run in parallel, one more than there are processors, because some wait. A hand-out has no tests.
ifeq ($(wildcard tests),)
test test-all:
	@echo 'make $@: this copy has no tests. To check your exercise, type make labNN. To verify the kernel of step 4, type make step04 && ./step04.'
else
test: .venv/tests all lab-ready $(TEST_PROGRAMS) $(TRY_PROGRAMS)
	.venv/bin/python -m pytest tests -n $$(($(JOBS) + 1)) --dist loadgroup --durations=10

# make test tries a sample of what takes long (tests/samples.py); this tries all of it, and takes several times as long.
test-all: export TESTS = all
test-all: test
endif

# For who changes a kernel: every kernel verified, and the lessons' counts as a profiler has them. Needs no package of Python's.
ifeq ($(wildcard tests),)
check:
	@echo 'make check: this copy has no tests. ./step04 --all verifies the kernels of a step, make labNN checks your exercise' >&2; exit 2
else
check: $(STEPS)
	@python3 tests/check.py
endif

sanitize:
	@python3 tests/sanitize.py --jobs $(JOBS) $(if $(WORK),--work '$(WORK)')

bench-page: .venv/tests
	.venv/bin/python tests/bench_page.py

bench-sim: build/tests/bench_sim
	$(if $(AGAINST),python3 tests/bench_against.py $(AGAINST),./build/tests/bench_sim)

# Measuring programs that are not steps: bench/NAME.cu becomes ./NAME.
BENCHES := $(patsubst bench/%.cu,%,$(wildcard bench/*.cu))
ifeq ($(NVCC),)
.PHONY: $(BENCHES)
$(BENCHES):
	@echo 'make $@: needs nvcc and a GPU' >&2; exit 1
else
$(BENCHES): %: build/bench/%.cuda.o build/flags.link
	$(link)
endif

# Some trials use instructions that only Hopper has.
trials build/bench/trials.cuda.o: private ARCH = sm_90

# One program runs every step's kernels and the libraries that transpose, in turns. For libraries whose headers the
# toolkit lacks: CPLUS_INCLUDE_PATH=.../cutlass/include:.../cutensor/include LIBRARY_PATH=.../lib make peers LDLIBS=-lcutensor
PEERS := step07_in_flight/peers
build/peers: $(COMMON) $(MAIN) $(ALL_KERNELS) $(patsubst %.cu,build/%.cuda.o,$(wildcard $(PEERS)/*.cu)) build/$(PEERS)/python.o build/flags.link
	$(link) -lcublas $(LDLIBS)

PEER_SIZES ?= 2048,4096,8192,16384,32768,16512,49152x12288,16383x16381,10007x6007,10008x6008,16385
PEER_TYPES ?= char half float double int double2
ifeq ($(NVCC),)
peers:
	@echo 'make peers: needs nvcc and a GPU' >&2; exit 1
else
peers: build/peers
	@mkdir -p $(RESULTS) && rm -f $(RESULTS)/peers_*.csv
	for type in $(PEER_TYPES); do ./$< --device cuda --type $$type --size $(PEER_SIZES) --reps 10 --csv $(RESULTS)/peers_$$type.csv || exit; done
	python3 plots/tables.py peers $(RESULTS)/peers_*.csv
	$(spread_peers)

# Where there are several GPUs, step 8 follows, beside copies between them and NCCL's messages, its bounds, and PyTorch's exchange.
SPREAD_SIZES ?= 8192,16384,32768
GPUS := $(words $(filter GPU,$(GPU)))
ifneq ($(filter-out 0 1,$(GPUS)),)
peers: step08
define spread_peers
	@mkdir -p $(RESULTS)/gpus && rm -f $(RESULTS)/gpus/*.csv
	for type in float double; do ./step08 --device cuda --all --type $$type --size $(SPREAD_SIZES) --csv $(RESULTS)/gpus/step08_$$type.csv || exit; done
	if python3 -c 'import torch' 2> /dev/null; then \
		for type in float double; do python3 -m torch.distributed.run --nproc-per-node $(GPUS) step08_gpus/peers/all_to_all.py --type $$type --size $(SPREAD_SIZES) \
			--csv $(RESULTS)/gpus/torch_$$type.csv --beside $(RESULTS)/gpus/step08_$$type.csv || exit; done; \
	else echo 'make peers: python3 has no PyTorch, whose exchange is left out'; fi
endef
else
spread_peers = @echo 'make peers: step 8 and its contenders need two GPUs'
endif
endif

list: $(STEPS)
	@for step in $(STEPS); do ./$$step --list; done | awk 'NR == 1 || !/^step  /'
	@printf '%-18s %-30s %-8s %-4s %-21s %s\n' 'every step' '--one-launch, for any kernel' 'option' 'GPU' 'as the kernel' 'W12'
	@echo
	@echo 'W: the whitepaper; B: the book; F: the bandwidth post; C: the coalescing notes; R: the remap post; E: their errata.'

# The sources' tables, measured again. $(call measure,table,step,options) writes each step's results to a separate
# file. Without a GPU, they are the simulator's counts and model, for the whitepaper's tables those of a GTX 280.
measure = ./$(2) --csv $(RESULTS)/$(1)_$(2)$(4).csv $(3)

table-whitepaper: $(STEPS)
	@mkdir -p $(RESULTS) && rm -f $(RESULTS)/whitepaper_*.csv
	for step in step01 step02 step03 step04 step05 step06; do $(call measure,whitepaper,$${step},--kernel W --size 2048 $(if $(GPU),--one-launch,--machine gtx280)) || exit; done
	python3 plots/tables.py whitepaper $(RESULTS)/whitepaper_*.csv

table-book: $(STEPS)
	@mkdir -p $(RESULTS) && rm -f $(RESULTS)/book_*.csv
	for step in $(if $(GPU),step01) step02 step03 step04 step06; do $(call measure,book,$${step},--kernel B --sweep book) || exit; done
	$(call measure,book,step02,--kernel transposeSerialBlocked --sweep book,_blocked)
	$(call measure,book,step04,--kernel transposeTile32Padded --sweep book,_tile32)
	python3 plots/tables.py book $(RESULTS)/book_*.csv

table-bandwidth: $(STEPS)
	@mkdir -p $(RESULTS) && rm -f $(RESULTS)/bandwidth_*.csv
	for step in step01 step02 step06; do $(call measure,bandwidth,$${step},--kernel F --size 4096) || exit; done
	$(call measure,bandwidth,step02,--kernel F9 --size 4096 --block 32x16$(comma)32x8$(comma)64x16$(comma)64x8$(comma)128x8,_blocks)
	$(if $(GPU),for step in step01 step02; do $(call measure,bandwidth,$${step},--kernel F --size 4096 --device sim,_counts) || exit; done)
	python3 plots/tables.py bandwidth $(RESULTS)/bandwidth_*.csv

# `make try` runs a program with its own main: FILE=program.cu, or several files of one program, also of C++ and C;
# ARGS='its arguments'; SIM='--machine t4 --csv counts.csv --trace trace.csv --quiet --blocks 64'; CPPFLAGS='-I... -std=c++20' for its headers and its standard;
# DEVICE=cuda: on the GPU, by nvcc. With the simulator, a report follows what the program prints.
TRY_CPP := -x c++ -std=c++17 -DSIMULATOR -D__CUDACC__ -D__NVCC__ -D__CUDA_ARCH__=900 -isystem sim/cuda -include cuda_runtime.h
# $(call try_rewritten,options of the preprocessor,those of build/rewrite,source,stem): writes stem.ii and sets $status. The headers of
# libraries that the simulator does not have are replaced by empty ones, each after one more try. Then 2: refused; 3: has kernels.
try_rewritten = status=4; while test $$status = 4; do status=0; \
                if $(CXX) -isystem $(4).headers $(1) -I"$$(dirname $(3))" $(CPPFLAGS) $(STANDARD) -E $(3) -o $(4).pre.ii 2> $(4).err; \
                then build/rewrite $(2) --headers $(4).headers $(4).pre.ii > $(4).ii || status=$$?; \
                else build/rewrite --missing --headers $(4).headers $(4).err || status=$$?; fi; \
                done; rm -rf $(4).headers; test $$status != 2 || exit 2
# $(call try_object,source,stem,further options of the preprocessor): the object stem.o of one file.
try_object = $(call try_rewritten,$(TRY_CPP) $(3),--plain-host,$(1),$(2)); cat $(2).err >&2; \
             $(CXX) -std=c++17 -pthread $(CXXFLAGS) $(STANDARD) $(SIM_KERNELS) -c $(2).ii -o $(2).o $(call rename_hooks,$(2).o) && rm $(2).pre.ii $(2).err
# In a program of several files, those that end in .cpp are plain C++ and those that end in .c are C, as for nvcc. C++ that has kernels is CUDA C++.
TRY_HOST_CPP := -D__NVCC__ -D__CUDACC_VER_MAJOR__=13 -D__CUDACC_VER_MINOR__=0
try_cpp_object = $(call try_rewritten,-x c++ -std=c++17 $(TRY_HOST_CPP) -isystem sim/cuda,--host,$(1),$(2)); \
                 if test $$status = 3; then $(call try_object,$(1),$(2)) && status=3; else cat $(2).err >&2; \
                 $(CXX) -std=c++17 -pthread -w -g -fno-optimize-sibling-calls $(CXXFLAGS) $(STANDARD) -c $(2).ii -o $(2).o && rm $(2).pre.ii $(2).err; fi
# The C compiler is that of CXX: gcc-12 of g++-12.
TRY_CC := $(if $(filter default undefined,$(origin CC)),$(subst c++,cc,$(subst g++,gcc,$(subst clang++,clang,$(CXX)))),$(CC))
try_c_object = $(TRY_CC) -x c -std=gnu17 $(TRY_HOST_CPP) -I"$$(dirname $(1))" $(filter-out -std=%,$(CPPFLAGS)) $(CFLAGS) -E $(1) -o $(2).pre.i 2> $(2).err \
                 || { build/rewrite --c --missing $(2).err; exit 2; }; cat $(2).err >&2; \
             build/rewrite --c $(2).pre.i > $(2).i && $(TRY_CC) -std=gnu17 -pthread -w -g $(or $(CFLAGS),-O2) -c $(2).i -o $(2).o && rm $(2).pre.i $(2).err
# The instrumented objects come before the plain ones. Of a function in a header that both have, the linker then takes the instrumented copy.
try_link = $(CXX) -pthread $(CXXFLAGS) $(SANITIZERS) $(LDFLAGS) -o $(1) $(COMMON_CPP) $(RUNTIME) $(2) $(LDLIBS)

build/try/%.o: %.cu build/rewrite build/flags
	@mkdir -p $(@D)
	$(call say,sim,$<) $(call try_object,'$<','build/try/$*',-MD -MP -MF build/try/$*.d -MT $@)

build/try/%: build/try/%.o $(COMMON_CPP) $(RUNTIME)
	$(call say,link,$@) $(call try_link,'$@','$<')

# Step 8: one text, two programs. build/try/step08 runs on the simulator, as `make try` builds it. Where there is nvcc, ./step08
# is for GPUs, and starts the other one where there are too few; elsewhere it is the same. NCCL is used if its header is
# installed, or NCCL_HOME names its folder: .../site-packages/nvidia/nccl of the package nvidia-nccl-cu13.
NCCL_HEADER := $(firstword $(wildcard $(NCCL_HOME)/include/nccl.h /usr/include/nccl.h))
NCCL_FLAGS := $(if $(NCCL_HOME),-I$(NCCL_HOME)/include)
NCCL_LIBRARY := $(if $(NCCL_HEADER),$(if $(NCCL_HOME),-L$(NCCL_HOME)/lib -Xlinker -rpath=$(NCCL_HOME)/lib) -l:libnccl.so.2)
SPREAD_FILES := $(filter-out $(SPREAD)/exercise%,$(wildcard $(SPREAD)/*.cu))
SPREAD_HOST := $(call cpp_objects,$(wildcard $(SPREAD)/*.cpp))
SPREAD_GPU := $(patsubst %.cu,build/%.cuda.o,$(if $(NCCL_HEADER),$(SPREAD_FILES),$(filter-out %/packed.cu %/network.cu,$(SPREAD_FILES))))
SPREAD_SIM := $(patsubst %.cu,build/try/%.o,$(SPREAD_FILES))
$(SPREAD_GPU): private CPP += $(NCCL_FLAGS)

build/try/step08: $(SPREAD_SIM) $(SPREAD_HOST) $(COMMON_CPP) $(RUNTIME)
	$(call say,link,$@) $(call try_link,'$@',$(SPREAD_SIM) $(SPREAD_HOST))

ifeq ($(NVCC),)
step08: build/try/step08
	$(call say,link,$@) ln -f $< $@
else
step08: build/try/step08 $(SPREAD_GPU) $(SPREAD_HOST) $(COMMON_CPP) build/flags.link
	$(call say,link,$@) $(LINK) -o $@ $(filter-out $<,$(filter %.o,$^)) $(NCCL_LIBRARY)
endif

# A name with spaces is one file if there is such a file.
TRY_FILES = test -n "$$FILE" || { echo 'make try: no program given; write make try FILE=program.cu' >&2; exit 2; }; \
            if test -f "$$FILE"; then set -- "$$FILE"; else set -- $$FILE; fi; \
            for file; do test -f "$$file" || { echo "make try: FILE=$$file: no such file" >&2; exit 2; }; done
# Several may run at once. Each builds in a folder of its own, and moves whole files to one that is named after the program's folder, since
# many programs are called main.cu.
TRY_FOLDER = name=$$(basename "$${1%.*}"); kept=build/tried/$$(dirname "$$1" | tr -c 'A-Za-z0-9=+\n-' _ | tail -c 200); mkdir -p "$$kept"; own=$$(mktemp -d build/tried/XXXXXX) || exit 2; \
             keep() { mv -f "$$own"/file* "$$kept" 2> /dev/null; rm -rf "$$own"; }; trap keep EXIT; trap 'exit 2' HUP INT TERM
# The program takes the shell's place, and with it the signals.
TRY_RUN = mv -f "$$own/$$name" "$$kept" || exit 2; keep; trap - EXIT HUP INT TERM; exec "$$kept/$$name" $(ARGS)

.PHONY: try
ifeq ($(DEVICE),cuda)
try:
	@$(if $(NVCC),,echo 'make try DEVICE=cuda: needs nvcc' >&2; exit 2;) $(TRY_FILES); $(TRY_FOLDER); name=$$name.gpu; \
	$(NVCC) -ccbin $(CXX) -arch=$(ARCH) $(or $(lastword $(filter -std=%,$(CPPFLAGS) $(NVCCFLAGS))),-std=c++17) $(filter-out -std=%,$(CPPFLAGS) $(NVCCFLAGS)) "$$@" -o "$$own/$$name" || exit 2; \
	$(TRY_RUN)
else
try: build/rewrite $(COMMON_CPP) $(RUNTIME)
	@$(TRY_FILES); $(TRY_FOLDER); objects=; plain=; n=0; for file; do \
	    n=$$((n + 1)); object=$$own/file$$n.o; case "$$file" in \
	        *.cpp | *.cc | *.cxx) $(call try_cpp_object,"$$file",$$own/file$$n) || exit 2;; \
	        *.c) status=0; $(call try_c_object,"$$file",$$own/file$$n) || exit 2;; \
	        *) $(call try_object,"$$file",$$own/file$$n) && status=3 || exit 2;; \
	    esac; if test $$status = 3; then objects="$$objects $$object"; else plain="$$plain $$object"; fi; \
	done; $(call try_link,"$$own/$$name",$$objects $$plain) || { \
	    nm $$objects $$plain | grep -q ' T main$$' || echo "make try: FILE=$$FILE has no function main, which launches the kernels" >&2; exit 2; }; \
	export SIM_OPTIONS='$(SIM)'; $(TRY_RUN)
endif

# The lab: the objects that each check of a submission links. They are built from this tree, never from a submission.
build/lab/harness.o: $(COMMON_CPP) $(MAIN)
	@mkdir -p $(@D)
	$(call say,link,$@) $(CXX) -r -nostdlib -Wl,--strip-debug -o $@ $^

# build/rewrite processes only the submission's own text, because common/step.h is precompiled. Only numeric types are
# tried, because `T zero = 0` does not compile for the others.
LAB_TYPES := -DELEMENT_TYPES=void,void,float,double,int,void
# Uninitialized local variables get a fixed pattern, not the values of an earlier thread. Compilers before g++ 12 lack the option.
LAB_LOCALS = $(shell $(CXX) -ftrivial-auto-var-init=pattern -x c++ -E /dev/null > /dev/null 2>&1 && echo -ftrivial-auto-var-init=pattern)
# nvcc has no arrays whose length is known only when the kernel runs. The option decides a macro of the compiler: without it here, too, the
# precompiled header would not be used.
LAB_COMPILE = $(CXX) -std=c++17 -I. $(LAB_TYPES) $(SIM_CPP) $(CPPFLAGS) $(CXXFLAGS) -pthread $(filter-out -w,$(SIM_KERNELS)) -Wvla -Werror=vla $(LAB_LOCALS)

# An unused constant in a submission is not an error.
LAB_CUDA = $(filter-out -Werror all-warnings -Wall$(comma)-Wextra$(comma)-Werror,$(subst -Xcompiler -Wall,-Wall,$(CUDA_COMPILE)))

build/lab/step.h.gch: common/step.h build/flags
	@mkdir -p $(@D)
	@echo '#include "common/step.h"' > build/lab/step.h
	$(call say,C++,$<) $(LAB_COMPILE) -MD -MP -x c++-header -c build/lab/step.h -o $@

build/lab/command: Makefile build/flags build/flags.cuda
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(LAB_COMPILE))' '$(subst ','\'',$(CXX) -pthread $(LDFLAGS))' '$(subst ','\'',$(if $(GPU),$(LAB_CUDA) $(WRAP)))' > $@

LAB := build/lab/harness.o build/lab/step.h.gch build/lab/command build/rewrite
lab-ready: $(LAB) $(if $(GPU),$(patsubst %.cu,build/%.cuda.o,$(wildcard common/devices/*.cu)))

# make lab04, or make lab04 FILE=path.
LABS := $(STEPS:step%=lab%) $(patsubst exercise%.cu,lab%,$(notdir $(call numbered_exercises,step[0-9][0-9])))
.PHONY: lab-ready $(LABS)
$(LABS): lab%: lab-ready
	@python3 lab/check.py $* $(if $(FILE),--file "$$FILE") $(if $(SHOW),--show) $(if $(NAME),--name "$$NAME") $(CHECK)
lab%:
	@echo 'make $@: expected one of $(LABS)' >&2; exit 2

# A sheet of questions whose numbers are drawn from a name.
prelab:
	@python3 lab/prelab.py --results "$$RESULTS/prelab" $(if $(NAMES),--names="$$NAMES",-- "$$NAME")

ifeq ($(wildcard lab/grade.py),)
grade grade-prelab similar slides handout gradescope:
	@echo "make $@: this copy is for students; run it in the instructor's copy" >&2; exit 2
else
grade: lab-ready
	@python3 lab/grade.py "$$SUBMISSIONS" --jobs $(JOBS) --results "$$RESULTS/grades" $(if $(EXERCISE),--exercise $(EXERCISE)) \
	    $(if $(EXPORT),--export '$(EXPORT)') $(if $(PSEUDONYMS),--pseudonyms "$$PSEUDONYMS") $(GRADE)

similar: .venv/lab
	@.venv/bin/python lab/similar.py "$$CLASS" $(if $(EXERCISE),--exercise $(EXERCISE)) $(SIMILAR)

grade-prelab:
	@python3 lab/prelab_grade.py "$$SUBMISSIONS" --results "$$RESULTS/grades"

handout:
	@python3 lab/pack.py "$$RESULTS/transpose.zip"

gradescope:
	@python3 lab/pack.py "$$RESULTS/gradescope-lab$(EXERCISE).zip" --gradescope '$(EXERCISE)'
endif

# The chapter: all steps run on this machine, then tables, figures and verdicts.
# Where there is no .venv and python3 has the packages, python3 makes it: no network is needed.
ifneq ($(filter report slides,$(MAKECMDGOALS)),)
PLOTS_PYTHON := $(if $(wildcard .venv/ready),,$(shell python3 plots/packages.py && echo python3))
endif
report: $(STEPS) $(if $(PLOTS_PYTHON),,.venv/ready)
	bench/measure.sh $(RESULTS)
	$(or $(PLOTS_PYTHON),.venv/bin/python) plots/report.py $(RESULTS)/report_*.csv

# The lesson of 90 minutes, from the instructor's guide and the pages.
ifneq ($(wildcard lab/slides.py),)
slides: $(if $(PLOTS_PYTHON),,.venv/ready)
	@$(or $(PLOTS_PYTHON),.venv/bin/python) lab/slides.py
endif

clean:
	rm -rf build $(STEPS) step08 $(BENCHES)

help:
	@echo 'make stepNN            build one step, for example: make step04 && ./step04'
	@echo 'make step08            build the step for several GPUs: make step08 && ./step08 --gpus 4 (NCCL_HOME=folder: where NCCL is)'
	@echo 'make all               build all steps: $(STEPS) step08'
	@echo 'make list              list every kernel: its step, what it produces, its row in the table of sources'
	@echo 'make table-whitepaper  measure the whitepaper'"'"'s tables again, and print them next to the published ones'
	@echo 'make table-book        the same for the book (results go to results/, or to RESULTS=folder)'
	@echo 'make table-bandwidth   the same for the bandwidth post'
	@echo 'make labNN             check the exercise of a step; FILE=path checks another file than its exercise.cu'
	@echo '                       (CHECK=--explain adds the cost of each line; SHOW=1 marks the wrong elements of'
	@echo '                       the smallest matrix; CHECK=--help lists the other options;'
	@echo '                       NAME="Ada Lovelace" draws the second shape from a name)'
	@echo 'make grade             grade a class: SUBMISSIONS=folder [EXERCISE=NN] (grades go to results/grades/)'
	@echo '                       (EXPORT=moodle or canvas adds a table for that system; PSEUDONYMS=text hides names'
	@echo '                       on the leaderboard of exercise 8; GRADE=--help lists the other options)'
	@echo 'make similar           list similar submissions of a class: CLASS=folder [EXERCISE=NN]'
	@echo "                       (SIMILAR='--threshold 70' lists more; the first time, it creates .venv)"
	@echo 'make prelab            write a pre-lab sheet with numbers drawn from a name: NAME="Ada Lovelace" (it goes to results/prelab/)'
	@echo '                       (NAMES=file writes one for each line of a file)'
	@echo 'make grade-prelab      grade such sheets: SUBMISSIONS=folder (the table is results/grades/prelab.csv)'
	@echo 'make slides            write the slides for 90 minutes, report/slides.html'
	@echo 'make handout           pack the project for students, without tests and solutions'
	@echo 'make gradescope        pack the autograder of an exercise for Gradescope: EXERCISE=NN'
	@echo 'make try               run a CUDA program of yours on the simulator: FILE=program.cu [ARGS=...]'
	@echo "                       [SIM='--machine t4 --gpus 2 --csv counts.csv']; DEVICE=cuda runs it on the GPU"
	@echo 'make report            run all steps on the simulator, the CPU and any GPU, and write report/chapter.html'
	@echo 'make check             verify every kernel, and compare the lessons'"'"' counts with an H200'"'"'s (10 seconds)'
	@echo 'make test              build and run the tests (the first time, it also creates .venv); of what takes long, a sample'
	@echo 'make test-all          the same, and everything that takes long'
	@echo 'make sanitize          build step 4 with the sanitizers of the compiler, in a copy of the tree, and run it (some minutes)'
	@echo 'make bench-page        measure how fast the page of make report answers in a browser'
	@echo 'make bench-sim         measure the simulator in traced accesses per second; AGAINST=commit compares it'
	@echo '                       with an earlier commit'
	@echo 'make microbench        measure this GPU'"'"'s limits, and the latency and bandwidth of its memories (needs nvcc)'
	@echo 'make timing            compare ways to time a kernel on this GPU (needs nvcc)'
	@echo 'make transfers         measure copies between host and GPU by size, pageable and pinned (needs nvcc)'
	@echo 'make readonly          measure loads through __ldg(), __restrict__ and textures on this GPU (needs nvcc)'
	@echo 'make trials            measure the variants tried on the way to step 7 on this GPU (needs nvcc)'
	@echo "make peers             measure all steps' kernels, cuBLAS, Thrust, PyTorch, Triton, CuPy and JAX in turns on this GPU,"
	@echo '                       each verified; print ratios and write CSV (needs nvcc); on several GPUs also step 8, NCCL and PyTorch'
	@echo 'make clean             remove what was built'
	@echo
	@echo 'CXX=clang++            C++ compiler                           (now: $(CXX))'
	@echo 'NVCC=path              path of nvcc; empty: simulator only    (now: $(or $(NVCC),none))'
	@echo 'JOBS=1                 number of compilations at once         (now: $(JOBS))'
	@echo 'ARCH=sm_90             GPU architecture for nvcc              (now: $(or $(ARCH),none))'

-include $(shell [ -d build ] && find build -name '*.d')
