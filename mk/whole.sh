#!/bin/sh
# Runs a command that writes a file, and moves the file to its place when it is whole. Two makes in one folder, a make
# that is killed and a full disk then leave no half of a file.
#
# usage: mk/whole.sh [-d] TARGET COMMAND...      COMMAND gets -o and a name; with -d also options that write TARGET's .d
depends=
if test "$1" = -d; then depends=1; shift; fi
target=$1 new=$1.$$; shift
trap 'rm -f "$new" "$new.d"' EXIT
trap 'exit 2' HUP INT TERM
mkdir -p "$(dirname "$target")" || exit
"$@" -o "$new" ${depends:+-MD -MP -MF "$new.d" -MT "$target"} || exit
test ! "$depends" || mv "$new.d" "${target%.o}.d"
mv "$new" "$target"
