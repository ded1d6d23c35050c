#!/bin/sh
# Installs sim/simcuda below PREFIX, or removes it. The command is a link to PREFIX/lib/simcuda/sim/simcuda. It finds
# its parts from there, in the folders that the checkout has.
#
# usage: mk/install.sh DESTDIR PREFIX BUILT...      BUILT: files below build/
#        mk/install.sh --remove DESTDIR PREFIX
refuse() { echo "make install: $*" >&2; exit 2; }

remove=
if test "$1" = --remove; then remove=1; shift; fi
prefix=$1${2:-/usr/local}
case $prefix in /*) ;; *) refuse "PREFIX=$2: expected a path that begins with /" ;; esac
shift 2
command=$prefix/bin/simcuda parts=$prefix/lib/simcuda

if test "$remove"; then
    rm -rf "$parts" "$command" || refuse "$parts: cannot be removed"
    exit
fi

# All parts are there before the first takes its place.
new=$parts.$$
trap 'rm -rf "$new"' EXIT
trap 'exit 2' HUP INT TERM
umask 022
mkdir -p "$prefix/bin" "$new" 2> /dev/null ||
    refuse "$prefix: cannot be written; choose another folder: make install PREFIX=\$HOME/.local"
for file in "$@" sim/simcuda sim/command/*.sh sim/command/*.awk sim/command/*.h $(find sim/cuda build/cuda -type f) \
    sim/core/*.h; do
    test -e "$file" || continue
    mkdir -p "$new/$(dirname "$file")" && cp "$file" "$new/$file" || refuse "$parts: cannot be written"
done
chmod -R u+w,go-w,a+rX "$new" && rm -rf "$parts" && mv "$new" "$parts" &&
    ln -sfn ../lib/simcuda/sim/simcuda "$command" || refuse "$prefix: cannot be written"
echo "$command"
