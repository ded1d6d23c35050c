#!/bin/sh
# Counts with small.cpp what each kernel of a step asks of memory: sim/small/run.sh FILE.cu WIDTHxHEIGHT...
#
# The kernels' own text is compiled by $CXX (g++). Only kernel<<<grid, block>>>(arguments); becomes another call.
set -eu
test -f "${1-}" || { echo "usage: sim/small/run.sh FILE.cu WIDTHxHEIGHT..." >&2; exit 2; }
small=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
sed -E 's/([A-Za-z0-9_]+(<.*>)?)<<<(.*)>>>(\(.*\));/small::launch(\3, [\&] { \1\4; });/
        s/"..\/common\/step.h"/"small.h"/; /^TRANSFER/d; /^ERRATUM/,/;$/d' "$1" > "$folder/step.cpp"
${CXX:-g++} -std=c++17 -O1 -w -I "$small" -fsanitize=thread -c "$folder/step.cpp" -o "$folder/step.o"
${CXX:-g++} -std=c++17 -O2 -I "$small" "$small/small.cpp" "$folder/step.o" -o "$folder/small"
shift
"$folder/small" "$@"
