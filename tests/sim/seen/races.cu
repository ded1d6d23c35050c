// Races that a record forgets which has one store and one load of each word: the thread's own access comes between.
// Each line has a kernel, and says which of them is found.
#include <cuda/atomic>
#include <cuda/barrier>

#ifndef BETWEEN  // what is missing: ordered.cu has it
#define BETWEEN
#define BETWEEN_LANES
#define WAITS(...)
#define FAULTY 1
#endif

#define KERNEL(name) __global__ void name(int* a, int* o)
#define I const int t = threadIdx.x, b = blockIdx.x, i = b * blockDim.x + t; (void)t, (void)b, (void)i

// One thread stores, and all change the word.
#define SHARED(name, type, thread, init, change) \
    KERNEL(name) { I; __shared__ type c; if (t == thread) init; BETWEEN; change; __syncthreads(); o[t] = c; }
SHARED(sharedAdd, int, 0, c = 0, atomicAdd(&c, 1)) //! sharedAdd: race
SHARED(sharedAddOfSecondWarp, int, 32, c = 0, if (t >= 32) atomicAdd(&c, 1)) //! sharedAddOfSecondWarp: race
SHARED(sharedExch, float, 0, c = 0, atomicExch(&c, 1.0f)) //! sharedExch: race
SHARED(sharedCas, int, 0, c = 0, atomicCAS(&c, 0, t)) //! sharedCas: race
SHARED(sharedLong, unsigned long long, 0, c = 0, atomicAdd(&c, 1ull)) //! sharedLong: race
SHARED(sharedFloat, float, 0, c = 0, atomicAdd(&c, 1.0f)) //! sharedFloat: race
SHARED(sharedDouble, double, 0, c = 0, atomicAdd(&c, 1.0)) //! sharedDouble: race
SHARED(sharedRef, int, 0, c = 0, (cuda::atomic_ref<int, cuda::thread_scope_block>(c).fetch_add(1))) //! sharedRef: race
KERNEL(sharedByte) { I; __shared__ int c; if (t == 32) c = 0; __syncthreads();
    if (t == 0) ((char*)&c)[3] = 0; BETWEEN; atomicAdd(&c, 1); __syncthreads(); o[t] = c; } //! sharedByte: race
KERNEL(sharedBarrier) { I; __shared__ cuda::barrier<cuda::thread_scope_block> bar; if (t == 0) init(&bar, blockDim.x);
    BETWEEN; bar.arrive_and_wait(); o[t] = 1; } //! sharedBarrier: race
KERNEL(lanes) { I; __shared__ int c; if (t % 32 == 0) c = 0; BETWEEN_LANES;
    atomicAdd(&c, 1); __syncwarp(); o[t] = c; } //! lanes: race

#define GLOBAL(name, init, change) KERNEL(name) { I; if (t == 0) init; BETWEEN; change; }
GLOBAL(globalAdd, a[0] = 0, atomicAdd(&a[0], 1)) //! globalAdd: race
#if FAULTY
KERNEL(blocksAdd) { I; if (i == 0) a[0] = 0; __syncthreads(); atomicAdd(&a[0], 1); } //! blocksAdd: race.*blocks run
KERNEL(blocksCas) { I; if (i == 0) a[0] = 0; __threadfence(); atomicCAS(&a[64], 0, 1); // nobody asks if it was 1
    if (b) atomicCAS(&a[0], 0, 1); } //! blocksCas: race.*blocks run
KERNEL(blocksOwn) { I; if (t == 0) { a[0] = 0; atomicAdd(&a[0], 1); } } //! blocksOwn: race.*blocks run in any
KERNEL(blocksLast) { I; if (t == 0) { atomicExch(&a[0], 0); if (b == 3) a[0] = 5; } //! blocksLast: race
    if (t == 1) atomicAdd(&a[0], 1); }
#endif

// After the operation.
#define AFTER(name, after) KERNEL(name) { I; __shared__ int c; if (t == 0) c = 0; __syncthreads(); \
    atomicAdd(&c, 1); BETWEEN; after; __syncthreads(); o[t] = c; }
