#!/usr/bin/env bash
# Runs all steps for the report, on what this machine has: the simulator's counts and models always, a GPU's times
# if there is one, and the serial functions on one core of the CPU.
#
# usage: bench/measure.sh OUTDIR          (in the project's folder, after `make all`)
#
# Writes OUTDIR/report_*.csv and shows what it is at. Exits 1 if a step fails, with what it said.
set -euo pipefail

out=${1:?usage: bench/measure.sh OUTDIR}
mkdir -p "$out"
rm -f "$out"/report_*.csv

names=() commands=()
plan() { # NAME PROGRAM OPTION...
    names+=("$1")
    commands+=("./$2 ${*:3}")
}

lessons="step01 step02 step03 step04 step05 step06 step07"
if ./step01 --device cuda --size 64 --once >/dev/null 2>&1; then
    for step in $lessons; do
        plan "lessons_$step" "$step" --device cuda --sweep book
        plan "lessons16k_$step" "$step" --device cuda --size 16384
    done
    for step in step01 step02 step03 step04 step05 step06; do
        plan "whitepaper_$step" "$step" --device cuda --kernel W --size 2048 --one-launch
    done
    for step in step01 step02 step03 step04 step06; do
        plan "book_$step" "$step" --device cuda --kernel B --sweep book
    done
    plan serial_blocked step02 --device cuda --kernel transposeSerialBlocked --sweep book --reps 3
    for step in step01 step02 step06; do
        plan "post_$step" "$step" --device cuda --kernel F --size 4096
    done
    plan post_blocks step02 --device cuda --kernel F9 --size 4096 --block 32x16,32x8,64x16,64x8,128x8
    # What single claims want beyond the tables.
    plan claims_step01 step01 --device cuda --all --size 4096
    plan claims_step02 step02 --device cuda --all --size 4096
    plan claims_step04 step04 --device cuda --all --sweep book
    plan claims_launch step01 --device cuda --kernel emptyKernel --size 2048
    plan claims_vectors step01 --device cuda --all --size 16384
    plan claims_char step01 --device cuda --all --type char --size 16384
else
    for step in step03 step04 step06; do
        plan "book_$step" "$step" --device sim --machine gtx280 --kernel B --size 256,512,1024,2048,4096
    done
    plan book_step02 step02 --device sim --machine gtx280 --kernel B3,B4,B5 --size 256,512,1024,2048
    plan book_tile32 step04 --device sim --machine gtx280 --kernel transposeTile32Padded --size 256,512,1024,2048,4096
    for step in step01 step02 step06; do
        plan "post_$step" "$step" --device sim --kernel F --size 4096
    done
    plan serial step02 --device sim --kernel B1,B2,transposeSerialBlocked --size 256,512,1024,2048,4096 --reps 3
    plan serial_8192 step02 --device sim --kernel B1,B2,transposeSerialBlocked --size 8192 --reps 1
fi
for step in step01 step02 step03 step04 step05 step06; do
    plan "gtx280_$step" "$step" --device sim --machine gtx280 --kernel W --size 2048
    plan "h200_$step" "$step" --device sim --size 4096
done
plan gtx280_2080 step04 --device sim --machine gtx280 --kernel W5 --size 2080
plan h200_coalescing step01 --device sim --kernel C1,C2 --size 1024
plan gtx280_step07 step07 --device sim --machine gtx280 --size 2048
plan h200_step07 step07 --device sim --size 4096

for i in "${!commands[@]}"; do
    printf '[%2d/%d] %s\n' $((i + 1)) ${#commands[@]} "${commands[i]}"
    # What it says of a fault is kept here: the disk may be what is full.
    if ! said=$(${commands[i]} --csv "$out/report_${names[i]}.csv" 2>&1 >/dev/null); then
        printf '%s\n' "$said" | tail -n 20 >&2
        exit 1
    fi
done
