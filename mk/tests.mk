# Programs that the tests run, and maintainers' programs.

TRY_PROGRAMS := $(patsubst %.cu,build/try/%,$(wildcard $(addprefix tests/sim/,programs/*.cu language/*.cu seen/*.cu)) \
                $(addprefix tests/sim/,divergence.cu atomics_async.cu memories.cu merges.cu ncu.cu))
TEST_PROGRAMS := $(addprefix build/,$(addprefix tests/steps/,unit planted faulty_gpu several) \
                 $(addprefix tests/sim/,rules order places unusual/unusual) \
                 tools/machine_file)

build/tests/%.o: tests/%.cpp build/commands/cxx build/commands/cpp
	$(call say,C++,$<) sh mk/whole.sh -d $@ $(CXX_TEST) $(FLAGS_OF_$(notdir $*)) -c $<
build/tools/%.o: tools/%.cpp build/commands/cxx build/commands/cpp
	$(call say,C++,$<) sh mk/whole.sh -d $@ $(CXX_TEST) -c $<
# tests/sim/places.cpp reads its own debug information.
FLAGS_OF_places := -gdwarf-5
FLAGS_OF_faulty_cuda := -isystem sim/cuda

build/tests/steps/unit: $(COMMON) build/tests/steps/unit.o build/tests/steps/probes.sim.o build/commands/link
	$(link)

$(addprefix build/tests/sim/,rules order places): %: %.o $(COMMON) build/commands/link
	$(link)

build/tests/steps/planted: build/%: $(COMMON) $(MAIN) $(call cu_objects,%.cu) build/commands/link
	$(link)

build/tests/sim/unusual/unusual: $(COMMON) $(MAIN) $(call cu_objects,$(sort $(wildcard tests/sim/unusual/*.cu))) \
                                 build/commands/link
	$(link)

# Step 4 with common/devices/cuda.cu, both compiled by CXX for the CUDA runtime of tests/steps/faulty_cuda.cpp, whose
# calls can fail. It has the simulator, too.
FAULTY_CPP = $(CXX) $(CPP) -x c++ $(AS_CUDA) -isystem sim/cuda -include cuda_runtime.h $(CPPFLAGS)
FAULTY_COMPILE = $(CXX) -std=c++17 -O2 $(CXXFLAGS) -pthread -w -gdwarf-5 -ftls-model=local-exec $(SANITIZERS)
FAULTY := $(patsubst %.cu,build/faulty/%.o,common/devices/cuda.cu $(filter %.cu,$(call step_sources,step04)))
build/faulty/%.o: %.cu build/rewrite build/commands/cxx build/commands/cpp
	$(call say,C++,$< for a runtime that fails) RENAME_HOOKS= bash mk/kernel.sh $@ $(FAULTY_CPP) $< -- build/rewrite \
	    -- $(FAULTY_COMPILE)

build/tests/steps/faulty_gpu: $(COMMON_CPP) $(MAIN) build/tests/steps/faulty_cuda.o $(FAULTY) \
                        $(patsubst %.cu,build/%.sim.o,$(filter %.cu,$(call step_sources,step04))) build/commands/link
	$(call say,link,$@) sh mk/whole.sh $@ $(HOST_LINK) $(filter %.o,$^)

# Step 8 with common/devices/gpus.cu and NCCL, both for the CUDA runtime of the simulator, which has several devices:
# the back end for several GPUs runs where there is none. It has no clock, so each kernel runs once.
SEVERAL := $(patsubst %.cu,build/several/%.o,common/devices/gpus.cu step08_gpus/nccl/nccl.cu \
           $(filter %.cu,$(call step_sources,step08)))
build/several/%.o: %.cu build/rewrite build/commands/cxx build/commands/cpp
	$(call say,sim,$< for the simulated runtime) bash mk/kernel.sh $@ $(FAULTY_CPP) $< -- build/rewrite \
	    -- $(SIM_COMPILE)

build/tests/steps/several: $(COMMON_CPP) build/sim/runtime.o $(MAIN) $(SEVERAL) \
                     $(patsubst %.cu,build/%.sim.o,$(filter %.cu,$(call step_sources,step08))) build/commands/link
	$(call say,link,$@) sh mk/whole.sh $@ $(HOST_LINK) $(filter %.o,$^)

# Mutants of the lessons, written by tools/mutation.py.
build/mutants/%: $(COMMON) $(MAIN) build/build/mutants/%.sim.o build/commands/link
	$(link)

# Measures wavefronts of requests to shared memory on a GPU; needs nvcc to build and a GPU to run.
build/tools/wavefronts: build/tools/wavefronts.cuda.o build/commands/link
	$(link)

build/tools/machine_file: build/tools/machine_file.o $(BASE) build/commands/link
	$(link)

build/tools/bench_sim: $(COMMON) build/tools/bench_sim.o $(ALL_KERNELS) build/commands/link
	$(link)

sanitize:
	@python3 tools/sanitize.py --jobs $(JOBS)

bench-sim: build/tools/bench_sim
	$(if $(AGAINST),python3 tools/bench_against.py "$$AGAINST",./build/tools/bench_sim)

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
# processors, because some wait. Each worker imports all files, which takes 3 seconds, or 10 without compiled ones.
# make test-all tries also what takes several times as long (tests/samples.py).
test: .venv/tests all lab-ready simcuda $(TEST_PROGRAMS) $(TRY_PROGRAMS)
	PYTHONDONTWRITEBYTECODE= .venv/bin/python -m pytest tests -n $$(($(JOBS) + 1)) --dist loadfile --durations=10

test-all: export TESTS = all
test-all: test
endif
