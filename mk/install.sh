#!/bin/sh
# Installs sim/simcuda below PREFIX, or removes it. The command is a link to PREFIX/lib/simcuda/sim/simcuda. It finds
# its parts from there, in the folders that the checkout has.
#
# usage: mk/install.sh DESTDIR PREFIX BUILT...      BUILT: files below build/; none: remove it
set -e
prefix=$1${2:-/usr/local}
case $prefix in /*) ;; *) echo "make install: PREFIX=$2: expected a path that begins with /" >&2; exit 2 ;; esac
shift 2
command=$prefix/bin/simcuda parts=$prefix/lib/simcuda new=$prefix/lib/simcuda.$$

if test $# = 0; then rm -rf "$parts" "$command"; exit; fi

# All parts are there before the first takes its place.
trap 'rm -rf "$new"' EXIT
trap 'exit 2' HUP INT TERM
umask 022
if ! mkdir -p "$prefix/bin" "$new" 2> /dev/null; then
    echo "make install: $prefix: cannot be written; choose another folder: make install PREFIX=\$HOME/.local" >&2
    exit 2
fi
cp --parents "$@" sim/simcuda sim/command/*.* sim/core/*.h sim/core/*/*.h "$new"
cp -r --parents sim/cuda build/cuda "$new"
chmod -R u+w,go-w,a+rX "$new"
rm -rf "$parts"
mv "$new" "$parts"
ln -sfn ../lib/simcuda/sim/simcuda "$command"
echo "$command"
