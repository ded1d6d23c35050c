# sim/simcuda, the simulator as one command, and how it is installed. `make try` calls it.
#
# build/commands/simcuda has the commands that compile a program, as arrays of bash. They name $home, the folder
# that has sim/ and build/: that of the checkout, or PREFIX/lib/simcuda.

# As nvcc sees a .cu file, a plain C++ file and a C file.
AS_NVCC := -D__NVCC__ -D__CUDACC_VER_MAJOR__=13 -D__CUDACC_VER_MINOR__=0
AS_CUDA := -D__CUDACC__ -D__NVCC__ -D__CUDA_ARCH__=900
# The C compiler is that of CXX: gcc-12 of g++-12.
c_of = $(subst c++,cc,$(subst g++,gcc,$(subst clang++,clang,$(1))))
TRY_CC := $(if $(filter default undefined,$(origin CC)),$(call c_of,$(CXX)),$(CC))
own_headers = -isystem "$$home/sim/cuda" -isystem "$$home/build/cuda"
standard_of = $(or $(lastword $(filter -std=%,$(1))),-std=c++17)

# One array of bash. $(call array,name,words)
array = $(1)=($(2));
SIMCUDA_COMMANDS = \
    $(call array,cxx,$(CXX)) \
    $(call array,kernel_preprocessor,$(CXX) -x c++ $(call standard_of,$(CXXFLAGS)) -DSIMULATOR $(AS_CUDA) \
        $(own_headers) -include cuda_runtime.h) \
    $(call array,kernel_compiler,$(CXX) -std=c++17 $(CXXFLAGS) -pthread $(filter-out -w,$(SIM_KERNELS))) \
    $(call array,kernel_witness,$(CXX) -std=c++17 $(CXXFLAGS) -pthread $(call as_witness,$(SIM_KERNELS))) \
    $(call array,host_preprocessor,$(CXX) -x c++ $(call standard_of,$(CXXFLAGS)) $(AS_NVCC) $(own_headers)) \
    $(call array,host_compiler,$(CXX) -std=c++17 -pthread -w -gdwarf-5 -fno-optimize-sibling-calls -O2 $(CXXFLAGS)) \
    $(call array,c_preprocessor,$(TRY_CC) -x c -std=gnu17 $(AS_NVCC) $(CFLAGS)) \
    $(call array,c_compiler,$(TRY_CC) -std=gnu17 -pthread -w -gdwarf-5 $(or $(CFLAGS),-O2)) \
    $(call array,clang,clang++ -x cuda --cuda-gpu-arch=sm_80 -fsyntax-only -nocudainc -nocudalib --cuda-path=/ -w \
        -ferror-limit=0 -std=c++17 -DSIMULATOR -D__CUDACC__ -D__NVCC__ $(own_headers) -include cuda_runtime.h \
        -include "$$home/sim/command/clang_words.h") \
    $(call array,linker,$(HOST_LINK) $(CXXFLAGS)) \
    $(call array,simulator,$(foreach object,$(SIM_LIBRARY),"$$home/$(object)")) \
    $(call array,libraries,$(LDLIBS)) \
    $(call array,rename_hooks,$(RENAME_HOOKS))
# Another file, because no object for the simulator depends on it. `settings` is for the make that sim/simcuda calls.
own_settings := CXX HOSTCXX CXXFLAGS CFLAGS LDFLAGS LDLIBS SIM_O SANITIZE
SIMCUDA_MORE = \
    $(call array,nvcc,$(if $(NVCC),$(NVCC) -ccbin $(CXX) $(filter-out -std=%,$(NVCCFLAGS)))) \
    $(call array,nvcc_architecture,$(if $(NVCC),-arch=$(ARCH))) \
    $(call array,nvcc_standard,$(call standard_of,$(NVCCFLAGS))) \
    $(call array,settings,$(foreach name,$(own_settings),$(call quoted,$(name)=$($(name)))) \
        $(call quoted,CC=$(TRY_CC)))
$(eval $(call NOTE,commands/simcuda,SIMCUDA_COMMANDS))
$(eval $(call NOTE,commands/simcuda-more,SIMCUDA_MORE))

# A program that does nothing. The simulator in it lists its options for sim/simcuda, and checks them before a program
# is compiled.
build/empty: $(SIM_LIBRARY) build/commands/simcuda
	$(call say,link,$@) echo 'int main() {}' | sh mk/whole.sh $@ $(HOST_LINK) $(CXXFLAGS) $(SIM_LIBRARY) -x c++ - \
	    $(LDLIBS)

build/options: build/empty
	@SIM_OPTIONS=--list $< > $@.$$$$ && mv $@.$$$$ $@

SIMCUDA_COMMAND := $(addprefix build/,rewrite commands/simcuda commands/simcuda-more cuda/made)
SIMCUDA_PARTS := $(SIMCUDA_COMMAND) build/empty build/options $(SIM_LIBRARY)
.PHONY: simcuda install uninstall
simcuda: $(SIMCUDA_PARTS)

install: simcuda
	@sh mk/install.sh "$$DESTDIR" "$$PREFIX" $(SIMCUDA_PARTS)

uninstall:
	@sh mk/install.sh "$$DESTDIR" "$$PREFIX"
