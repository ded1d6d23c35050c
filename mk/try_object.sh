#!/bin/bash
# Builds a program that the tests run, for the simulator. The target is moved to its place when it is whole.
#
# usage: mk/try_object.sh OBJECT SOURCE [PREPROCESSOR'S-OPTION...]   compiles a .cu file; OBJECT's .d has what it
#                                                                    depends on
#        mk/try_object.sh PROGRAM OBJECT                             links
target=$1 source=$2 new=${1%.o}.$$
shift 2
# shellcheck disable=SC2034
home=.
. sim/command/build.sh
# shellcheck source=/dev/null
. build/commands/simcuda
trap 'rm -rf "$new" "$new".*' EXIT
trap 'exit 2' HUP INT TERM
mkdir -p "$(dirname "$target")"
case $target in
    *.o)
        # shellcheck disable=SC2034
        cpp_options=("$@" -MD -MP -MF "$new.d" -MT "$target")
        kernel_object "$new" "$source"
        mv "$new.d" "${target%.o}.d" && mv "$new.o" "$target" ;;
    *) link "$new" "$source" && mv "$new" "$target" ;;
esac
