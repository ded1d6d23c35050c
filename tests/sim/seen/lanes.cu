// Lanes that a warp operation reads, names or meets, and that are not there; threads that wait for what does not come.
// Each line with a comment has a finding. The kernels whose names begin with `right` have none.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

#define KERNEL(name) __global__ void name(unsigned* o)
#define T const unsigned t = threadIdx.x, lane = t % 32
constexpr unsigned all = 0xffffffff;

// --- a shuffle reads a lane that has returned
KERNEL(returnedSum) { T;
    unsigned v = t;
    if (t >= 20) return;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(all, v, d);  //! reads lane 20, which has left .*12 times
    if (t == 0) *o = v;
}
KERNEL(returnedBroadcast) { T;
    if (lane == 0) return;
    o[t] = __shfl_sync(all, t, 0);  //! reads lane 0, which has left the kernel
}
KERNEL(returnedOfTile) { T;
    const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    if (tile.thread_rank() == 3) return;
    o[t] = tile.shfl(t, 3);  //! reads lane 3, which has left the kernel
}

// --- that the block does not have (it has 48 threads)
KERNEL(missingSum) { T;
    unsigned v = t;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(all, v, d);  //! reads lane 16, which the block does not have
    if (lane == 0) o[t] = v;
}
KERNEL(missingOfTile) { T;
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    unsigned v = t;
    v += tile.shfl_down(v, 16);  //! reads lane 16, which the block does not have
    o[t] = v + tile.shfl_xor(t, 16);  //! reads lane 16, which the block does not have
    o[t] += tile.shfl(t, 20);  //! reads lane 20, which the block does not have
}

// --- outside the mask
KERNEL(outsideSum) { T;
    unsigned v = t;
    if (lane < 24)
        for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffffff, v, d);  //! reads lane 24, which is not in the mask
    if (lane == 0) o[t] = v;
}
KERNEL(outsideOfBallot) { T;
    const unsigned few = __ballot_sync(all, t % 3 == 0);
    if (t % 3 == 0) o[t] = __shfl_up_sync(few, t, 1);  //! reads lane 2, which is not in the mask
}
KERNEL(outsideOldStyle) { T;
    if (lane < 16) o[t] = __shfl(t, 20);  //! reads lane 20, which is not in the mask
}

// --- callers that their own mask does not name
KERNEL(callerSync) { T;
    __syncwarp(0xffff);  //! whose lane is not in the mask 0x0000ffff .*thread \(16, 0, 0\).*32 times
    o[t] = t;
}
KERNEL(callerBallot) { T;
    o[t] = __ballot_sync(0xaaaaaaaa, 1);  //! whose lane is not in the mask 0xaaaaaaaa .*thread \(0, 0, 0\)
}
KERNEL(callerShuffle) { T;
    o[t] = __shfl_sync(0xffff, t, 3);  //! whose lane is not in the mask
}
KERNEL(callerReduce) { T;
    o[t] = __reduce_add_sync(0xffff, t);  //! whose lane is not in the mask
}
KERNEL(callerNone) { T;
    o[t] = __ballot_sync(0, 1);  //! whose lane is not in the mask 0x00000000
}

// --- masks that differ
KERNEL(differHalves) { T;
    o[t] = __shfl_sync(lane < 16 ? all : 0xffff0000, t, lane);  //! different masks, 0xffffffff and 0xffff0000
}
KERNEL(differOperations) { T;
    if (lane < 16) o[t] = __shfl_sync(all, t, 3);  //! waits for lanes that do not come
    else o[t] = __ballot_sync(all, 1);  //! waits for lanes that do not come
}
KERNEL(differOwn) { T;
    o[t] = __any_sync(all << lane, 1);  //! different masks, 0xffffffff and 0x80000000
}

// --- part of a warp at a barrier
KERNEL(barrierCondition) { T;
    if (t < 40) __syncthreads();  //! 40 wait at .*, and 24 of the same warps pass it by and leave .*thread \(40, 0, 0\)
}
KERNEL(barrierLoop) { T;
    for (unsigned i = t; i < 100; i += 64) {
        __syncthreads();  //! 36 wait at .*, and 28 of the same warps
        o[i] = i;
    }
}
KERNEL(barrierGroup) { T;
    if (lane < 5) cg::this_thread_block().sync();  //! 10 wait at
    o[t] = 1;
    return;
}
__device__ void meet(unsigned* p)
{
    *p = 1;
    __syncthreads();  //! 63 wait at .*, and 1 of the same warps pass it by and leave the kernel \(thread \(63, 0, 0\)\)
}
KERNEL(barrierFunction) { T;
    if (t != 63) meet(o + t);
}

