// Kernels whose lanes go different ways, for Nsight Compute to count and for the simulator to count alike.
// A plain CUDA program: tools/gpu_plain.py profiles every launch and writes tests/data/h200_divergence.csv.
// Two lanes' accesses are expected to be one request if they are made at the same place of the source, in
// the same turn of all loops around it, on the same call path.
//
// Loops are kept as they are (`#pragma unroll 1`), except in the kernels named unrolled...: nvcc may unroll
// those. The kernels named merged... invite nvcc to make one access of two. Every result is compared with
// one computed on the host; all values are small integers, exact in float. Prints a line for each launch;
// exits 1 if a result is wrong, 3 without a GPU.

#include <cstdio>
#include <vector>

constexpr int elements = 8192;  // of each array
constexpr int flag_stride = 256;

__host__ __device__ unsigned mix(unsigned x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

#define KERNEL(name)      \
    template <typename T> \
    __global__ void name(const T* in, const int* index, T* out)
#define THREAD const int t = blockIdx.x * blockDim.x + threadIdx.x
#define LANE THREAD; const int lane = threadIdx.x % 32

// Trip counts that depend on the lane.

KERNEL(forLane)
{
    LANE;
    T sum = 0;
#pragma unroll 1
    for (int k = 0; k < lane; ++k) sum += in[64 * k + t];
    out[t] = sum;
}

KERNEL(nestedThree)
{
    LANE;
    T sum = 0;
#pragma unroll 1
    for (int i = 0; i < 2 + lane % 2; ++i)
#pragma unroll 1
        for (int j = 0; j < 1 + (lane / 2 + i) % 3; ++j) {
#pragma unroll 1
            for (int k = 0; k < (lane + j) % 3; ++k) sum += in[128 * (9 * i + 3 * j + k) + t];
            out[128 * (4 * i + j) + t] = sum;
        }
}

// Guards inside loops.

KERNEL(halvesInTurn)
{
    LANE;
    T sum = 0;
#pragma unroll 1
    for (int turn = 0; turn < 6; ++turn)
        if ((turn & 1) == (lane < 16)) sum += in[128 * turn + t];
    out[t] = sum;
}

KERNEL(oneLaneATurn)
{
    LANE;
#pragma unroll 1
    for (int turn = 0; turn < 32; ++turn)
        if (turn == lane) out[t] = in[3 * t] + 1;
}

KERNEL(randomPattern)
{
    THREAD;
#pragma unroll 1
    for (int turn = 0; turn < 16; ++turn)
        if (mix(64 * turn + t) & 1) out[128 * turn + t] = in[128 * turn + t] + turn;
}

// break, continue and return.

KERNEL(earlyReturn)
{
    LANE;
    out[t] = in[t] + 1;
    if (lane >= 20) return;
    out[1024 + t] = in[1024 + 2 * t];
    if (lane % 3 == 0) return;
    out[2048 + 3 * t] = in[2048 + t];
}

KERNEL(mergedReturns)
{
    LANE;
    T sum = 0;
#pragma unroll 1
    for (int k = 0; k < 8; ++k) {
        sum += in[128 * k + t];
        if (k == lane % 11) {
            out[t] = sum;
            return;
        }
    }
    out[1024 + 2 * t] = -sum;
}

// switch.

KERNEL(switchFallthrough)
{
    LANE;
    T sum = 0;
    switch (lane % 5) {
        case 0: sum += in[t];
        // fall through
        case 1: sum = 2 * sum + in[1024 + 2 * t];
        // fall through
        case 2: sum = 3 * sum + in[2048 + 3 * t]; break;
        case 3: sum = in[4096 + t] * in[4608 + t];
        // fall through
        default: sum -= in[5120 + 4 * t];
    }
    out[t] = sum;
}

KERNEL(switchFallthroughInLoop)
{
    LANE;
    T sum = 0;
#pragma unroll 1
    for (int k = 0; k < 6; ++k) switch ((lane >> 1) + k & 3) {
            case 3: sum += in[128 * k + t];
            // fall through
            case 2: sum = 2 * sum - in[1024 + 128 * k + t]; break;
            case 1: out[128 * k + t] = sum;
            // fall through
            default: sum += in[2048 + 128 * k + t] * T(k);
        }
    out[1024 + t] = sum;
}

// Chains, ternaries and conditions that load.

KERNEL(ifChain)
{
    LANE;
    if (lane < 5) out[t] = in[t] + in[512 + 2 * t];
    else if (lane < 17) out[1024 + t] = in[1024 + 3 * t];
    else if (lane % 2) out[2048 + t] = 7;
    else out[3072 + 2 * t] = in[3072 + t] * in[4096 + t] - in[5120 + t];
}

KERNEL(mergedTernary)
{
    LANE;
    out[t] = lane < 16 ? in[t] : in[512 + 2 * t];
}

KERNEL(shortInLoop)
{
    LANE;
    T sum = 0;
#pragma unroll 1
    for (int k = 0; k < 6; ++k)
        if (((lane + k) & 1 && in[128 * k + t] > 50) || in[1024 + 128 * k + t] > 60) sum += in[2048 + 128 * k + t];
    out[t] = sum;
}

KERNEL(whileFlag)
{
    THREAD;
    T sum = 0;
    int i = t;
#pragma unroll 1
    while (index[i]) {
        sum += in[i];
        i += flag_stride;
    }
    out[t] = sum;
}

// Loops that half of the lanes enter, and loops after divergent loops.

KERNEL(loopsOfBothHalves)
{
    LANE;
    T sum = 0;
    if (lane < 16) {
#pragma unroll 1
        for (int k = 0; k < 2 + lane % 4; ++k) sum += in[128 * k + t];
    } else {
#pragma unroll 1
        for (int k = 0; k < 9; ++k) out[1024 + 128 * k + t] = in[1024 + 128 * k + t];
    }
    out[t] = sum;
}

// Functions called on both sides of a branch, from two places, in loops.

template <typename T>
__device__ T gather(const T* in, int first, int trips)
{
    T sum = 0;
#pragma unroll 1
    for (int k = 0; k < trips; ++k) sum += in[first + 128 * k];
    return sum;
}

template <typename T>
__device__ void scatter(T* out, int at, T value)
{
    if (at % 2) out[at] = value;
    else {
#pragma unroll 1
        for (int k = 0; k < 2; ++k) out[4096 + 2048 * k + at] = T(k) - value;
    }
}

template <typename T>
__device__ void scatterEither(T* out, int at, T value)
{
    if (at % 2) out[at] = value;
    else out[4096 + at] = -value;
}

template <typename T>
__device__ __noinline__ T gatherCalled(const T* in, int first, int trips)
{
    return gather(in, first, trips);
}

template <typename T>
__device__ T firstAbove(const T* in, int first, T limit)
{
#pragma unroll 1
    for (int k = 0; k < 6; ++k) {
        const T value = in[first + 128 * k];
        if (value > limit) return value;
    }
    return -1;
}

KERNEL(helperNotInlined)
{
    LANE;
    T sum;
    if (lane % 3 == 0) sum = 2 * gatherCalled(in, t, 4);
    else sum = gatherCalled(in, 1024 + t, 3 + lane % 2) - 1;
    out[t] = sum;
}

KERNEL(mergedHelpers)
{
    LANE;
    if (lane < 20) scatterEither(out, t, gather(in, t, 1 + lane % 3));
    else scatterEither(out, 1024 + 3 * t, firstAbove(in, 1024 + t, T(50)));
}

// Shared memory.

KERNEL(sharedReverse)
{
    __shared__ T tile[64];
    LANE;
    tile[threadIdx.x] = in[t];
    __syncthreads();
    T sum = 0;
#pragma unroll 1
    for (int k = 0; k < lane % 7; ++k) sum += tile[63 - (threadIdx.x + k) % 64];
    out[t] = sum;
}

KERNEL(reduceHalving)
{
    __shared__ T sums[64];
    THREAD;
    sums[threadIdx.x] = in[t];
    __syncthreads();
#pragma unroll 1
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

KERNEL(barrierBetween)
{
    __shared__ T tile[128];
    LANE;
    if (lane % 3) tile[threadIdx.x] = in[t];
    else {
#pragma unroll 1
        for (int k = 0; k < 2; ++k) tile[64 * k + threadIdx.x] = -in[1024 + 512 * k + t];
    }
    __syncthreads();
    T sum = 0;
#pragma unroll 1
    for (int k = 0; k < lane % 4; ++k) sum += tile[(threadIdx.x + 16 * k) % 64];
    if (lane % 3) tile[64 + threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < 40) out[t] = tile[64 + 2 * threadIdx.x % 64];
}

// Warps and blocks of other shapes.

template <typename T>
__global__ void partialWarp(const T* in, const int*, T* out)  // 40 threads
{
    LANE;
    T sum = 0;
#pragma unroll 1
    for (int k = 0; k < 1 + lane % 5; ++k) sum += in[128 * k + 2 * t];
    if (lane != 3) out[t] = sum;
}

template <typename T>
__global__ void blockOf8x8(const T* in, const int*, T* out)  // 8 x 8 threads, a triangle of them
{
    const int at = 64 * blockIdx.x + 8 * threadIdx.y + threadIdx.x;
    if (threadIdx.x > threadIdx.y) return;
#pragma unroll 1
    for (int k = threadIdx.x; k <= threadIdx.y; k += 2) out[128 * k + at] = in[128 * k + at] + 1;
}

template <typename T>
__global__ void tileRagged(const T* in, const int*, T* out)  // 16 x 4 threads: 27 columns, 21 rows, transposed
{
    __shared__ T tile[16][17];
    const int x = 16 * blockIdx.x + threadIdx.x;
#pragma unroll 1
    for (int j = threadIdx.y; j < 16; j += 4)
        if (x < 27 && 16 * blockIdx.y + j < 21) tile[j][threadIdx.x] = in[27 * (16 * blockIdx.y + j) + x];
    __syncthreads();
    const int row = 16 * blockIdx.y + threadIdx.x;
#pragma unroll 1
    for (int j = threadIdx.y; j < 16; j += 4)
        if (row < 21 && 16 * blockIdx.x + j < 27) out[21 * (16 * blockIdx.x + j) + row] = tile[threadIdx.x][j];
}

KERNEL(gridStride)
{
    THREAD;
#pragma unroll 1
    for (int i = t; i < 555; i += gridDim.x * blockDim.x) out[i] = in[i] + 1;
}

// Without `#pragma unroll 1`: nvcc unrolls where it likes.

KERNEL(unrolledTrips)
{
    LANE;
    T sum = 0;
    for (int k = 0; k < lane; ++k) sum += in[64 * k + t];
    out[t] = sum;
}

KERNEL(unrolledNested)
{
    LANE;
    T sum = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 1 + lane % 4; ++j) sum += in[128 * (4 * i + j) + t];
    out[t] = sum;
}

int wrong = 0;

void must(cudaError_t error)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "divergence: %s\n", cudaGetErrorString(error));
    exit(3);
}

