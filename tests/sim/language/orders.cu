// What orders two accesses of different threads. With the argument `faulty`, one thing is missing in each kernel, and
// two threads race.
#include <cstdio>
#include <cstring>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>

#include "rows.h"

namespace cg = cooperative_groups;

constexpr int threads = 64, blocks = 4;

struct Memory {
    int partial[blocks * threads];
    unsigned tickets;
    int lock, counter;
    int flags[blocks + 1];
    cuda::atomic<int, cuda::thread_scope_device> ready;
    cuda::atomic<int, cuda::thread_scope_block> ready_here;
    double sum;
    int result;
};

// The block that draws the last ticket adds up what the others have left.
__global__ void lastBlock(Memory* m, bool faulty)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        m->partial[blockIdx.x] = blockIdx.x + 1;
        if (!faulty) __threadfence();
        last = atomicInc(&m->tickets, blocks) == blocks - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 1) {
        int sum = 0;
        for (int b = 0; b < blocks; ++b) sum += m->partial[b];
        m->result = sum;
    }
}

// Tickets of warps: a lane draws one for all of its warp.
__global__ void ticketOfAWarp(Memory* m, bool faulty)
{
    const int warps = blocks * threads / 32, lane = threadIdx.x % 32;
    m->partial[blockIdx.x * threads + threadIdx.x] = 1;
    if (!faulty) __syncwarp();
    if (lane != 0) return;
    __threadfence();
    if (atomicAdd(&m->tickets, 1) != warps - 1) return;
    int sum = 0;
    for (int i = 0; i < blocks * threads; ++i) sum += m->partial[i];
    m->result = sum;
}

// A fence for the block does not make anything seen by another one.
__global__ void scopeOfTheFence(Memory* m, bool faulty)
{
    __shared__ bool last;
    m->partial[blockIdx.x * threads + threadIdx.x] = 1;
    if (faulty) __threadfence_block();
    else __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&m->tickets, 1) == blocks - 1;
    __syncthreads();
    if (last && threadIdx.x < threads / 2)
        atomicAdd(&m->result, m->partial[threadIdx.x] + m->partial[threadIdx.x + threads / 2]);
}

__global__ void lockOfBlocks(Memory* m, bool faulty)
{
    if (threadIdx.x != 0) return;
    while (atomicCAS(&m->lock, 0, 1) != 0) {}
    m->counter += 1;
    if (!faulty) __threadfence();
    atomicExch(&m->lock, 0);
}

__global__ void lockOfLanes(Memory* m, bool faulty)
{
    __shared__ int lock, counter;
    if (threadIdx.x == 0) lock = 0, counter = 0;
    __syncthreads();
    for (bool done = false; !done;)
        if (atomicCAS(&lock, 0, 1) == 0) {
            if (!faulty) ++counter;
            __threadfence_block();
            atomicExch(&lock, 0);
            if (faulty) ++counter;
            done = true;
        }
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x == 0) m->result = counter;
}

// From warp to warp, by a flag in shared memory.
__global__ void volatileFlag(Memory* m, bool faulty)
{
    __shared__ int data[32];
    __shared__ volatile int flag[32];
    const int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) flag[lane] = 0;
    __syncthreads();
    if (threadIdx.x >= 32) {
        data[lane] = lane;
        if (!faulty) __threadfence_block();
        flag[lane] = 1;
    } else {
        while (!flag[lane]) {}
        __threadfence_block();
        atomicAdd(&m->result, data[lane]);
    }
}

// Each block adds to what the one before it has left.
__global__ void chain(Memory* m, bool faulty)
{
    if (threadIdx.x != 0) return;
    volatile int* const flags = m->flags;
    if (blockIdx.x > 0) {
        while (flags[blockIdx.x - 1] == 0) {}
        __threadfence();
    }
    const int before = blockIdx.x ? m->partial[blockIdx.x - 1] : 0;
    m->partial[blockIdx.x] = before + 1;
    if (!faulty) __threadfence();
    flags[blockIdx.x] = 1;
    if (blockIdx.x == blocks - 1) m->result = before + 1;
}

__global__ void releaseOfAMessage(Memory* m, bool faulty)
{
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        m->partial[0] = 7;
        m->ready.store(1, faulty ? cuda::memory_order_relaxed : cuda::memory_order_release);
    } else if (blockIdx.x == 1) {
        while (m->ready.load(cuda::memory_order_acquire) == 0) {}
        m->result = m->partial[0];
    }
}

__global__ void acquireOfAMessage(Memory* m, bool faulty)
{
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        m->partial[0] = 7;
        m->ready.store(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1) {
        while (m->ready.load(cuda::memory_order_relaxed) == 0) {}
        if (!faulty) cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        m->result = m->partial[0];
    }
}

__global__ void scopeOfTheAtomic(Memory* m, bool faulty)
{
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        m->partial[0] = 7;
        if (faulty) m->ready_here.store(1, cuda::memory_order_release);
        else m->ready.store(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1) {
        while ((faulty ? m->ready_here.load(cuda::memory_order_acquire) : m->ready.load(cuda::memory_order_acquire)) ==
               0) {}
        m->result = m->partial[0];
    }
}

// An int like others, that is changed atomically here.
__global__ void reference(Memory* m, bool faulty)
{
    if (threadIdx.x != 0) return;
    cuda::atomic_ref<int, cuda::thread_scope_device> arrived(m->counter);
    m->partial[blockIdx.x] = 1;
    if (arrived.fetch_add(1, faulty ? cuda::memory_order_relaxed : cuda::memory_order_acq_rel) == blocks - 1)
        for (int b = 0; b < blocks; ++b) m->result += m->partial[b];
}

