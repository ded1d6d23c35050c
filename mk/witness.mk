# A second witness of the accesses of kernels. The same text is compiled with -fsanitize=kernel-address, which calls a
# function in front of each access by another rule: also where -fsanitize=thread knows that no other thread can be
# concerned, as beside a constant array. It joins accesses that follow each other, and leaves out variables of the
# device that are used by name, so nothing is counted by it. A place of the source at which it sees more than the hooks
# did has escaped them (sim/command/audit.py).

WITNESS := -fsanitize=kernel-address
ifneq ($(GCC),)
WITNESS += --param asan-instrumentation-with-call-threshold=0 --param asan-stack=0 --param asan-globals=0
else
WITNESS += $(addprefix -mllvm -asan-,instrumentation-with-call-threshold=0 stack=0 globals=0)
endif
# $(call as_witness,COMMAND): with the witness in place of the hooks.
as_witness = $(subst $(HOOKS),$(WITNESS),$(1))

# Programs of the steps with the witness.
build/%.witness.o: build/%.sim.o
	$(call say,sim,$@) sh mk/whole.sh $@ $(call as_witness,$(SIM_COMPILE)) -c $(<:.o=.ii)

witness_objects = $(patsubst build/%.sim.o,build/%.witness.o,$(filter-out %.cuda.o,$(call objects,$(1))))
define WITNESS_RULE
build/witness/$(1): $(COMMON_CPP) $(MAIN) $(call witness_objects,$(call step_sources,$(1)))
	$$(link)
endef
$(foreach step,$(STEPS),$(eval $(call WITNESS_RULE,$(step))))
