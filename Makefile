# Builds the steps, ./step01 to ./step07, and runs their tests. `make help` lists the targets.
#
# Every kernel file is compiled twice and both halves are linked into one program: by CXX for
# the simulator and, where there is one, by nvcc for the GPU.

# As many jobs as processors, unless -jN asks for others.
JOBS ?= $(shell nproc)
MAKEFLAGS += -j$(JOBS)

CXXFLAGS ?= -O2
# For what runs during the build, where CXX compiles for another machine.
HOSTCXX ?= $(CXX)
NVCCFLAGS ?= -O3 -lineinfo

# nvcc: on PATH, or under CUDA_HOME; NVCC= builds for the simulator alone.
ifeq ($(origin NVCC),undefined)
NVCC := $(or $(shell command -v nvcc 2>/dev/null),$(if $(CUDA_HOME),$(wildcard $(CUDA_HOME)/bin/nvcc)))
endif

# Architectures: the card at hand, or else every major one the toolkit knows, and PTX.
ifneq ($(NVCC),)
GPU := $(shell nvidia-smi -L 2>/dev/null | grep GPU)
ARCH ?= $(if $(GPU),native,all-major)
endif

WARNINGS := -Wall -Wextra -Werror
CPP := -std=c++17 -I. -MMD -MP
# CPPFLAGS of `make try` are the program's, and none of the simulator's.
COMPILE = $(CXX) $(CPP) $(WARNINGS) $(if $(filter try,$(MAKECMDGOALS)),,$(CPPFLAGS)) $(CXXFLAGS) -pthread

# A kernel for the simulator goes through three hands: the preprocessor, a program that rewrites what
# only nvcc understands, and the compiler, which puts a call in front of every access to memory
# (-fsanitize=thread; its library is not linked, common/sim/hooks.cpp is). An access is known by its place in
# the source: the options keep the compiler from making one access of two, or pieces of one.
SIM_O ?= -O1
SIM_CPP := -x c++ -DSIMULATOR -Icommon/sim/include
SIM_KERNELS := -w -g -fstack-clash-protection $(SIM_O) -fsanitize=thread,bounds -fno-inline -fno-optimize-sibling-calls -ftls-model=local-exec
ifneq ($(findstring clang,$(shell $(CXX) --version 2>/dev/null)),)
# Newer than 14, it warns about functions that are deprecated where the C++ library itself calls them.
WARNINGS += -Wno-deprecated-declarations
# From -O1 on, clang takes structures apart before it watches them. Its bounds of locals trap, and report nothing.
SIM_KERNELS += -O0 -fno-sanitize=local-bounds -Xclang -mllvm -Xclang -tsan-instrument-func-entry-exit=0 \
               -Xclang -mllvm -Xclang -tsan-instrument-read-before-write=1 -Xclang -mllvm -Xclang -tsan-distinguish-volatile=1
else
SIM_KERNELS += --param tsan-instrument-func-entry-exit=0 --param tsan-distinguish-volatile=1 -fno-tree-sra -fno-ipa-sra -fno-ipa-icf -fno-crossjumping \
               -fno-tree-tail-merge -fno-code-hoisting -fno-hoist-adjacent-loads -fno-tree-vectorize -fno-tree-sink \
               -fno-thread-jumps --param max-jump-thread-duplication-stmts=0 -fno-strict-aliasing \
               -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset
# From 16 on, g++ makes one copy of two copies of a structure: the load moves to the line of the store, and behind it.
SIM_KERNELS += $(shell test "$$($(CXX) -dumpversion | cut -d. -f1)" -ge 16 2>/dev/null && echo -fno-tree-forwprop)
endif

ifneq ($(NVCC),)
CUDA_COMPILE = $(NVCC) -ccbin $(CXX) -arch=$(ARCH) $(CPP) $(NVCCFLAGS) -Xcompiler -Wall,-Wextra,-Werror -Werror all-warnings
LINK = $(NVCC) -ccbin $(CXX) -arch=$(ARCH) $(addprefix -Xcompiler ,-pthread $(LDFLAGS))
# Launches are noted on their way to the CUDA runtime: common/cuda/launches.cu.
WRAP := $(addprefix -Xlinker --wrap=,__cudaPushCallConfiguration cudaLaunchKernel __cudaLaunchKernel)
else
LINK := $(CXX) -pthread $(LDFLAGS)
endif

