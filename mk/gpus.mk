# Step 8: one text, two programs. build/try/step08 runs on the simulator, as `make try` builds it. Where there is nvcc,
# ./step08 is for GPUs, and starts the other one where there are too few; elsewhere it is the same. NCCL is used if its
# header is installed, or NCCL_HOME names its folder: .../site-packages/nvidia/nccl of the package nvidia-nccl-cu13.

SPREAD := step08_gpus
NCCL_HEADER := $(firstword $(wildcard $(NCCL_HOME)/include/nccl.h /usr/include/nccl.h))
NCCL_LIBRARY := $(if $(NCCL_HEADER),$(if $(NCCL_HOME),-L$(NCCL_HOME)/lib -Xlinker -rpath=$(NCCL_HOME)/lib) -l:libnccl.so.2)
SPREAD_FILES := $(filter-out $(SPREAD)/exercise%,$(wildcard $(SPREAD)/*.cu))
SPREAD_HOST := $(call cpp_objects,$(wildcard $(SPREAD)/*.cpp))
SPREAD_GPU := $(patsubst %.cu,build/%.cuda.o,$(if $(NCCL_HEADER),$(SPREAD_FILES),$(filter-out %/packed.cu %/network.cu,$(SPREAD_FILES))))
SPREAD_SIM := $(patsubst %.cu,build/try/%.o,$(SPREAD_FILES))

NCCL_COMPILE = $(CUDA_COMPILE) $(if $(NCCL_HOME),-I$(NCCL_HOME)/include)
SPREAD_LINK = $(LINK) $(if $(NVCC),$(SPREAD_GPU) $(NCCL_LIBRARY))
$(eval $(call NOTE,commands/nccl,NCCL_COMPILE))
$(eval $(call NOTE,commands/link-step08,SPREAD_LINK))
$(SPREAD_GPU): build/%.cuda.o: %.cu build/commands/nccl
	$(call say,nvcc,$<) sh mk/whole.sh -d $@ $(NCCL_COMPILE) -c $<

build/try/step08: $(HARNESS) $(SPREAD_SIM) $(SPREAD_HOST) $(SIM_LIBRARY) build/commands/link
	$(call say,link,$@) bash mk/try.sh --link $@ $(HARNESS) $(SPREAD_SIM) $(SPREAD_HOST)

ifeq ($(NVCC),)
step08: build/try/step08 build/commands/link-step08
	$(call say,link,$@) ln -f $< $@
else
step08: build/try/step08 $(SPREAD_GPU) $(SPREAD_HOST) $(COMMON_CPP) build/commands/link-step08
	$(call say,link,$@) sh mk/whole.sh $@ $(LINK) $(filter-out $<,$(filter %.o,$^)) $(NCCL_LIBRARY)
endif
