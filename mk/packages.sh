#!/bin/sh
# Installs Python's packages into .venv. Of several makes at once, one installs, and the others wait and find it done.
#
# usage: mk/packages.sh STAMP ROOM/requirements.txt      STAMP: .venv/ready, which makes .venv anew, or .venv/NAME
stamp=$1 file=$2
mkdir -p build
exec 9> build/venv.lock
flock 9
if test "$stamp" -nt "$file"; then touch "$stamp"; exit; fi  # made while this one waited

# The packages that a person chose come first in the file.
packages=$(sed -n '/come along/q; s/^\([A-Za-z][A-Za-z0-9_-]*\)==.*/\1/p' "$file" | sort -u | tr '\n' ' ')
echo "packages: installing ${packages}and what they need into .venv, once, in a minute or two"
test "$stamp" != .venv/ready || rm -rf .venv
if ! test -x .venv/bin/python && ! python3 -m venv .venv > build/venv.log 2>&1; then
    rm -rf .venv
    echo "Python's venv module is missing; install it: apt-get install python3-venv" >&2
    exit 1
fi
# Python compiles a module when it is first imported. To compile all of them takes as long as to fetch them.
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -r "$file" \
    2> build/venv.log && touch "$stamp" && exit
test "$stamp" != .venv/ready || { rm -rf .venv; python3 plots/packages.py --missing || exit; }
echo "pip cannot install the packages of $file: $(tail -n 1 build/venv.log)" >&2
exit 1
