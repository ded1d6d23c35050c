#!/bin/bash
# Runs the program of the files in $FILE, with the arguments in $ARGS and the simulator's options in $SIM. $PAGE names
# the page that is written, $AGAINST the record of an earlier run that it compares with. What is built stays in
# build/tried or, where the checkout cannot be written, in the user's cache, in a folder with the name of the program's
# folder, since many programs are called main.cu.
#
# usage: mk/try.sh OPTION...      the options go to sim/simcuda

test -n "$FILE" || { echo 'make try: no program given; write make try FILE=program.cu' >&2; exit 2; }
# A name with spaces is one file if there is such a file.
if test -f "$FILE"; then files=("$FILE"); else read -ra files <<< "$FILE"; fi
tried=build/tried
mkdir -p $tried 2> /dev/null && test -w $tried || tried=${XDG_CACHE_HOME:-$HOME/.cache}/transpose/tried
kept=$tried/$(dirname "${files[0]}" | tr -c 'A-Za-z0-9=+\n-' _ | tail -c 200)
export SIMCUDA_FOR='make try' SIM_OPTIONS=$SIM
exec bash mk/words.sh ARGS sim/simcuda --keep-dir "$kept" ${PAGE:+--page "$PAGE"} \
    ${AGAINST:+--against "$AGAINST"} "$@" "${files[@]}" --
