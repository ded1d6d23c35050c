#!/usr/bin/env bash
# Measures every step's kernels and the libraries that transpose, in turns, and prints their ratios. Where there are
# several GPUs, step 8 follows, beside copies between them and NCCL's messages, its bounds, and PyTorch's exchange.
#
# usage: bench/peers.sh GPUS [TYPES [SIZES [SIZES-ON-SEVERAL-GPUS]]]     (in the project's folder, after `make peers`)
# RESULTS: the folder for results, default results. Each run makes a folder in it, peers-DATE-XXXX and, for several
# GPUs, gpus-DATE-XXXX.
set -e
# shellcheck source=bench/folder.sh
source "$(dirname "$0")/folder.sh"
gpus=$1
types=${2:-char half float double int double2}
sizes=${3:-2048,4096,8192,16384,32768,16512,49152x12288,16383x16381,10007x6007,10008x6008,16385}
spread_sizes=${4:-8192,16384,32768}
results=${RESULTS:-results}

begin_folder "$results" peers
for type in $types; do
    ./build/peers --device cuda --type "$type" --size "$sizes" --reps 10 --csv "$folder/peers_$type.csv"
done
end_folder
python3 plots/tables.py peers "$folder"/*.csv

if test "$gpus" -lt 2; then
    echo 'make peers: step 8 and its contenders need two GPUs'
    exit
fi
begin_folder "$results" gpus
for type in float double; do
    ./step08 --device cuda --all --type $type --size "$spread_sizes" --csv "$folder/step08_$type.csv"
done
if ! python3 -c 'import torch' 2> /dev/null; then
    end_folder
    echo 'make peers: python3 has no PyTorch, whose exchange is left out'
    exit
fi
for type in float double; do
    python3 -m torch.distributed.run --nproc-per-node "$gpus" step08_gpus/peers/all_to_all.py --type $type \
        --size "$spread_sizes" --csv "$folder/torch_$type.csv" --beside "$folder/step08_$type.csv"
done
end_folder
