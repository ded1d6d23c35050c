#!/bin/sh
# Prints the kernels of all steps as a list in C++: {"step02", "transposeCol"}, and so on. They stand in files of the
# steps as KERNEL(transposeCol, "F2", ...), or with another macro of common/step.h. An exercise is none of its step.
#
# usage: mk/kernels.sh
for file in step[0-9][0-9]_*/*.cu step[0-9][0-9]_*/*.cpp; do
    case $file in */exercise*.cu) ;; *) test -f "$file" && set -- "$@" "$file" ;; esac
done
test $# = 0 || awk -F '[(,]' '/^([A-Z_]*KERNEL|SERIAL|TRANSFER|TOGETHER)\([A-Za-z0-9_]+, / {
    printf "{\"%s\", \"%s\"},\n", substr(FILENAME, 1, 6), $2
}' "$@"
