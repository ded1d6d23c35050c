#!/usr/bin/env bash
# The list of measurements: the runs of the steps for the report, and for the tables of the sources. On the simulator
# these are counts and models; on a GPU, if there is one, times.
#
# usage: bench/measure.sh [report|whitepaper|book|bandwidth] OUTDIR [COMMAND...]
#        (in the project's folder, after `make all`)
#
# Writes the files *.csv into a new folder, OUTDIR/NAME-DATE-XXXX, and then runs COMMAND with their names. report, which
# is meant without a name, shows what it is at. The others show what the steps print. Exits 1 if a step fails, with what
# it said. The folder has its name when all files are there.
set -euo pipefail
# shellcheck source=bench/folder.sh
source "$(dirname "$0")/folder.sh"

usage="usage: bench/measure.sh [report|whitepaper|book|bandwidth] OUTDIR [COMMAND...]"
what=report
case ${1-} in report | whitepaper | book | bandwidth) if (($# > 1)); then what=$1; shift; fi ;; esac
out=${1:?$usage}
shift

lessons=$(sed -n 's/^"\(step[0-9]*\)_.*/\1/p' "$(dirname "$0")/../common/lessons.csv" | uniq)
sources="step01 step02 step03 step04 step05 step06"  # the steps that have kernels of a source
on_gpu() { ./step01 --device cuda --size 64 --once >/dev/null 2>&1; }

names=() commands=()
plan() { # NAME PROGRAM OPTION...
    names+=("$1")
    commands+=("./$2 ${*:3}")
}

each() { # NAME "STEP..." OPTION...
    local step
    for step in $2; do plan "$1_$step" "$step" "${@:3}"; done
}

# Runs that more than one list has; --device and the like first.
whitepaper_timed() { each whitepaper "$sources" "$@" --kernel W --size 2048 --one-launch; }
book_timed() { each book "step01 step02 step03 step04 step06" "$@" --kernel B --sweep book; }
bandwidth_steps() { each "$1" "step01 step02 step06" "${@:2}" --kernel F --size 4096; }
bandwidth_blocks() { plan "$1" step02 "${@:2}" --kernel F9 --size 4096 --block 32x16,32x8,64x16,64x8,128x8; }

plan_whitepaper() {
    if on_gpu; then whitepaper_timed; else each whitepaper "$sources" --kernel W --size 2048 --machine gtx280; fi
}

plan_book() {
    if on_gpu; then book_timed; else each book "step02 step03 step04 step06" --kernel B --sweep book; fi
    plan book_step02_blocked step02 --kernel transposeSerialBlocked --sweep book
    plan book_step04_tile32 step04 --kernel transposeTile32Padded --sweep book
}

plan_bandwidth() {
    bandwidth_steps bandwidth
    bandwidth_blocks bandwidth_step02_blocks
    if on_gpu; then
        for step in step01 step02; do plan "bandwidth_${step}_counts" "$step" --kernel F --size 4096 --device sim; done
    fi
}

plan_report_timed() {
    for step in $lessons; do
        plan "lessons_$step" "$step" --device cuda --sweep book
        plan "lessons16k_$step" "$step" --device cuda --size 16384
    done
    whitepaper_timed --device cuda
    book_timed --device cuda
    plan serial_blocked step02 --device cuda --kernel transposeSerialBlocked --sweep book --reps 3
    bandwidth_steps post --device cuda
    bandwidth_blocks post_blocks --device cuda
    # Some claims need runs that no table has.
    plan claims_step01 step01 --device cuda --all --size 4096
    plan claims_step02 step02 --device cuda --all --size 4096
    plan claims_step04 step04 --device cuda --all --sweep book
    plan claims_launch step01 --device cuda --kernel emptyKernel --size 2048
    plan claims_vectors step01 --device cuda --all --size 16384
    plan claims_char step01 --device cuda --all --type char --size 16384
}

# Without a GPU. Sizes are smaller than the book's, so that it takes minutes.
plan_report_counted() {
    each book "step03 step04 step06" --device sim --machine gtx280 --kernel B --size 256,512,1024,2048,4096
    plan book_step02 step02 --device sim --machine gtx280 --kernel B3,B4,B5 --size 256,512,1024,2048
    plan book_tile32 step04 --device sim --machine gtx280 --kernel transposeTile32Padded --size 256,512,1024,2048,4096
    bandwidth_steps post --device sim
    plan serial step02 --device sim --kernel B1,B2,transposeSerialBlocked --size 256,512,1024,2048,4096 --reps 3
    plan serial_8192 step02 --device sim --kernel B1,B2,transposeSerialBlocked --size 8192 --reps 1
}

plan_report() {
    if on_gpu; then plan_report_timed; else plan_report_counted; fi
    for step in $sources; do
        plan "gtx280_$step" "$step" --device sim --machine gtx280 --kernel W --size 2048
        plan "h200_$step" "$step" --device sim --size 4096
    done
    plan gtx280_2080 step04 --device sim --machine gtx280 --kernel W5 --size 2080
    plan h200_coalescing step01 --device sim --kernel C1,C2 --size 1024
    for step in $lessons; do  # lessons that are of no source
        case " $sources " in *" $step "*) continue ;; esac
        plan "gtx280_$step" "$step" --device sim --machine gtx280 --size 2048
        plan "h200_$step" "$step" --device sim --size 4096
    done
}

"plan_$what"
begin_folder "$out" "$what"
for i in "${!commands[@]}"; do
    if [[ $what != report ]]; then
        ${commands[i]} --csv "$folder/${names[i]}.csv" || exit 1
        continue
    fi
    printf '[%2d/%d] %s\n' $((i + 1)) ${#commands[@]} "${commands[i]}"
    # What it says of a fault is kept here: the disk may be what is full.
    if ! said=$(${commands[i]} --csv "$folder/${names[i]}.csv" 2>&1 >/dev/null); then
        printf '%s\n' "$said" | tail -n 20 >&2
        exit 1
    fi
done
end_folder
echo "results: $folder"
if (($#)); then "$@" "$folder"/*.csv; fi
