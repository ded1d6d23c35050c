# `make try` builds and runs a program with its own main: FILE=program.cu, or several files of one program, also of C++
# and C; ARGS='its arguments'; SIM='--machine t4 --csv counts.csv --json report.json --sarif findings.sarif
# --trace trace.csv --ncu ncu.csv --quiet --blocks 64'; CPPFLAGS='-I... -std=c++20' for its headers and its standard;
# DEVICE=cuda: on the GPU, by nvcc. With the simulator, a report follows what the program prints. mk/try.sh does the
# work. It gets the commands from here, as text for the shell.

export TRY_CXX = $(CXX)
# As nvcc sees a .cu file, a plain C++ file and a C file.
export TRY_KERNEL_CPP = -x c++ -std=c++17 -DSIMULATOR -D__CUDACC__ -D__NVCC__ -D__CUDA_ARCH__=900 -isystem sim/cuda \
                        -include cuda_runtime.h
export TRY_HOST_CPP = -x c++ -std=c++17 $(NVCC_VERSION) -isystem sim/cuda
export TRY_C_CPP = -x c -std=gnu17 $(NVCC_VERSION)
NVCC_VERSION := -D__NVCC__ -D__CUDACC_VER_MAJOR__=13 -D__CUDACC_VER_MINOR__=0
export TRY_CPPFLAGS = $(CPPFLAGS) $(STANDARD)
export TRY_C_CPPFLAGS = $(filter-out -std=%,$(CPPFLAGS)) $(CFLAGS)
export TRY_KERNELS = $(SIM_COMPILE)
export TRY_HOST = $(CXX) -std=c++17 -pthread -w -g -fno-optimize-sibling-calls -O2 $(CXXFLAGS) $(STANDARD)
# The C compiler is that of CXX: gcc-12 of g++-12.
c_of = $(subst c++,cc,$(subst g++,gcc,$(subst clang++,clang,$(1))))
export TRY_CC := $(if $(filter default undefined,$(origin CC)),$(call c_of,$(CXX)),$(CC))
export TRY_C = $(TRY_CC) -std=gnu17 -pthread -w -g $(or $(CFLAGS),-O2)
export TRY_LINK = $(HOST_LINK) $(CXXFLAGS)
export TRY_LIBRARIES = $(SIM_LIBRARY)
export TRY_LDLIBS = $(LDLIBS)
nvcc_flags = $(CPPFLAGS) $(NVCCFLAGS)
export TRY_NVCC = $(if $(NVCC),$(NVCC) -ccbin $(CXX) -arch=$(ARCH) \
                  $(or $(lastword $(filter -std=%,$(nvcc_flags))),-std=c++17) $(filter-out -std=%,$(nvcc_flags)))

ifeq ($(DEVICE),cuda)
try:
	@exec bash mk/words.sh ARGS bash mk/try.sh --gpu
else
try: build/rewrite $(SIM_LIBRARY)
	@SIM_OPTIONS="$$SIM" exec bash mk/words.sh ARGS bash mk/try.sh --run
endif

# Programs that the tests run are built in the same way, once.
TRY_BOTH = $(TRY_KERNEL_CPP) $(TRY_CPPFLAGS) $(TRY_KERNELS) $(RENAME_HOOKS)
$(eval $(call NOTE,commands/try,TRY_BOTH))

build/try/%.o: %.cu build/rewrite build/commands/try
	$(call say,sim,$<) bash mk/try.sh --object $@ $<

build/try/%: build/try/%.o $(SIM_LIBRARY) build/commands/link
	$(call say,link,$@) bash mk/try.sh --link $@ $<