# The recipe of a program: its objects, linked.
link = $(call say,link,$@) $(LINK) $(if $(filter build/common/cuda/launches.cuda.o,$^),$(WRAP)) -o $@ $(filter %.o,$^)

# The objects of C++ and of kernel sources.
cpp_objects = $(patsubst %.cpp,build/%.o,$(filter %.cpp,$(1)))
cu_objects = $(patsubst %.cu,build/%.sim.o,$(filter %.cu,$(1))) $(if $(NVCC),$(patsubst %.cu,build/%.cuda.o,$(filter %.cu,$(1))))
objects = $(cpp_objects) $(cu_objects)

STEPS := $(sort $(foreach folder,$(wildcard step[0-9][0-9]_*),$(firstword $(subst _, ,$(folder)))))
# A step's exercise is no part of it: a student's kernel, compiled and checked by itself.
step_sources = $(sort $(filter-out %/exercise.cu,$(wildcard $(1)_*/*.cu $(1)_*/*.cpp)))
ALL_KERNELS := $(call objects,$(foreach step,$(STEPS),$(call step_sources,$(step))))

COMMON := $(call cpp_objects,$(filter-out common/main.cpp,$(wildcard common/*.cpp common/cpu/*.cpp common/sim/*.cpp)))
ifneq ($(NVCC),)
COMMON += $(patsubst %.cu,build/%.cuda.o,$(wildcard common/cuda/*.cu))
endif
MAIN := build/common/main.o

# make V=1 shows the commands.
ifeq ($(V),)
say = @printf '  %-5s %s\n' '$(1)' '$(2)';
endif

.PHONY: all list grade handout gradescope table-whitepaper table-book table-bandwidth peers report check test bench-sim clean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(STEPS)

# The common objects come first: of a function template that both have, the program then takes the one that is
# not watched.
define STEP_RULE
$(1): $(COMMON) $(MAIN) $(call objects,$(call step_sources,$(1))) build/flags.link
	$$(link)
endef
$(foreach step,$(STEPS),$(eval $(call STEP_RULE,$(step))))

build/%.o: %.cpp build/flags
	@mkdir -p $(@D)
	$(call say,C++,$<) $(COMPILE) -c $< -o $@

# Both halves of a program define a kernel of one name: the simulator's lie in a namespace of their own.
build/%.sim.o: %.cu build/rewrite build/flags
	@mkdir -p $(@D)
	$(call say,sim,$<) $(CXX) $(CPP:-MMD=-MD) $(SIM_CPP) $(CPPFLAGS) -MF build/$*.sim.d -MT $@ -E $< -o build/$*.sim.pre.ii
	@build/rewrite --namespace simulated build/$*.sim.pre.ii > build/$*.sim.ii
	@$(CXX) -std=c++17 $(CXXFLAGS) -pthread $(SIM_KERNELS) -c build/$*.sim.ii -o $@

# It is run while building: never for another machine, and never with the flags of the kernels.
build/rewrite: $(wildcard common/sim/tool/*.cpp common/sim/tool/*.h)
	@mkdir -p $(@D)
	$(call say,C++,$@) $(HOSTCXX) -std=c++17 $(WARNINGS) -O1 -o $@ $(filter %.cpp,$^)

build/%.cuda.o: %.cu build/flags.cuda
	@mkdir -p $(@D)
	$(call say,nvcc,$<) $(CUDA_COMPILE) -c $< -o $@

build/common/results.o: build/commit.h

# Warps are compared and counted in loops over 32 lanes, made for vector instructions.
build/common/sim/%.o: private CXXFLAGS += -O3 -ftls-model=local-exec

# The serial functions of a step are measured: one core is to do its best.
build/step%.o: private CXXFLAGS += -O3

# $(call update,text) rewrites the target only if its text changes. Another make may be at it, too: on a cluster they share a folder.
update = @mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' > $@.$$$$; if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi

# Objects and programs are made again when the commands that make them change, each by its own.
build/flags: FORCE
	$(call update,$(COMPILE) $(SIM_KERNELS))
build/flags.cuda: FORCE
	$(call update,$(CUDA_COMPILE))
build/flags.link: FORCE
	$(call update,$(LINK) $(WRAP))

COMMIT ?= $(or $(shell git describe --always --dirty --abbrev=10 --exclude '*' 2>/dev/null),unknown)
build/commit.h: FORCE
	$(call update,#define BUILD_COMMIT "$(COMMIT)")

# Tests.

TRY_PROGRAMS := $(patsubst %.cu,build/try/%,$(wildcard tests/programs/*.cu tests/language/*.cu) tests/divergence.cu tests/atomics_async.cu)
TEST_PROGRAMS := build/tests/unit build/tests/rules build/tests/order build/tests/places build/tests/planted build/tests/faults build/tests/unusual/unusual build/tests/bench_sim

build/tests/unit: $(COMMON) build/tests/unit.o build/tests/probes.sim.o build/flags.link
	$(link)

build/tests/rules build/tests/order: build/tests/%: build/tests/%.o $(COMMON) build/flags.link
	$(link)

# It reads its own places.
build/tests/places.o: private override CXXFLAGS += -g
build/tests/places: build/tests/places.o build/common/sim/places.o build/common/sim/symbols.o build/flags.link
	$(link)

build/tests/planted build/tests/faults: build/tests/%: $(COMMON) $(MAIN) $(call cu_objects,tests/%.cu) build/flags.link
	$(link)

build/tests/unusual/unusual: $(COMMON) $(MAIN) $(call cu_objects,$(sort $(wildcard tests/unusual/*.cu))) build/flags.link
	$(link)

# Mutants of the steps' kernels, written by tests/mutation.py.
build/mutants/%: $(COMMON) $(MAIN) build/build/mutants/%.sim.o build/flags.link
	$(link)

# What a GPU says of requests to shared memory; needs nvcc and, to run, a GPU.
build/tests/wavefronts: build/tests/wavefronts.cuda.o build/flags.link
	$(link)

build/tests/bench_sim: $(COMMON) build/tests/bench_sim.o $(ALL_KERNELS) build/flags.link
	$(link)

# make report installs the packages of plots alone; make test adds its own. pip resolves both files together,
# so that no package of the tests changes a pin of plots.
VENV_INSTALL := .venv/bin/python -m pip install --quiet --disable-pip-version-check

.venv/ready: plots/requirements.txt
	rm -rf .venv
	python3 -m venv .venv || { rm -rf .venv; echo "Python's venv module is missing: apt-get install python3-venv" >&2; exit 1; }
	$(VENV_INSTALL) -r $<
	touch $@

.venv/tests: tests/requirements.txt .venv/ready
	$(VENV_INSTALL) -r plots/requirements.txt -r $<
	touch $@

# What a test needs is built first; then the files of tests share the processors. A hand-out has no tests.
ifeq ($(wildcard tests),)
test:
	@echo 'make test: this copy has no tests. make labNN checks your exercise; make all builds the steps, and ./step04 verifies its kernel.'
else
test: all lab-ready $(TEST_PROGRAMS) $(TRY_PROGRAMS) .venv/tests
	.venv/bin/python -m pytest tests -n $(JOBS) --dist loadgroup --durations=10
endif

# For who changes a kernel: every kernel verified, and the lessons' counts as a profiler has them. Needs no package of Python's.
ifeq ($(wildcard tests),)
check:
	@echo 'make check: this copy has no tests. ./step04 --all verifies the kernels of a step, make labNN checks your exercise' >&2; exit 2
else
check: all
	@python3 tests/check.py
endif

bench-sim: build/tests/bench_sim
	$(if $(AGAINST),python3 tests/bench_against.py $(AGAINST),./build/tests/bench_sim)

# Programs that measure and are no step: bench/NAME.cu, as ./NAME.
BENCHES := $(patsubst bench/%.cu,%,$(wildcard bench/*.cu))
ifeq ($(NVCC),)
.PHONY: $(BENCHES)
$(BENCHES):
	@echo 'make $@: needs nvcc and a GPU' >&2; exit 1
else
$(BENCHES): %: build/bench/%.cuda.o build/flags.link
	$(link)
endif

# Some of what was tried on the way to step 7 is in the instructions of Hopper.
trials build/bench/trials.cuda.o: private ARCH = sm_90

# Every step's kernels and the libraries that transpose, in one program: they take turns. Of those whose headers the
# toolkit lacks: CPLUS_INCLUDE_PATH=.../cutlass/include:.../cutensor/include LIBRARY_PATH=.../lib make peers LDLIBS=-lcutensor
PEERS := step07_in_flight/peers
build/peers: $(COMMON) $(MAIN) $(ALL_KERNELS) $(patsubst %.cu,build/%.cuda.o,$(wildcard $(PEERS)/*.cu)) build/$(PEERS)/python.o build/flags.link
	$(link) -lcublas $(LDLIBS)

# Where a program's results go: RESULTS=folder.
RESULTS ?= results

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
endif

list: all
	@for step in $(STEPS); do ./$$step --list; done | awk 'NR == 1 || !/^step  /'
	@printf '%-18s %-30s %-8s %-4s %-21s %s\n' 'every step' '--one-launch, for any kernel' 'option' 'GPU' 'as the kernel' 'W12'
	@echo
	@echo 'W: the whitepaper; B: the book; F: the bandwidth post; C: the coalescing notes; R: the remap post; E: their errata.'

# The sources' tables, measured again. $(call measure,table,step,options): each step's results
# into a file of their own. Without a GPU: the counts and models of the machine that has the most to say.
measure = ./$(2) --csv $(RESULTS)/$(1)_$(2)$(4).csv $(3)

table-whitepaper: all
	@mkdir -p $(RESULTS) && rm -f $(RESULTS)/whitepaper_*.csv
	for step in step01 step02 step03 step04 step05 step06; do $(call measure,whitepaper,$${step},--kernel W --size 2048 $(if $(GPU),--one-launch,--machine gtx280)) || exit; done
	python3 plots/tables.py whitepaper $(RESULTS)/whitepaper_*.csv

table-book: all
	@mkdir -p $(RESULTS) && rm -f $(RESULTS)/book_*.csv
	for step in $(if $(GPU),step01) step02 step03 step04 step06; do $(call measure,book,$${step},--kernel B --sweep book) || exit; done
	$(call measure,book,step02,--kernel transposeSerialBlocked --sweep book,_blocked)
	$(call measure,book,step04,--kernel transposeTile32Padded --sweep book,_tile32)
	python3 plots/tables.py book $(RESULTS)/book_*.csv

table-bandwidth: all
	@mkdir -p $(RESULTS) && rm -f $(RESULTS)/bandwidth_*.csv
	for step in step01 step02 step06; do $(call measure,bandwidth,$${step},--kernel F --size 4096) || exit; done
	$(call measure,bandwidth,step02,--kernel F9 --size 4096 --block 32x16$(comma)32x8$(comma)64x16$(comma)64x8$(comma)128x8,_blocks)
	$(if $(GPU),for step in step01 step02; do $(call measure,bandwidth,$${step},--kernel F --size 4096 --device sim,_counts) || exit; done)
	python3 plots/tables.py bandwidth $(RESULTS)/bandwidth_*.csv
comma := ,

# A program that is brought along, with a main of its own: FILE=program.cu, or several files of one program;
# ARGS='its arguments'; SIM='--machine t4 --csv counts.csv --trace trace.csv --quiet'; CPPFLAGS=-I... for its headers;
# DEVICE=cuda: on the GPU, by nvcc. With the simulator, a report follows what the program prints.
RUNTIME := $(call cpp_objects,$(wildcard common/sim/runtime/*.cpp))
TRY_CPP := -x c++ -std=c++17 -DSIMULATOR -D__CUDACC__ -D__NVCC__ -D__CUDA_ARCH__=900 -isystem common/sim/include -include cuda_runtime.h
# $(call try_object,source,stem): the object stem.o of one file.
try_object = $(CXX) $(TRY_CPP) -I"$$(dirname $(1))" $(CPPFLAGS) -E $(1) -o $(2).pre.ii && build/rewrite $(2).pre.ii > $(2).ii && \
             $(CXX) -std=c++17 -pthread $(CXXFLAGS) $(SIM_KERNELS) -c $(2).ii -o $(2).o && rm $(2).pre.ii
# Of a program of several files, those that end in .cpp are C++, as nvcc takes them.
try_host_object = $(CXX) -std=c++17 -pthread -w -isystem common/sim/include -I"$$(dirname $(1))" $(CPPFLAGS) $(CXXFLAGS) -c $(1) -o $(2).o
try_link = $(CXX) -pthread $(CXXFLAGS) $(LDFLAGS) -o $(1) $(COMMON_SIM) $(RUNTIME) $(2) $(LDLIBS)
COMMON_SIM := $(filter-out build/common/cuda/%,$(COMMON))

build/try/%: %.cu build/rewrite $(COMMON_SIM) $(RUNTIME) $(wildcard common/sim/include/* common/sim/include/*/*)
	@mkdir -p $(@D)
	$(call say,sim,$<) $(call try_object,'$<','$@') && $(call try_link,'$@','$@.o')

.PHONY: try
ifeq ($(DEVICE),cuda)
try:
	@mkdir -p build/try
	@$(if $(NVCC),,echo 'make try DEVICE=cuda: needs nvcc' >&2; exit 2;) $(NVCC) -ccbin $(CXX) -arch=$(ARCH) -std=c++17 $(CPPFLAGS) $(NVCCFLAGS) $(FILE) -o build/try/on_the_gpu
	@build/try/on_the_gpu $(ARGS)
else
try: build/rewrite $(COMMON_SIM) $(RUNTIME)
	@mkdir -p build/try
	@test -n "$$FILE" || { echo 'make try: FILE=program.cu: which program?' >&2; exit 2; }
	@objects=; n=0; for file in $$FILE; do \
	    test -f "$$file" || { echo "make try: FILE=$$file: no such file" >&2; exit 2; }; \
	    n=$$((n + 1)); case "$$file" in \
	        *.cpp | *.cc) $(call try_host_object,"$$file",build/try/file$$n) || exit 2;; \
	        *) $(call try_object,"$$file",build/try/file$$n) || exit 2;; \
	    esac; objects="$$objects build/try/file$$n.o"; \
	done; set -- $$FILE; name=build/try/$$(basename "$${1%.*}"); $(call try_link,"$$name",$$objects) || exit 2; \
	SIM_OPTIONS='$(SIM)' "$$name" $(ARGS)
