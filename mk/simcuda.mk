# sim/simcuda, the simulator as one command, and how it is installed. `make try` calls it.
#
# build/commands/simcuda has the commands that compile a program, as variables of the shell. They name $home, the folder
# that has sim/ and build/: that of the checkout, or PREFIX/lib/simcuda.

# As nvcc sees a .cu file, a plain C++ file and a C file.
AS_NVCC := -D__NVCC__ -D__CUDACC_VER_MAJOR__=13 -D__CUDACC_VER_MINOR__=0
AS_CUDA := -D__CUDACC__ -D__NVCC__ -D__CUDA_ARCH__=900
# The C compiler is that of CXX: gcc-12 of g++-12.
c_of = $(subst c++,cc,$(subst g++,gcc,$(subst clang++,clang,$(1))))
TRY_CC := $(if $(filter default undefined,$(origin CC)),$(call c_of,$(CXX)),$(CC))
own_headers = -isystem "$$home/sim/cuda" -isystem "$$home/build/cuda"
standard_of = $(or $(lastword $(filter -std=%,$(1))),-std=c++17)

# One variable of the shell.
set_to = $(1)=$(call quoted,$(2));
SIMCUDA_COMMANDS = \
    $(call set_to,cxx,$(CXX)) \
    $(call set_to,kernel_preprocessor,$(CXX) -x c++ $(call standard_of,$(CXXFLAGS)) -DSIMULATOR $(AS_CUDA) \
        $(own_headers) -include cuda_runtime.h) \
    $(call set_to,kernel_compiler,$(CXX) -std=c++17 $(CXXFLAGS) -pthread $(SIM_KERNELS)) \
    $(call set_to,host_preprocessor,$(CXX) -x c++ $(call standard_of,$(CXXFLAGS)) $(AS_NVCC) $(own_headers)) \
    $(call set_to,host_compiler,$(CXX) -std=c++17 -pthread -w -gdwarf-5 -fno-optimize-sibling-calls -O2 $(CXXFLAGS)) \
    $(call set_to,c_preprocessor,$(TRY_CC) -x c -std=gnu17 $(AS_NVCC) $(CFLAGS)) \
    $(call set_to,c_compiler,$(TRY_CC) -std=gnu17 -pthread -w -gdwarf-5 $(or $(CFLAGS),-O2)) \
    $(call set_to,linker,$(HOST_LINK) $(CXXFLAGS)) \
    $(call set_to,libraries,$(foreach object,$(SIM_LIBRARY),"$$home/$(object)")) \
    $(call set_to,more_libraries,$(LDLIBS)) \
    $(call set_to,rename_hooks,$(RENAME_HOOKS))
# Another file, because no object for the simulator depends on it.
SIMCUDA_GPU_COMMANDS = \
    $(call set_to,nvcc,$(if $(NVCC),$(NVCC) -ccbin $(CXX) $(filter-out -std=%,$(NVCCFLAGS)))) \
    $(call set_to,nvcc_architecture,$(if $(NVCC),-arch=$(ARCH))) \
    $(call set_to,nvcc_standard,$(call standard_of,$(NVCCFLAGS)))
$(eval $(call NOTE,commands/simcuda,SIMCUDA_COMMANDS))
$(eval $(call NOTE,commands/simcuda-gpu,SIMCUDA_GPU_COMMANDS))

# It reads the command line. It runs where programs are built, as build/rewrite does.
ARGUMENTS_BASE := $(addprefix common/base/,constants csv error hash machine machine_file suggest utf8 \
                   whole_number)
ARGUMENTS_CPP := $(sort $(wildcard sim/command/*.cpp)) sim/runtime/options.cpp sim/runtime/filters.cpp \
                 $(wildcard $(addsuffix .cpp,$(ARGUMENTS_BASE)))
build/simcuda-arguments: $(ARGUMENTS_CPP) build/machines.h build/commands/rewrite
	$(call say,C++,$@) sh mk/whole.sh -d $@ $(CXX_REWRITE) $(GROUPED) $(addprefix -include ,$(ARGUMENTS_CPP)) \
	    -x c++ /dev/null

SIMCUDA_PARTS := build/rewrite build/simcuda-arguments $(SIM_LIBRARY) $(addprefix build/commands/,simcuda simcuda-gpu) \
                 build/commit.h build/version.h build/cuda/made
.PHONY: simcuda install uninstall
simcuda: $(SIMCUDA_PARTS)

install: simcuda
	@sh mk/install.sh "$$DESTDIR" "$$PREFIX" $(SIMCUDA_PARTS)

uninstall:
	@sh mk/install.sh --remove "$$DESTDIR" "$$PREFIX"