// The arrays of one type, on the device and on the host.
template <typename T>
struct Data {
    explicit Data(const char* type) : type(type), host_in(elements), host_index(elements)
    {
        for (int i = 0; i < elements; ++i) {
            host_in[i] = T(mix(i) % 101);
            host_index[i] = int(mix(i + 77777) % 8);
            // Chains of flags end in time; the last ones are sorted.
            if (i >= elements - 2 * flag_stride) host_index[i] = 0;
            if (i >= elements - flag_stride) host_index[i] = 4 * (i - (elements - flag_stride));
        }
        must(cudaMalloc(&in, elements * sizeof(T)));
        must(cudaMalloc(&out, elements * sizeof(T)));
        must(cudaMalloc(&index, elements * sizeof(int)));
        must(cudaMemcpy(in, host_in.data(), elements * sizeof(T), cudaMemcpyHostToDevice));
        must(cudaMemcpy(index, host_index.data(), elements * sizeof(int), cudaMemcpyHostToDevice));
    }

    ~Data()
    {
        cudaFree(in);
        cudaFree(out);
        cudaFree(index);
    }

    // Before a launch.
    void clear()
    {
        const std::vector<T> nothing(elements, T(-1));
        must(cudaMemcpy(out, nothing.data(), elements * sizeof(T), cudaMemcpyHostToDevice));
    }

