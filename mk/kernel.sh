#!/bin/bash
# Compiles a kernel file for the simulator, by three commands: the preprocessor, the rewriter and the compiler. Leaves
# OBJECT, what it depends on (.d), and the rewritten text (.ii). OBJECT is written when all three have succeeded.
#
# usage: mk/kernel.sh OBJECT PREPROCESSOR... -- REWRITER... -- COMPILER...
# RENAME_HOOKS=1: the object calls __sim_read4() where the compiler wrote __tsan_read4(), and so on
set -e
object=$1 stem=${1%.o} new=${1%.o}.$$; shift
trap 'rm -f "$new".*' EXIT
trap 'exit 2' HUP INT TERM
mkdir -p "$(dirname "$object")"

preprocessor=() rewriter=()
until test "$1" = --; do preprocessor+=("$1"); shift; done; shift
until test "$1" = --; do rewriter+=("$1"); shift; done; shift
"${preprocessor[@]}" -MD -MP -MF "$new.d" -MT "$object" -E -o "$new.pre.ii"
"${rewriter[@]}" "$new.pre.ii" > "$new.ii"
"$@" -c "$new.ii" -o "$new.o"
if test "$RENAME_HOOKS"; then sh sim/command/rename_hooks.sh "$new.o"; fi
for kind in d ii o; do mv "$new.$kind" "$stem.$kind"; done