AFTER(resetAfter, if (t == 40) c = 0) //! resetAfter: race
AFTER(readAfter, o[t] = c) //! readAfter: race
AFTER(readByLast, if (t == 63) o[b] = c) //! readByLast: race
AFTER(resetByLast, if (t == 63) c = 0) //! resetByLast: race
KERNEL(maxOfLast) { I; if (t == 0) a[b] = 0; __syncthreads(); atomicMax(&a[b], t); BETWEEN;
    if (t == 63) o[b] = a[b]; } //! maxOfLast: race
KERNEL(lastTicket) { I; if (atomicAdd(&a[64], 1) == 255) { o[0] = a[64]; a[64] = 0; } }  // knows that all were there
AFTER(readByOne, if (t == 5) o[t] = c) //! readByOne: race

// A stencil in place: the thread reads its own element, too.
#if FAULTY
#define STENCIL(name, before, sum) KERNEL(name) { I; before; a[i] = sum; }
#else
#define STENCIL(name, before, sum) KERNEL(name) { I; before; o[i] = sum; }
#endif
STENCIL(plusBlock, , a[i] + a[i + 64]) //! plusBlock: race.*blocks run in any order
STENCIL(neighbours, if (i == 0) return, a[i - 1] + a[i] + a[i + 1]) //! neighbours: race
STENCIL(ownLast, int v = a[i + 64]; v += a[i], v) //! ownLast: race
STENCIL(throughVolatile, volatile int* v = a, v[i] + v[i + 64]) //! throughVolatile: race
#define STENCIL_IN_SHARED(name, sum) KERNEL(name) { I; __shared__ int s[128]; s[t] = s[t + 64] = t; __syncthreads(); \
    const int v = sum; BETWEEN; s[t] = v; __syncthreads(); o[t] = s[t]; }
STENCIL_IN_SHARED(sharedNeighbours, s[(t + 63) % 64] + s[t] + s[t + 1]) //! sharedNeighbours: race
STENCIL_IN_SHARED(sharedOwnLast, s[t + 1] * 2 + s[t]) //! sharedOwnLast: race

// Several load. The one that says nothing must stay in mind: a[64 + b] is a signal.
#define SIGNALS __threadfence(); atomicExch(&a[64 + b], 1)
#define TAKES(block) if (atomicAdd(&a[64 + block], 0) == 0) return; __threadfence()
#if FAULTY
#define FIRST if (b == 0) o[0] = a[0]
#else
#define FIRST if (b == 0) { o[0] = a[0]; SIGNALS; }
#endif
KERNEL(firstReader) { I; if (t) return; FIRST; if (b == 1) { o[1] = a[0]; SIGNALS; }
    if (b == 2) { WAITS(TAKES(0)); TAKES(1); a[0] = 1; } } //! firstReader: race.*block \(0, 0, 0\)
KERNEL(firstReaderAtomic) { I; if (t) return; FIRST; if (b == 1) { o[1] = a[0]; SIGNALS; }
    if (b == 2) { WAITS(TAKES(0)); TAKES(1); atomicAdd(&a[0], 1); } } //! firstReaderAtomic: race.*block \(0, 0, 0\)
KERNEL(middleReader) { I; if (t) return; if (b != 1 && b < 3) { o[b] = a[0]; SIGNALS; }
    if (b == 1) { o[b] = a[0]; WAITS(SIGNALS); }
    if (b == 3) { TAKES(0); WAITS(TAKES(1)); TAKES(2); a[0] = 1; } } //! middleReader: race.*block \(1, 0, 0\)
KERNEL(readingWarp) { I; if (b) return; if (t == 0) { o[0] = a[0]; WAITS(SIGNALS); }
    if (t == 1) { o[1] = a[0]; __threadfence(); atomicExch(&a[65], 1); }
    if (t == 32) { WAITS(TAKES(0)); TAKES(1); a[0] = 1; } } //! readingWarp: race.*thread \(0, 0, 0\)
KERNEL(readingLane) { I; __shared__ int s; if (t == 0) s = 1; __syncthreads(); if (t > 2) return; if (t < 2) o[t] = s;
    if (t != 1) WAITS(__syncwarp(5)); if (t) __syncwarp(6); if (t == 2) s = 2; } //! readingLane: race

// Threads that store the same do not race, but one of them then stores another value.
KERNEL(lastLaneOther) { I; __shared__ int s; s = 0; BETWEEN; if (t == blockDim.x - 1) s = 1; //! lastLaneOther: race
    __syncthreads(); o[t] = s; }
