# Options of g++ for kernels of the simulator.

GCC := $(shell $(CXX) -dumpversion 2>/dev/null | cut -d. -f1)
ifneq ($(filter 4 5 6 7 8 9 10,$(GCC)),)
ifneq ($(filter-out clean help,$(or $(MAKECMDGOALS),all)),)
type_this := Type make CXX=g++-11 or make CXX=clang++
$(error CXX=$(CXX) is g++ $(GCC). The simulator needs g++ 11 or clang++ 14, or newer. $(type_this))
endif
endif
GROUPED := -Wno-subobject-linkage
SIM_KERNELS += --param tsan-instrument-func-entry-exit=0 --param tsan-distinguish-volatile=1 \
               -fno-tree-sra -fno-ipa-sra -fno-ipa-icf -fno-crossjumping -fno-tree-tail-merge -fno-tree-cselim \
               -fno-tree-pre -fno-code-hoisting -fno-hoist-adjacent-loads -fno-tree-vectorize -fno-tree-sink \
               -fno-thread-jumps --param max-jump-thread-duplication-stmts=0 -fno-strict-aliasing \
               -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset
# g++ does not watch a structure that is an argument or a result. Made by its copy constructor, it is watched. The
# compiler writes such a constructor itself and inlines it, so that its accesses have the place of the copy. g++ inlines
# a function only if both have some check of -fsanitize=undefined, or none. The rewriter leaves out checks that a
# function does not need; vla-bound, which costs nothing, stays.
SIM_KERNELS += -fno-elide-constructors -finline-small-functions
# The simulator does not ask which register holds a variable, and to note it takes a tenth of the time.
SIM_KERNELS += -fno-var-tracking
# From version 16 on, g++ merges two copies of a structure into one, which moves the load to the line after the store.
SIM_KERNELS += $(shell test '$(GCC)' -ge 16 2>/dev/null && echo -fno-tree-forwprop)
# It fills uninitialized local variables with a pattern, from version 12 on.
FILL_LOCALS := $(if $(filter-out 11,$(GCC)),-ftrivial-auto-var-init=pattern)
