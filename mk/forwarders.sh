#!/bin/sh
# Writes the headers of CUDA that only include others to build/cuda/, which follows sim/cuda on the path of programs.
# Each is moved to its place when it is whole, because two makes may run at once. STAMP tells make that all are there.
#
# usage: mk/forwarders.sh STAMP
set -e
folder=$(dirname "$1")

# forward NAME 'HEADER...': <NAME> includes <HEADER>...
forward() {
    new=$folder/$1.$$
    mkdir -p "$(dirname "$new")"
    trap 'rm -f "$new"' EXIT
    {
        printf '#pragma once\n#pragma GCC system_header\n'
        for header in $2; do printf '#include <%s>\n' "$header"; done
    } > "$new"
    mv "$new" "$folder/$1"
}

for name in common_functions device_atomic_functions device_double_functions device_functions device_launch_parameters \
    math_functions sm_20_atomic_functions sm_20_intrinsics sm_30_intrinsics sm_32_atomic_functions sm_32_intrinsics \
    sm_35_atomic_functions sm_35_intrinsics sm_60_atomic_functions sm_61_intrinsics; do
    forward $name.h cuda_runtime.h
done
for name in array chrono climits cmath complex cstddef cstdint functional initializer_list limits optional ratio tuple \
    type_traits utility; do
    forward cuda/std/$name "$name sim/std.h"
done
for name in cuda/barrier cuda/pipeline; do forward $name sim/async.h; done
forward cuda/std/barrier 'sim/std.h sim/async.h'
forward cuda_bf16.hpp cuda_bf16.h
forward cuda_fp16.hpp cuda_fp16.h
forward cuda_pipeline.h 'sim/async.h cuda_pipeline_primitives.h'
forward cuda_profiler_api.h cuda_runtime_api.h
for name in nvToolsExt nvToolsExtCuda nvToolsExtCudaRt nvtx3/nvToolsExtCuda nvtx3/nvToolsExtCudaRt; do
    forward $name.h nvtx3/nvToolsExt.h
done
: > "$1"
