# NCCL, for the messages of step 8: used if its header is installed, or NCCL_HOME names its folder, which is
# .../site-packages/nvidia/nccl of the package nvidia-nccl-cu13. The simulator needs none.

NCCL_HEADER := $(if $(NVCC),$(firstword $(wildcard $(NCCL_HOME)/include/nccl.h /usr/include/nccl.h)))
NCCL_FOLDER := $(if $(NCCL_HOME),-L$(NCCL_HOME)/lib -Xlinker -rpath=$(NCCL_HOME)/lib)
NCCL_LIBRARY := $(if $(NCCL_HEADER),$(NCCL_FOLDER) -l:libnccl.so.2)
NCCL_COMPILE = $(CUDA_COMPILE) $(if $(NCCL_HOME),-I$(NCCL_HOME)/include)
$(eval $(call NOTE,commands/nccl,NCCL_COMPILE))
$(eval $(call NOTE,nccl-library,NCCL_LIBRARY))

build/step08_gpus/nccl/nccl.cuda.o: step08_gpus/nccl/nccl.cu build/commands/nccl
	$(call say,nvcc,$<) sh mk/whole.sh -d $@ $(NCCL_COMPILE) -c $<

step08: $(if $(NCCL_HEADER),$(addprefix build/step08_gpus/nccl/,nccl.cuda.o ipc.cuda.o)) build/nccl-library
step08: LIBRARIES = $(NCCL_LIBRARY)
