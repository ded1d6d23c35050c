# Options of clang++ for kernels of the simulator.

# Versions after 14 warn about deprecated functions even where the C++ library calls them.
WARNINGS += -Wno-deprecated-declarations
# From -O1 on, clang splits structures before it instruments their accesses. Its bounds checks of locals trap without a
# report.
SIM_KERNELS += -O0 -fno-inline -fno-sanitize=local-bounds -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset \
               -Xclang -mllvm -Xclang -tsan-instrument-func-entry-exit=0 \
               -Xclang -mllvm -Xclang -tsan-instrument-read-before-write=1 \
               -Xclang -mllvm -Xclang -tsan-distinguish-volatile=1
FILL_LOCALS := -ftrivial-auto-var-init=pattern