// --- waits that cannot end: by 2 blocks of 32 threads
__device__ unsigned arrived, locked;
__device__ volatile int flag;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
#define SET_UP(count) __shared__ Barrier barrier; if (threadIdx.x == 0) init(&barrier, count); __syncthreads()
KERNEL(waitsForBlocks) {
    __threadfence();
    if (threadIdx.x == 0) {
        atomicAdd(&arrived, 1);
        while (atomicAdd(&arrived, 0) < gridDim.x) {}  //! every turn is like the last .*; blocks run .* 1 of 2
    }
    __syncthreads();
}
KERNEL(waitsForFlag) { while (flag == 0) {} }  //! every turn is like the last one
KERNEL(waitsForLock) {
    if (threadIdx.x == 0) locked = 1;
    __syncthreads();
    while (atomicCAS(&locked, 0, 1) != 0) __threadfence();  //! every turn is like the last one
}
KERNEL(waitsAsleep) { while (flag == 0) __nanosleep(100); }  //! every turn is like the last one
KERNEL(waitsForOthers) {
    SET_UP(32);
    if (threadIdx.x < 20) barrier.wait(barrier.arrive());  //! the barrier expects 32 arrivals, 20 came
}
KERNEL(waitsForProducers) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipeline = cuda::make_pipeline(cg::this_thread_block(), &state);
    if (threadIdx.x < 3) {
        pipeline.producer_acquire();
        pipeline.producer_commit();
    }
    pipeline.consumer_wait();  //! the barrier expects 32 arrivals, 3 came
}
KERNEL(waitsInParts) {
    if (threadIdx.x % 2) while (atomicMax(&arrived, 0u) < 100000u) {}  //! every turn is like the last one
    else while (atomicOr(&locked, 0u) < 100u) { __threadfence(); }  //! every turn is like the last one
}

// --- nothing is wrong
KERNEL(rightWaits) {
    SET_UP(32);
    for (int i = 0; i < 100; ++i) __nanosleep(10);
    if (threadIdx.x == 0)
        for (int i = 0; i < 70000; ++i) atomicAdd(&arrived, 0);
    barrier.arrive_and_wait();
    if (threadIdx.x == 31) atomicExch(&locked, 1);
    else while (atomicAdd(&locked, 0) == 0) {}
    __syncthreads();
    if (threadIdx.x == 0) locked = 0;
}
KERNEL(rightReturns) { T;
    if (t >= 40) return;
    o[t] = t;
    __syncthreads();
    o[t] += 1;
    __syncwarp();
    o[t] += __popc(__ballot_sync(all, t % 2)) + __any_sync(all, t == 3);
}
KERNEL(rightSum) { T;
    unsigned v = t, w = t;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(all, v, d);
    if (lane < 8)
        for (int d = 4; d; d /= 2) v += __shfl_down_sync(0xff, v, d);
    if (lane < 16)  // the last lanes read what nothing uses
        for (int d = 8; d; d /= 2) {
            v += __shfl_down_sync(0xffff, v, d);
            w += __shfl_down_sync(0xffff, w, d, 16);
        }
    if (lane == 0) o[t] = v + w;
}
KERNEL(rightNeighbour) { T;
    const unsigned v = o[64 + t];
    unsigned right = __shfl_down_sync(all, v, 1);  // block of 48
    if (lane == 31 || t == blockDim.x - 1) right = o[64 + t + 1];
    o[t] = v + right;
}
KERNEL(rightActive) { T;
    if (t % 3) {
        const unsigned mask = __activemask();
        o[t] = __shfl_sync(mask, t, __ffs(mask) - 1) + __popc(__ballot_sync(mask, t % 2));
        __syncwarp(mask);
    }
}
KERNEL(rightHalves) { T;
    const unsigned half = lane < 16 ? 0xffff : 0xffff0000;
    o[t] = __shfl_xor_sync(half, t, 8) + __shfl_down_sync(half, t, 4, 16) + __reduce_add_sync(half, t);
    if (lane < 16) __syncwarp(0xffff);
    else __syncwarp(0xffff0000);
}
KERNEL(rightGroups) { T;
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const auto tile = cg::tiled_partition<4>(warp);
    unsigned v = cg::reduce(warp, t, cg::plus<unsigned>());
    for (int d = 2; d; d /= 2) v += tile.shfl_down(v, d) + tile.shfl_xor(v, d);
    if (t % 3) {
        const auto few = cg::coalesced_threads();
        v += few.shfl(v, 0) + few.shfl_up(v, 1) + few.shfl_down(v, 1) + cg::reduce(few, v, cg::greater<unsigned>());
        few.sync();
    }
    o[t] = v + warp.shfl(v, 0) + cg::labeled_partition(warp, int(t % 3)).shfl(v, 0);
}

int main()
{
    unsigned* o;
    cudaMalloc(&o, 1024);
    cudaMemset(o, 0, 1024);
    for (const auto kernel :
         {returnedSum, returnedBroadcast, outsideSum,
          outsideOfBallot, outsideOldStyle, returnedOfTile})
        kernel<<<1, 32>>>(o);
    for (const auto kernel : {missingSum, missingOfTile, rightNeighbour})
        kernel<<<1, 48>>>(o);
    for (const auto kernel :
         {callerSync, callerBallot, callerShuffle, callerReduce,
          callerNone, differHalves, differOperations, differOwn, barrierCondition,
          barrierLoop, barrierGroup, barrierFunction,
          rightReturns,
          rightSum, rightActive, rightHalves,
          rightGroups})
        kernel<<<1, 64>>>(o);
    rightWaits<<<1, 32>>>(o);
    cudaFree(o);
    for (const auto kernel :
         {waitsForBlocks, waitsForFlag, waitsForLock, waitsAsleep,
          waitsForOthers, waitsForProducers, waitsInParts}) {
        kernel<<<2, 32>>>(o);
        cudaDeviceSynchronize();
        cudaDeviceReset();  // the error of a kernel stays until then
    }
}
