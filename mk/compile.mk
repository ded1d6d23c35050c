# How files are compiled, and the steps linked.
#
# 1. commands  NOTE keeps the commands in build/commands/. What depends on a note is made anew when its text changes.
# 2. objects   build/x.o of x.cpp, build/x.sim.o and build/x.cuda.o of x.cu. The files of a room are one object.
# 3. programs  ./stepNN

WARNINGS := -Wall -Wextra -Werror
CPP := -std=c++17 -I.
comma := ,
HOST = $(CXX) $(CPP) $(WARNINGS) $(SANITIZERS) -pthread

# A kernel for the simulator passes through three programs: the preprocessor, build/rewrite, which rewrites the syntax
# that only nvcc understands, and the compiler, which puts a call in front of every memory access (-fsanitize=thread).
# sim/core/hooks/hooks.cpp is linked in place of the compiler's library. An access is identified by its place in the
# source, so the options keep the compiler from merging or splitting accesses.
SIM_CPP := -x c++ -DSIMULATOR -Isim/cuda -Ibuild/cuda
SIM_O ?= -O1
HOOKS := -fsanitize=thread,bounds,alignment,vla-bound,return
SIM_KERNELS := -w -gdwarf-5 -fstack-clash-protection -fno-omit-frame-pointer $(SIM_O) $(HOOKS) \
               -fno-optimize-sibling-calls -ftls-model=local-exec
ifneq ($(findstring clang,$(shell $(CXX) --version 2>/dev/null)),)
include mk/clang.mk
else
include mk/gcc.mk
endif
ifneq ($(SANITIZE),)
include mk/sanitize.mk
endif
# A standard, as in CPPFLAGS=-std=c++20, is the compiler's, too.
STANDARD := $(filter -std=%,$(CPPFLAGS) $(CXXFLAGS))

# The text as one word of the shell.
quoted = '$(subst ','\'',$(1))'
# $(call NOTE,file,VARIABLE): build/file has the text of the variable. It is written only if the text changes.
# No newline ends it: of some lengths, make 4.3 reads the newline as text.
define NOTE
ifneq ($$(file < build/$(1)),$$($(2)))
build/$(1): FORCE
endif
build/$(1):
	@mkdir -p $$(@D) && printf %s $$(call quoted,$$($(2))) > $$@.$$$$$$$$ && mv $$@.$$$$$$$$ $$@
endef

# The commands. mk/whole.sh and mk/kernel.sh write each file under another name, and move it when it is whole.
CXX_STEP = $(HOST) -O3 $(CPPFLAGS) $(CXXFLAGS)
# Where the time of a run goes, files are optimized. The others are compiled in the shortest time.
CXX_HARNESS = $(HOST) -O0 $(CXXFLAGS)
CXX_CORE = $(HOST) -O1 $(CXXFLAGS)
CXX_SIM = $(HOST) -O3 -ftls-model=local-exec $(CXXFLAGS)
CXX_TEST = $(HOST) -O2 $(CPPFLAGS) $(CXXFLAGS)
CXX_REWRITE = $(HOSTCXX) -std=c++17 $(WARNINGS) -O0
SIM_PREPROCESS = $(CXX) $(CPP) $(SIM_CPP) $(CPPFLAGS) $(STANDARD)
# Programs find the source from where they are, so a built checkout can be moved.
SIM_COMPILE = $(CXX) -std=c++17 $(CXXFLAGS) $(STANDARD) -pthread $(SIM_KERNELS) -ffile-prefix-map=$(CURDIR)=.
CUDA_COMPILE = $(NVCC) -ccbin $(CXX) -arch=$(ARCH) $(CPP) $(NVCCFLAGS) -Xcompiler -Wall,-Wextra,-Werror \
               -Werror all-warnings
HOST_LINK = $(CXX) -pthread $(SANITIZERS) $(LDFLAGS)
ifneq ($(NVCC),)
LINK = $(NVCC) -ccbin $(CXX) -arch=$(ARCH) $(addprefix -Xcompiler ,-pthread $(SANITIZERS) $(LDFLAGS))
# common/devices/launches.cu records launches before the CUDA runtime gets them.
WRAP := $(addprefix -Xlinker --wrap=,__cudaPushCallConfiguration cudaLaunchKernel __cudaLaunchKernel)
else
LINK = $(HOST_LINK)
endif

# CPPFLAGS is for kernels and programs, not for the harness and the simulator.
CXX_FLAGS = $(CXX_HARNESS) $(CXX_CORE) $(CXX_SIM) $(SIM_CPP) $(SIM_KERNELS) $(RENAME_HOOKS)
LINK_FLAGS = $(LINK) $(WRAP) $(HOST_LINK) $(LDLIBS)
$(eval $(call NOTE,commands/cxx,CXX_FLAGS))
$(eval $(call NOTE,commands/cpp,CPPFLAGS))
$(eval $(call NOTE,commands/rewrite,CXX_REWRITE))
$(eval $(call NOTE,commands/cuda,CUDA_COMPILE))
$(eval $(call NOTE,commands/link,LINK_FLAGS))