    // After a launch: `serial` computes all that the kernel should.
    template <typename Serial>
    void check(const char* kernel, Serial serial)
    {
        must(cudaGetLastError());
        std::vector<T> expected(elements, T(-1)), found(elements);
        must(cudaMemcpy(found.data(), out, elements * sizeof(T), cudaMemcpyDeviceToHost));
        serial(host_in.data(), host_index.data(), expected.data());
        int different = 0, first = 0;
        for (int i = elements - 1; i >= 0; --i)
            if (found[i] != expected[i]) {
                ++different;
                first = i;
            }
        printf("%s,%s,%s", kernel, type, different ? "wrong" : "right\n");
        if (different)
            printf(": %d elements, first out[%d]: expected %g, found %g\n", different, first, double(expected[first]),
                   double(found[first]));
        wrong += different != 0;
    }

    // The same for a kernel whose threads have nothing to do with each other: `serial` is one of them.
    template <typename Serial>
    void checkThreads(const char* kernel, int blocks, int threads, Serial serial)
    {
        check(kernel, [&](const T* in, const int* index, T* out) {
            for (int t = 0; t < blocks * threads; ++t) serial(in, index, out, t, t % threads % 32);
        });
    }

    const char* type;
    std::vector<T> host_in;
    std::vector<int> host_index;
    T *in, *out;
    int* index;
};

