#!/bin/sh
# With SANITIZE=thread, the compiler's library has the functions __tsan_read4() and so on. In OBJECT, those of the
# simulator get other names: __sim_read4().
#
# usage: sim/command/rename_hooks.sh OBJECT
nm "$1" | sed -n 's/.* \(__tsan_\(.*\)\)/\1 __sim_\2/p' | sort -u > "$1.hooks" &&
    objcopy --redefine-syms="$1.hooks" "$1"
