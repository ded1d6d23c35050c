#!/bin/bash
# Compiles a kernel file for the simulator, by three commands: the preprocessor, the rewriter and the compiler. Leaves
# OBJECT, what it depends on (.d), and the rewritten text (.ii). OBJECT is written when all three have succeeded.
#
# usage: mk/kernel.sh OBJECT PREPROCESSOR... -- REWRITER... -- COMPILER...
# RENAME_HOOKS=1: the object calls __sim_read4() where the compiler wrote __tsan_read4(), and so on
set -e
object=$1; shift
stem=${object%.o}
new=$stem.$$
trap 'rm -f "$new".*' EXIT
trap 'exit 2' HUP INT TERM
mkdir -p "$(dirname "$object")"
test -w "$(dirname "$object")" || { echo "$object has to be made anew, and its folder cannot be written" >&2; exit 2; }

command=()
until test "$1" = --; do command+=("$1"); shift; done; shift
"${command[@]}" -MD -MP -MF "$new.d" -MT "$object" -E -o "$new.pre.ii"
command=()
until test "$1" = --; do command+=("$1"); shift; done; shift
"${command[@]}" "$new.pre.ii" > "$new.ii"
"$@" -c "$new.ii" -o "$new.o"
if test "$RENAME_HOOKS"; then sh sim/command/rename_hooks.sh "$new.o"; fi

mv "$new.d" "$stem.d"
mv "$new.ii" "$stem.ii"
mv "$new.o" "$object"
