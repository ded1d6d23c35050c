#!/bin/sh
# Installs Python's packages into .venv. Of several makes at once, one installs, and the others wait and find it done.
#
# usage: mk/packages.sh STAMP ROOM/requirements.txt
#
# STAMP: .venv/ready, which makes .venv anew, .venv/tests or .venv/pins.
stamp=$1 file=$2
mkdir -p build
exec 9> build/venv.lock
flock 9

# Made while this one waited?
if test "$stamp" -nt "$file"; then touch "$stamp"; exit; fi

# Python compiles a module when it is first imported. To compile all of them takes as long as to fetch them.
install() {
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r "$file"
}
create() {
    echo 'packages: 1 of 2: making .venv'
    python3 -m venv .venv > build/venv.log 2>&1 && return
    rm -rf .venv
    echo "Python's venv module is missing; install it: apt-get install python3-venv" >&2
    exit 1
}
# pip is silent for a minute or two. The packages that a person chose are in requirements.in.
say_what() { # MB
    packages=$(sed -n 's/^\([A-Za-z][A-Za-z0-9_-]*\)==.*/\1/p' "${file%.txt}.in" | sort -u | tr '\n' ' ')
    echo "packages: installing ${packages}and what they need into .venv: about $1 MB" \
        "from pip's index (pypi.org, if nothing else is set), once, in a minute or two"
}

case $stamp in
    .venv/ready)
        say_what 40
        rm -rf .venv
        create
        echo 'packages: 2 of 2: fetching and installing'
        install 2> build/venv.log ||
            { rm -rf .venv; python3 plots/packages.py --missing || exit 1; tail -n 3 build/venv.log >&2; exit 1; } ;;
    .venv/tests | .venv/pins)
        install || exit 1 ;;
esac
touch "$stamp"