// Half of the block fills a buffer that the other half empties, three times.
__global__ void barriersOfTwoRoles(Memory* m, bool faulty)
{
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ Barrier filled, emptied;
    __shared__ int buffer[threads / 2];
    if (threadIdx.x == 0) {
        init(&filled, threads);
        init(&emptied, threads);
    }
    __syncthreads();
    const int lane = threadIdx.x % (threads / 2);
    for (int round = 0; round < 3; ++round) {
        if (threadIdx.x < threads / 2) {
            if (round > 0) emptied.arrive_and_wait();
            buffer[lane] = round;
            (void)filled.arrive();
        } else {
            filled.arrive_and_wait();
            if (faulty && round < 2) (void)emptied.arrive();
            atomicAdd(&m->result, buffer[(lane + 1) % (threads / 2)]);
            if (!faulty && round < 2) (void)emptied.arrive();
        }
    }
}

__global__ void stagesOfAPipeline(Memory* m, bool faulty)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int buffer[2][threads];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int round = 0; round < 4; ++round) {
        pipe.producer_acquire();
        buffer[round % 2][threadIdx.x] = round;
        pipe.producer_commit();
        if (!faulty) pipe.consumer_wait();
        atomicAdd(&m->result, buffer[round % 2][(threadIdx.x + 1) % threads]);
        if (faulty) pipe.consumer_wait();
        pipe.consumer_release();
    }
}

// A load that is not trusted: the swap takes place only if it was right.
__global__ void compareAndSwap(Memory* m, bool faulty)
{
    auto* const word = reinterpret_cast<unsigned long long*>(&m->sum);
    unsigned long long before = *word, assumed;
    do {
        assumed = before;
        const unsigned long long next = __double_as_longlong(__longlong_as_double(assumed) + 1);
        if (faulty) {
            atomicExch(word, next);
            break;
        }
        before = atomicCAS(word, assumed, next);
    } while (before != assumed);
}

// `volatile` does not make the lanes of a warp wait for each other.
__global__ void volatileWarp(Memory* m, bool faulty)
{
    __shared__ volatile int data[64];
    const int lane = threadIdx.x;
    if (lane >= 32) return;
    data[lane] = 1;
    data[lane + 32] = 0;
    __syncwarp();
    for (int distance = 16; distance > 0; distance /= 2) {
        const int sum = data[lane] + data[lane + distance];
        if (!faulty) __syncwarp();
        data[lane] = sum;
        if (!faulty) __syncwarp();
    }
    if (lane == 0 && blockIdx.x == 0) m->result = data[0];
}

// Lane 0 meets lane 1, which then meets lane 2.
__global__ void meetings(Memory* m, bool faulty)
{
    __shared__ int data;
    if (threadIdx.x == 0) {
        data = 5;
        __syncwarp(0x3);
    } else if (threadIdx.x == 1) {
        if (!faulty) __syncwarp(0x3);
        __syncwarp(0x6);
        if (faulty) __syncwarp(0x3);
    } else if (threadIdx.x == 2) {
        __syncwarp(0x6);
        if (blockIdx.x == 0) m->result = data;
    }
}

// From block to block to block.
__global__ void relay(Memory* m, bool faulty)
{
    if (threadIdx.x != 0 || blockIdx.x > 2) return;
    if (blockIdx.x == 0) {
        m->partial[0] = 9;
        __threadfence();
        atomicExch(&m->flags[0], 1);
    } else if (blockIdx.x == 1) {
        if (!faulty)
            while (atomicAdd(&m->flags[0], 0) == 0) {}
        __threadfence();
        atomicExch(&m->flags[1], 1);
    } else {
        while (atomicAdd(&m->flags[1], 0) == 0) {}
        __threadfence();
        m->result = m->partial[0];
    }
}

int main(int count, char** arguments)
{
    const bool faulty = count > 1 && strcmp(arguments[1], "faulty") == 0;
    Memory *d, h;
    must(cudaMalloc(&d, sizeof *d));
#define ORDER(kernel, expected)                                      \
    must(cudaMemset(d, 0, sizeof *d));                               \
    kernel<<<blocks, threads>>>(d, faulty);                          \
    must(cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost));       \
    if (!faulty) row(#kernel, expected)
    ORDER(lastBlock, h.result == 10);
    ORDER(ticketOfAWarp, h.result == blocks * threads);
    ORDER(scopeOfTheFence, h.result == threads);
    ORDER(lockOfBlocks, h.counter == blocks);
    ORDER(lockOfLanes, h.result == threads);
    ORDER(volatileFlag, h.result == blocks * 496);
    ORDER(chain, h.result == blocks);
    ORDER(releaseOfAMessage, h.result == 7);
    ORDER(acquireOfAMessage, h.result == 7);
    ORDER(scopeOfTheAtomic, h.result == 7);
    ORDER(reference, h.result == blocks);
    ORDER(barriersOfTwoRoles, h.result == blocks * threads / 2 * 3);
    ORDER(stagesOfAPipeline, h.result == blocks * threads * 6);
    ORDER(compareAndSwap, h.sum == blocks * threads);
    ORDER(volatileWarp, h.result == 32);
    ORDER(meetings, h.result == 5);
    ORDER(relay, h.result == 9);
    must(cudaFree(d));
    return wrong_rows() != 0;
}