// A launch of 2 blocks of 64 threads, and one of its threads in serial.
#define RUN(kernel, ...)                                                                                              \
    d.clear();                                                                                                        \
    kernel<T><<<2, 64>>>(d.in, d.index, d.out);                                                                       \
    d.checkThreads(#kernel, 2, 64, [](const T* in, const int* index, T* out, int t, int lane) {                       \
        (void)in, (void)index, (void)lane;                                                                            \
        __VA_ARGS__                                                                                                   \
    })

// The same of blocks of any shape, all of it in serial.
#define RUN_BLOCKS(kernel, grid, block, ...)                                                                          \
    d.clear();                                                                                                        \
    kernel<T><<<grid, block>>>(d.in, d.index, d.out);                                                                 \
    d.check(#kernel, [](const T* in, const int* index, T* out) {                                                      \
        (void)index;                                                                                                  \
        __VA_ARGS__                                                                                                   \
    })

template <typename T>
T sumOf(const T* in, int trips, int stride)
{
    T sum = 0;
    for (int k = 0; k < trips; ++k) sum += in[stride * k];
    return sum;
}

template <typename T>
T above(const T* in, T limit)
{
    for (int k = 0; k < 6; ++k)
        if (in[128 * k] > limit) return in[128 * k];
    return -1;
}