endif

# The lab: what a check of a submission starts from. Built from this tree alone, and never by one.
build/lab/harness.o: $(call cpp_objects,$(wildcard common/*.cpp common/cpu/*.cpp common/sim/*.cpp))
	@mkdir -p $(@D)
	$(call say,link,$@) $(CXX) -r -nostdlib -Wl,--strip-debug -o $@ $^

# Of a submission, its own text is rewritten and nothing else: common/step.h is there already, compiled. Only numbers are
# tried: of other types, `T zero = 0` is no C++.
LAB_TYPES := -DELEMENT_TYPES=void,void,float,double,int,void
# A local variable that was given no value holds nothing that an earlier thread left there; compilers before g++ 12 cannot do that.
LAB_LOCALS = $(shell $(CXX) -ftrivial-auto-var-init=pattern -x c++ -E /dev/null > /dev/null 2>&1 && echo -ftrivial-auto-var-init=pattern)
LAB_COMPILE = $(CXX) -std=c++17 -I. $(LAB_TYPES) $(SIM_CPP) $(CPPFLAGS) $(CXXFLAGS) -pthread $(SIM_KERNELS) $(LAB_LOCALS)

# A student's constant that nothing uses is no error.
LAB_CUDA = $(filter-out -Werror all-warnings -Wall$(comma)-Wextra$(comma)-Werror,$(subst -Xcompiler -Wall,-Wall,$(CUDA_COMPILE)))

build/lab/step.h.gch: common/step.h build/flags
	@mkdir -p $(@D)
	@echo '#include "common/step.h"' > build/lab/step.h
	$(call say,C++,$<) $(LAB_COMPILE) -MD -MP -x c++-header -c build/lab/step.h -o $@

build/lab/command: Makefile build/flags build/flags.cuda
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(LAB_COMPILE))' '$(subst ','\'',$(CXX) -pthread $(LDFLAGS))' '$(subst ','\'',$(if $(GPU),$(LAB_CUDA) $(WRAP)))' > $@

LAB := build/lab/harness.o build/lab/step.h.gch build/lab/command build/rewrite
lab-ready: $(LAB) $(if $(GPU),$(patsubst %.cu,build/%.cuda.o,$(wildcard common/cuda/*.cu)))

# make lab04, or make lab04 FILE=path of another one. Paths reach the shell as they are, whatever they are made of.
override FILE := $(value FILE)
override SUBMISSIONS := $(value SUBMISSIONS)
override RESULTS := $(value RESULTS)
export FILE SUBMISSIONS RESULTS
LABS := $(STEPS:step%=lab%)
.PHONY: lab-ready $(LABS)
$(LABS): lab%: lab-ready
	@python3 lab/check.py $* $(if $(FILE),--file "$$FILE") $(if $(SHOW),--show) $(CHECK)
lab%:
	@echo 'make $@: expected one of $(LABS)' >&2; exit 2

ifeq ($(wildcard lab/grade.py),)
grade handout gradescope:
	@echo "make $@: this copy is a student's; the instructor's has it" >&2; exit 2
else
grade: lab-ready
	@python3 lab/grade.py "$$SUBMISSIONS" --jobs $(JOBS) --results "$$RESULTS/grades" $(if $(EXERCISE),--exercise $(EXERCISE)) $(GRADE)

handout:
	@python3 lab/pack.py "$$RESULTS/transpose.zip"

gradescope:
	@python3 lab/pack.py "$$RESULTS/gradescope-lab$(EXERCISE).zip" --gradescope '$(EXERCISE)'
endif

# The chapter: all steps on what this machine has, then tables, figures and verdicts.
report: all .venv/ready
	bench/measure.sh $(RESULTS)
	.venv/bin/python plots/report.py $(RESULTS)/report_*.csv

clean:
	rm -rf build $(STEPS) $(BENCHES)

help:
	@echo 'make stepNN            build one step, for example: make step04 && ./step04'
	@echo 'make all               build all steps: $(STEPS)'
	@echo 'make list              every kernel: its step, what it produces, its row in the table of sources'
	@echo 'make table-whitepaper  the tables that the sources published, measured again on this'
	@echo 'make table-book        machine and printed side by side (results go to results/;'
	@echo 'make table-bandwidth   RESULTS=folder: elsewhere)'
	@echo 'make labNN             check the exercise of a step; FILE=path: another file than its exercise.cu'
	@echo '                       (CHECK=--explain: and the cost of each of its lines; SHOW=1: the wrong elements of'
	@echo '                       the smallest matrix; CHECK=--help: what else)'
	@echo 'make grade             grade a class: SUBMISSIONS=folder [EXERCISE=NN] (grades go to results/grades/)'
	@echo 'make handout           pack the project for students, without tests and solutions'
	@echo 'make gradescope        pack the autograder of an exercise for Gradescope: EXERCISE=NN'
	@echo 'make try               run a CUDA program with a main of its own on the simulator: FILE=program.cu [ARGS=...]'
	@echo "                       [SIM='--machine t4 --csv counts.csv']; DEVICE=cuda: on the GPU"
	@echo 'make report            run all steps on what this machine has, and write report/chapter.html'
	@echo 'make check             the quick form of make test, for who changes a kernel: each is verified, and counts as it did'
	@echo 'make test              build and run the tests (sets up .venv the first time)'
	@echo 'make bench-sim         measure the simulator: traced accesses per second; AGAINST=commit: over those of'
	@echo '                       another commit, in turns'
	@echo 'make microbench        what the GPU at hand can do at most, and its memories: latencies, bandwidths (needs nvcc)'
	@echo 'make timing            ways to time a kernel, side by side, on the GPU at hand (needs nvcc)'
	@echo 'make transfers         copies between host and GPU over their size, pageable and pinned (needs nvcc)'
	@echo 'make readonly          loads through __ldg(), __restrict__ and textures, on the GPU at hand (needs nvcc)'
	@echo 'make trials            the ways to step 7, one beside the other, on the GPU at hand (needs nvcc)'
	@echo "make peers             all steps' kernels, cuBLAS, Thrust, PyTorch, Triton, CuPy and JAX, taking turns"
	@echo '                       on the GPU at hand, each verified; ratios and CSV (needs nvcc)'
	@echo 'make clean             remove what was built'
	@echo
	@echo 'CXX=clang++            choose the C++ compiler                (now: $(CXX))'
	@echo 'NVCC=path              choose nvcc; empty: simulator only     (now: $(or $(NVCC),none))'
	@echo 'JOBS=1                 how many compilations at once          (now: $(JOBS))'
	@echo 'ARCH=sm_90             choose the GPU architecture of nvcc    (now: $(or $(ARCH),none))'

-include $(shell [ -d build ] && find build -name '*.d')