# Where git does not answer, as in another user's checkout, the commit and the page
# stay those that were noted when it was built.
COMMIT := $(shell git describe --always --dirty --abbrev=10 --exclude '*' 2>/dev/null)
HOME_PAGE := $(shell git config --get remote.origin.url 2>/dev/null | \
    sed -nE 's,^(https://([^/@]*@)?|ssh://git@|git@)github\.com[:/],https://github.com/,; s,/*(\.git)?/*$$,,; \
             \,^https://github\.com/[A-Za-z0-9._/-]+$$,p')
VERSION := $(shell sed -n 's/^version: *//p' CITATION.cff 2>/dev/null)
BUILT_FROM = -DBUILD_VERSION='"$(or $(VERSION),unknown)"' -DBUILD_COMMIT='"$(or $(COMMIT),unknown)"' \
             -DHOME_PAGE='"$(HOME_PAGE)"'
ifeq ($(COMMIT),)
BUILT_FROM := $(or $(file < build/commands/commit),$(BUILT_FROM))
endif
$(eval $(call NOTE,commands/commit,BUILT_FROM))

# The kernels of all steps, {"step02", "transposeCol"}, and so on: a program says where the others' kernels are.
KERNELS_OF_STEPS := $(shell sh mk/kernels.sh)
$(eval $(call NOTE,kernels.h,KERNELS_OF_STEPS))