template <typename T>
void runAll(const char* type)
{
    Data<T> d(type);

    RUN(forLane, out[t] = sumOf(in + t, lane, 64););
    RUN(nestedThree, T s = 0; for (int i = 0; i < 2 + lane % 2; ++i) for (int j = 0; j < 1 + (lane / 2 + i) % 3; ++j) {
            s += sumOf(in + 128 * (9 * i + 3 * j) + t, (lane + j) % 3, 128);
            out[128 * (4 * i + j) + t] = s;
        });

    RUN(halvesInTurn, out[t] = sumOf(in + t + (lane < 16 ? 128 : 0), 3, 256););
    RUN(oneLaneATurn, out[t] = in[3 * t] + 1;);
    RUN(randomPattern, for (int k = 0; k < 16; ++k) if (mix(64 * k + t) % 2) out[128 * k + t] = in[128 * k + t] + k;);

    RUN(earlyReturn, out[t] = in[t] + 1; if (lane < 20) out[1024 + t] = in[1024 + 2 * t];
        if (lane < 20 && lane % 3) out[2048 + 3 * t] = in[2048 + t];);
    RUN(mergedReturns, if (lane % 11 < 8) out[t] = sumOf(in + t, 1 + lane % 11, 128);
        else out[1024 + 2 * t] = -sumOf(in + t, 8, 128););

    RUN(switchFallthrough, const int c = lane % 5; T s = c == 0 ? in[t] : T(0);
        if (c <= 1) s = 2 * s + in[1024 + 2 * t]; if (c <= 2) s = 3 * s + in[2048 + 3 * t];
        if (c == 3) s = in[4096 + t] * in[4608 + t]; if (c >= 3) s -= in[5120 + 4 * t]; out[t] = s;);
    RUN(switchFallthroughInLoop, T s = 0; for (int k = 0; k < 6; ++k) {
            const int c = (lane / 2 + k) % 4;
            if (c == 3) s += in[128 * k + t];
            if (c >= 2) s = 2 * s - in[1024 + 128 * k + t];
            if (c == 1) out[128 * k + t] = s;
            if (c <= 1) s += in[2048 + 128 * k + t] * T(k);
        } out[1024 + t] = s;);

    RUN(ifChain, if (lane < 5) out[t] = in[t] + in[512 + 2 * t];
        if (lane >= 5 && lane < 17) out[1024 + t] = in[1024 + 3 * t]; if (lane >= 17 && lane % 2) out[2048 + t] = 7;
        if (lane >= 17 && lane % 2 == 0) out[3072 + 2 * t] = in[3072 + t] * in[4096 + t] - in[5120 + t];);
    RUN(mergedTernary, out[t] = in[lane < 16 ? t : 512 + 2 * t];);
    RUN(shortInLoop, T s = 0; for (int k = 0; k < 6; ++k) {
            const bool a = (lane + k) % 2 == 1 && in[128 * k + t] > 50;
            const bool b = in[1024 + 128 * k + t] > 60;
            if (a || b) s += in[2048 + 128 * k + t];
        } out[t] = s;);
    RUN(whileFlag, T s = 0; for (int i = t; index[i]; i += flag_stride) s += in[i]; out[t] = s;);

    RUN(loopsOfBothHalves, out[t] = lane < 16 ? sumOf(in + t, 2 + lane % 4, 128) : T(0);
        if (lane >= 16) for (int k = 0; k < 9; ++k) out[1024 + 128 * k + t] = in[1024 + 128 * k + t];);

    RUN(mergedHelpers, const int at = lane < 20 ? t : 1024 + 3 * t;
        const T v = lane < 20 ? sumOf(in + t, 1 + lane % 3, 128) : above(in + 1024 + t, T(50));
        out[at % 2 ? at : 4096 + at] = at % 2 ? v : -v;);
    RUN(helperNotInlined, out[t] = lane % 3 ? sumOf(in + 1024 + t, 3 + lane % 2, 128) - 1 : 2 * sumOf(in + t, 4, 128););

    RUN(sharedReverse, const int b = t / 64 * 64; T s = 0;
        for (int k = 0; k < lane % 7; ++k) s += in[b + 63 - (t % 64 + k) % 64]; out[t] = s;);
    RUN_BLOCKS(reduceHalving, 2, 64, out[0] = sumOf(in, 64, 1); out[1] = sumOf(in + 64, 64, 1););
    RUN_BLOCKS(barrierBetween, 2, 64, for (int b = 0; b < 128; b += 64) {
            T first[64];
            T second[64];
            for (int i = 0; i < 64; ++i) first[i] = i % 32 % 3 ? in[b + i] : -in[1024 + b + i];
            for (int i = 0; i < 64; ++i) {
                if (i % 32 % 3 == 0) second[i] = -in[1536 + b + i];
                else second[i] = 0;
                for (int k = 0; i % 32 % 3 && k < i % 32 % 4; ++k) second[i] += first[(i + 16 * k) % 64];
            }
            for (int i = 0; i < 40; ++i) out[b + i] = second[2 * i % 64];
        });

    RUN_BLOCKS(
        partialWarp, 2, 40,
        for (int t = 0; t < 80; ++t) if (t % 40 % 32 != 3) out[t] = sumOf(in + 2 * t, 1 + t % 40 % 32 % 5, 128););
    RUN_BLOCKS(blockOf8x8, 2, dim3(8, 8),
               for (int b = 0; b < 2; ++b) for (int y = 0; y < 8; ++y) for (int x = 0; x <= y; ++x) for (int k = x;
                                                                                                         k <= y; k += 2)
                   out[128 * k + 64 * b + 8 * y + x] = in[128 * k + 64 * b + 8 * y + x] + 1;);
    RUN_BLOCKS(tileRagged, dim3(2, 2), dim3(16, 4),
               for (int y = 0; y < 21; ++y) for (int x = 0; x < 27; ++x) out[21 * x + y] = in[27 * y + x];);
    RUN_BLOCKS(gridStride, 2, 64, for (int i = 0; i < 555; ++i) out[i] = in[i] + 1;);

    RUN(unrolledTrips, out[t] = sumOf(in + t, lane, 64););
    RUN(unrolledNested, out[t] = 0; for (int i = 0; i < 3; ++i) out[t] += sumOf(in + 512 * i + t, 1 + lane % 4, 128););
}

int main()
{
    printf("kernel,type,result\n");
    runAll<float>("float");
    runAll<double>("double");
    return wrong ? 1 : 0;
}