#if FAULTY
KERNEL(lastBlockOther) { I; a[0] = 0; __syncthreads(); if (i == 255) a[0] = 1; } //! lastBlockOther: race
#endif

// Stores that are made to meet, and a plain load of the thread that made the last one.
KERNEL(twoFlags) { I; volatile int* v = a; if (b || t % 32) return;
    v[0] = t; if (FAULTY) o[t] = a[o[99]]; } //! twoFlags: race
KERNEL(twoAtomicStores) { I; if (b || t % 32) return; cuda::atomic_ref<int> r(a[0]);
    r.store(t); if (FAULTY) o[t] = a[o[99]]; } //! twoAtomicStores: race

// Three streams. Each waits for the event of another, but not for all.
__global__ void writes(int* a) { a[threadIdx.x] = 1; } //! writes: race.*reads, launched
__global__ void reads(const int* a, int* o) { o[threadIdx.x] = a[threadIdx.x]; }
__global__ void adds(int* a) { atomicAdd(&a[threadIdx.x], 1); } //! adds: race.*reads, launched

int main()
{
    int *a, *o;
    const auto fresh = [&] {
        cudaDeviceSynchronize();
        cudaMemset(a, 0, 4096);
        cudaMemset(o, 0, 4096);
        cudaDeviceSynchronize();
    };
    cudaMalloc(&a, 4096);
    cudaMalloc(&o, 4096);
    for (auto kernel : {sharedAdd, sharedAddOfSecondWarp, sharedExch, sharedCas,
                        sharedLong, sharedFloat, sharedDouble, sharedRef,
                        sharedByte, sharedBarrier, globalAdd,
                        resetAfter, readAfter, readByLast, resetByLast, readByOne,
                        sharedNeighbours, sharedOwnLast, lastLaneOther}) {
        fresh();
        kernel<<<1, 64>>>(a, o);
    }
    fresh();
    lanes<<<1, 32>>>(a, o);
    fresh();
    readingLane<<<1, 32>>>(a, o);
    fresh();
    lastLaneOther<<<1, 32>>>(a, o);
    // clang-format off
    for (auto kernel : {plusBlock, neighbours, ownLast, throughVolatile, firstReader,
                        maxOfLast, lastTicket, firstReaderAtomic, middleReader, readingWarp, twoFlags,
                        twoAtomicStores,
#if FAULTY
                        blocksAdd, blocksCas, blocksOwn, blocksLast, lastBlockOther,
#endif
                        }) {
        fresh();
        kernel<<<4, 64>>>(a, o);
    }
    // clang-format on

    cudaStream_t s[4];
    cudaEvent_t done[4];
    for (int n = 0; n < 4; ++n) cudaStreamCreate(&s[n]), cudaEventCreate(&done[n]);
    const auto ends = [&](int n) { cudaEventRecord(done[n], s[n]); };
    const auto waits = [&](int n, int other) { cudaStreamWaitEvent(s[n], done[other], 0); };
    for (bool atomic : {false, true}) {
        fresh();
        writes<<<1, 32, 0, s[0]>>>(a + 64);
        ends(0);
        waits(1, 0), waits(2, 0);
        reads<<<1, 32, 0, s[1]>>>(a + 64, o);
        ends(1);
        reads<<<1, 32, 0, s[2]>>>(a + 64, o + 64);
        ends(2);
        waits(3, 2);
        WAITS(waits(3, 1));
        if (atomic) adds<<<1, 32, 0, s[3]>>>(a + 64);
        else writes<<<1, 32, 0, s[3]>>>(a + 64);
        fresh();
        reads<<<1, 32, 0, s[1]>>>(a, o);
        ends(1);
        cudaMemcpyAsync(o + 64, a, 128, cudaMemcpyDeviceToDevice, s[2]);
        ends(2);
        waits(3, 1);
        WAITS(waits(3, 2));
        cudaMemsetAsync(a, 0, 128, s[3]); //! race: .*cudaMemsetAsync.*and cudaMemcpyAsync at
    }
    cudaDeviceSynchronize();
    for (int n = 0; n < 4; ++n) cudaStreamDestroy(s[n]), cudaEventDestroy(done[n]);
    cudaFree(a);
    cudaFree(o);
    return cudaGetLastError();
}