# The machines that are built into the programs, from the oldest to the newest, and the limits of their capabilities.
MACHINES := g80 gtx280 m2090 k20x k20c gtx1050ti gtx1080 v100 t4 a100 h100 h200
MACHINE_FILES := $(addprefix common/machines/,capabilities.csv $(addsuffix .machine,$(MACHINES)))
build/machines.h: $(MACHINE_FILES) mk/compile.mk
	@mkdir -p build && for file in $(MACHINE_FILES); do printf '{"%s", R"text(' $${file##*/}; cat $$file; \
	    echo ')text"},'; done > $@.$$$$ && mv $@.$$$$ $@

# A line for each file that is made; make V=1 shows the commands instead.
ifeq ($(V),)
say = @printf '  %-5s %s\n' '$(1)' '$(2)';
endif

# Half of a small file's compile time is the standard headers, so the compiler gets all files of a room at once. Local
# names of the files in a room therefore differ. A file's own types may have local types as members:
# -Wno-subobject-linkage.
# $(call ROOM,name,COMMAND,sources): build/name.o
define ROOM
files_of_$(1) := $(3)
$$(eval $$(call NOTE,commands/$(1),files_of_$(1)))
build/$(1).o: $(3) build/commands/cxx build/commands/$(1)
	$$(call say,C++,$(1)) sh mk/whole.sh -d $$@ $$($(2)) $$(GROUPED) $$(addprefix -include ,$(3)) -x c++ -c /dev/null
endef

# The style and the script of a run's page, which programs have in them.
PAGE_PARTS := $(addprefix common/base/page/,page.css shared.js rules.js drawings.js page.js)
build/page_assets.h: mk/page_assets.sh $(PAGE_PARTS)
	$(call say,page,$@) sh mk/whole.sh $@ sh $^
build/common/base.o: build/page_assets.h

# The floors of the simulator's core where the time of a run goes: loops over the 32 lanes of a warp.
SIM_LOOPS := $(sort $(wildcard $(addsuffix /*.cpp,$(addprefix sim/core/,memory lanes sinks block hooks))))
$(eval $(call ROOM,common/base,CXX_HARNESS,$(filter-out %/commit.cpp,$(sort $(wildcard common/base/*.cpp)))))
# Loops over all elements of a matrix.
ELEMENTS := common/devices/elements.cpp
ALONE := %/main.cpp %/all_steps.cpp
$(eval $(call ROOM,common/harness,CXX_HARNESS,$(filter-out $(ALONE) $(ELEMENTS), \
    $(sort $(wildcard common/*.cpp common/devices/*.cpp)))))
$(eval $(call ROOM,common/elements,CXX_SIM,$(ELEMENTS)))
$(eval $(call ROOM,sim/loops,CXX_SIM,$(SIM_LOOPS)))
$(eval $(call ROOM,sim/elf,CXX_HARNESS,$(sort $(wildcard sim/elf/*.cpp))))
$(eval $(call ROOM,sim/core,CXX_CORE,$(filter-out $(SIM_LOOPS),$(sort $(wildcard sim/core/*/*.cpp)))))
$(eval $(call ROOM,sim/runtime,CXX_CORE,$(sort $(wildcard sim/runtime/*.cpp))))

# The harness, and the simulator. COMMON_CPP is what the host's compiler makes for a step; COMMON has the back ends for
# GPUs, too. SIM_LIBRARY is the simulator with the CUDA runtime, for programs with a main of their own. It needs no
# harness.
BASE := build/common/base/commit.o build/common/base.o
HARNESS := $(addprefix build/common/,harness.o all_steps.o elements.o)
SIM_CORE := build/sim/elf.o build/sim/loops.o build/sim/core.o
COMMON_CPP := $(BASE) $(HARNESS) $(SIM_CORE)
SIM_LIBRARY := $(BASE) $(SIM_CORE) build/sim/runtime.o
COMMON := $(COMMON_CPP) $(if $(NVCC),$(patsubst %.cu,build/%.cuda.o,$(wildcard common/devices/*.cu)))
MAIN := build/common/main.o

build/step%.o: step%.cpp build/commands/cxx build/commands/cpp
	$(call say,C++,$<) sh mk/whole.sh -d $@ $(CXX_STEP) -c $<

build/common/main.o build/common/all_steps.o build/common/base/commit.o: build/%.o: %.cpp build/commands/cxx
	$(call say,C++,$<) sh mk/whole.sh -d $@ $(CXX_HARNESS) $(DEFINED) -c $<
build/common/base/commit.o: build/commands/commit
build/common/base/commit.o: DEFINED = $(BUILT_FROM)
build/common/all_steps.o: build/kernels.h
build/common/base.o: build/machines.h

# Both halves of a program define kernels of the same names. Those of the simulator go into a separate namespace.
# The .d file of an object names the headers in build/cuda/ that it uses, so their list itself makes no object anew.
build/%.sim.o: %.cu build/rewrite build/commands/cxx build/commands/cpp | build/cuda/made
	$(call say,sim,$<) bash mk/kernel.sh $@ $(SIM_PREPROCESS) $< -- build/rewrite --namespace simulated -- $(SIM_COMPILE)

build/cuda/made: mk/forwarders.sh
	@sh $< $@

# It runs during the build, so it is compiled for this machine and without the kernels' flags.
build/rewrite: $(wildcard sim/rewrite/*.cpp sim/rewrite/*.h) $(addprefix common/base/,error.cpp utf8.cpp) \
               build/commands/rewrite
	$(call say,C++,$@) sh mk/whole.sh $@ $(CXX_REWRITE) $(addprefix -include ,$(filter %.cpp,$^)) -x c++ /dev/null

build/%.cuda.o: %.cu build/commands/cuda
	$(call say,nvcc,$<) sh mk/whole.sh -d $@ $(CUDA_COMPILE) -c $<

# An exercise is not part of its step. `make labNN` compiles and checks it separately. NN is the step's number or, for
# exerciseNN.cu, that of the file. Step 8 is for several GPUs. The programs with the kernels of all steps are for one.
STEPS := $(sort $(foreach folder,$(wildcard step[0-9][0-9]_*),$(firstword $(subst _, ,$(folder)))))
ONE_GPU_STEPS := $(filter-out step08,$(STEPS))
numbered_exercises = $(wildcard $(1)_*/exercise[0-9][0-9].cu)
step_sources = $(sort $(filter-out %/exercise.cu $(numbered_exercises),$(wildcard $(1)_*/*.cu $(1)_*/*.cpp)))

# The objects of C++ and of kernel sources.
cpp_objects = $(patsubst %.cpp,build/%.o,$(filter %.cpp,$(1)))
cu_objects = $(patsubst %.cu,build/%.sim.o,$(filter %.cu,$(1))) \
             $(if $(NVCC),$(patsubst %.cu,build/%.cuda.o,$(filter %.cu,$(1))))
objects = $(cpp_objects) $(cu_objects)
ALL_KERNELS := $(call objects,$(foreach step,$(ONE_GPU_STEPS),$(call step_sources,$(step))))

# The recipe that links a program's objects.
link = $(call say,link,$@) sh mk/whole.sh $@ $(LINK) $(if $(filter %/launches.cuda.o,$^),$(WRAP)) $(filter %.o,$^) \
       $(LIBRARIES)

# The common objects come first. The linker then takes their copy of a shared function template, which is not
# instrumented.
define STEP_RULE
$(1): $(COMMON) $(MAIN) $(call objects,$(call step_sources,$(1))) build/commands/link
	$$(link)
endef
$(foreach step,$(STEPS),$(eval $(call STEP_RULE,$(step))))

# Folders that another make removes meanwhile are no matter.
-include $(shell find build -name tried -prune -o -name '*.d' -print 2>/dev/null)
