#!/usr/bin/env bash
# The rows of the language table on a GPU: builds tests/sim/language/*.cu with nvcc, runs them, and writes a line a row.
#
# usage: tools/gpu_language.sh DIR      needs nvcc and a GPU; writes DIR/h200_language.csv; exits 1 if a row is wrong
set -u
cd "$(dirname "$0")/.." || exit 1
out=$1
mkdir -p "$out" build/language
IFS=, read -r machine driver < <(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)
date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
echo "date_utc,machine,driver,program,row,result" > "$out/h200_language.csv"
status=0
for source in tests/sim/language/*.cu; do
    name=$(basename "$source" .cu)
    nvcc -std=c++17 -arch=native "$source" -o "build/language/$name" 2> "build/language/$name.log" || {
        cat "build/language/$name.log"
        status=1
        continue
    }
    "./build/language/$name" > "build/language/$name.out" || { echo "$name: exit $?"; status=1; }
    awk -v d="$date" -v m="$machine" -v v="${driver# }" -v p="$name" \
        '$1 == "ROW" { r = $NF; $1 = ""; $NF = ""; gsub(/^ +| +$/, ""); print d "," m "," v "," p ",\"" $0 "\"," r }' \
        "build/language/$name.out" >> "$out/h200_language.csv"
done
grep -c ',ok$' "$out/h200_language.csv"
grep 'WRONG' "$out/h200_language.csv"
exit $status
