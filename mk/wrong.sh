#!/bin/bash
# Says what to type instead of a goal that make does not have. Exits with 2.
#
# usage: mk/wrong.sh GOAL KNOWN-GOAL...
. sim/command/shown.sh
goal=$1 shown=$(shown "$1"); shift
number=$(printf '%s' "$goal" | sed 's/^[A-Za-z]*0*//; s/[^0-9].*//')
case $goal in [Ll]*) kind=lab ;; *) kind=step ;; esac
likely=$(printf '%s%02d' $kind "${number:-0}")
for known; do
    if test "$known" = "$likely"; then echo "make $shown: type make $known" >&2; exit 2; fi
done
echo "make $shown: expected one of $(printf '%s\n' "$@" | grep "^$kind" | tr '\n' ' ' | sed 's/ $//')" >&2
exit 2
