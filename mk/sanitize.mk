# SANITIZE=address,undefined or SANITIZE=thread: sanitizers watch the host's code; undefined also the kernels'. `make
# sanitize` runs what runs with them. tools/sanitize.py says what they cannot see.

# Frames are several times as large with them, and the simulator reads debug information on a fiber, too.
SANITIZERS := -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer -g -DSIM_STACK_BYTES=524288
# The simulator has the handler of a kernel's indices itself.
ifneq ($(filter undefined,$(subst $(comma), ,$(SANITIZE))),)
SIM_KERNELS += -fsanitize=undefined -fno-sanitize-recover=undefined -fsanitize-recover=bounds
endif
ifneq ($(filter thread,$(SANITIZE)),)
# Functions end on other fibers than they began on, so their entries and exits are not counted.
SANITIZERS += $(if $(findstring clang,$(shell $(CXX) --version)),-mllvm -tsan-instrument-func-entry-exit=0, \
                -Wno-tsan --param tsan-instrument-func-entry-exit=0) -DHOOKED_AS=__sim_
# The kernels call the simulator's functions, which mk/kernel.sh gives other names than those of the compiler's library.
export RENAME_HOOKS := 1
endif
