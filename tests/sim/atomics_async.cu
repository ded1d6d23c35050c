// How a GPU counts accesses that are no plain loads and stores of 4 or 8 bytes: atomics, cache hints, narrow
// and wide elements, structures, copies that bypass the registers, constants, local memory, shuffles.
// A plain CUDA program: tools/gpu_plain.py profiles every launch and writes tests/data/h200_kinds.csv.
// Every launch has 2 blocks of 64 threads, and every result is compared with one computed on the host.
// Prints a line for each launch; exits 1 if a result is wrong, 3 without a GPU.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int threads = 128;
constexpr int elements = 8192;  // of each array
constexpr int olds = 4096;      // where the old values are stored that an atomic returns

#define KERNEL(name)      \
    template <typename T> \
    __global__ void name(const T* in, T* out)
#define THREAD const int t = blockIdx.x * blockDim.x + threadIdx.x

// Atomics on global memory, their result unused and used.

KERNEL(addOne)
{
    atomicAdd(&out[0], T(1));
}

KERNEL(addOneUsed)
{
    THREAD;
    out[olds + t] = atomicAdd(&out[0], T(1)) + T(5);
}

KERNEL(addNeighbours)
{
    THREAD;
    atomicAdd(&out[t], T(3));
}

KERNEL(addNeighboursUsed)
{
    THREAD;
    out[olds + t] = atomicAdd(&out[t], T(3)) + T(5);
}

KERNEL(addPairs)  // two lanes to one address
{
    THREAD;
    atomicAdd(&out[t / 2], T(3));
}

__global__ void exchangeUsed(const int*, int* out)
{
    THREAD;
    out[olds + t] = atomicExch(&out[t], t) + 5;
}

__global__ void compareAndSwapUsed(const int*, int* out)
{
    THREAD;
    out[olds + t] = atomicCAS(&out[t], 0, t) + 5;
}

// Atomics on shared memory. Each thread sets its counter to zero first; with stride 0 there is one counter.

template <typename T, int stride>
__global__ void sharedAdd(const T*, T* out)
{
    __shared__ T sums[64 * (stride ? stride : 1)];
    THREAD;
    if (stride > 0 || threadIdx.x == 0) sums[stride * threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&sums[stride * threadIdx.x], T(3));
    __syncthreads();
    out[t] = sums[stride * threadIdx.x];
}

template <typename T, int stride>
__global__ void sharedAddUsed(const T*, T* out)
{
    __shared__ T sums[64 * (stride ? stride : 1)];
    THREAD;
    if (stride > 0 || threadIdx.x == 0) sums[stride * threadIdx.x] = 0;
    __syncthreads();
    out[olds + t] = atomicAdd(&sums[stride * threadIdx.x], T(3)) + T(5);
    __syncthreads();
    out[t] = sums[stride * threadIdx.x];
}

template <int stride>
__global__ void sharedCompareAndSwap(const int*, int* out)
{
    __shared__ int values[64 * stride];
    THREAD;
    values[stride * threadIdx.x] = 0;
    __syncthreads();
    out[olds + t] = atomicCAS(&values[stride * threadIdx.x], 0, t) + 5;
    __syncthreads();
    out[t] = values[stride * threadIdx.x];
}

// Cache hints.

KERNEL(loadLdg)
{
    THREAD;
    out[t] = __ldg(&in[2 * t]);
}

KERNEL(loadLdcg)
{
    THREAD;
    out[t] = __ldcg(&in[2 * t]);
}

KERNEL(storeStcg)
{
    THREAD;
    __stcg(&out[2 * t], in[t]);
}

// Elements of 1 to 48 bytes.

struct Bytes12 {
    int x, y, z;
};
struct Bytes16 {
    int x, y, z, w;
};
struct alignas(16) Aligned16 {
    int x, y, z, w;
};
struct Bytes20 {
    int x[5];
};
struct Bytes24 {  // aligned to 8
    double x, y, z;
};
struct Bytes32 {
    int x[8];
};
struct alignas(16) Aligned32 {
    int x[8];
};
struct alignas(16) Aligned48 {
    int x[12];
};
struct Mixed {  // 12 bytes, 3 of them nobody's
    char c;
    short s;
    int i;
    unsigned char last;
};

KERNEL(copy)
{
    THREAD;
    out[t] = in[t];
}

KERNEL(copyStrided)
{
    THREAD;
    out[3 * t] = in[4 * t];
}

KERNEL(throughShared)
{
    __shared__ T tile[64];
    THREAD;
    tile[threadIdx.x] = in[t];
    __syncthreads();
    out[t] = tile[63 - threadIdx.x];
}

template <typename T, int stride>
__global__ void throughSharedStrided(const T* in, T* out)
{
    __shared__ T tile[64 * stride];
    THREAD;
    tile[stride * threadIdx.x] = in[t];
    __syncthreads();
    out[t] = tile[stride * (63 - threadIdx.x)];
}

KERNEL(oneMember)
{
    THREAD;
    out[t].i = in[t].i;
}

__global__ void memberByMember(const Bytes16* in, Bytes16* out)
{
    THREAD;
    out[t].x = in[t].x;
    out[t].y = in[t].y;
    out[t].z = in[t].z;
    out[t].w = in[t].w;
}

__global__ void asVectors(const int* in, int* out)  // four elements a thread, as one of 16 bytes
{
    THREAD;
    reinterpret_cast<int4*>(out)[t] = reinterpret_cast<const int4*>(in)[t];
}

// Copies to shared memory that bypass the registers.

KERNEL(pipelineCopy)
{
    __shared__ T tile[64];
    THREAD;
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[t], sizeof(T));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[63 - threadIdx.x];
}

KERNEL(pipelineCopyStrided)
{
    __shared__ T tile[64];
    THREAD;
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[4 * t], sizeof(T));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[63 - threadIdx.x];
}

KERNEL(pipelineCopyConflicts)
{
    __shared__ T tile[512];
    THREAD;
    __pipeline_memcpy_async(&tile[8 * threadIdx.x], &in[t], sizeof(T));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[8 * (63 - threadIdx.x)];
}

KERNEL(barrierCopy)
{
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ alignas(16) T tile[64];
    THREAD;
    auto block = cooperative_groups::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(block, tile, in + 64 * blockIdx.x, cuda::aligned_size_t<16>(64 * sizeof(T)), barrier);
    barrier.arrive_and_wait();
    out[t] = tile[63 - threadIdx.x];
}

// Memory that is neither: constants, arrays of file scope, local arrays; and what needs no memory.

__constant__ int constants[elements];
__device__ int table[elements];

__global__ void constantUniform(const int*, int* out)
{
    THREAD;
    out[t] = constants[blockIdx.x];
}

__global__ void deviceArray(const int*, int* out)
{
    THREAD;
    out[t] = table[2 * t];
}

__global__ void localArray(const int* in, int* out)
{
    THREAD;
    int values[40];
#pragma unroll 1
    for (int k = 0; k < 40; ++k) values[k] = in[threads * k + t];
    out[t] = values[t * 7 % 40];
}

__global__ void shuffles(const int* in, int* out)
{
    THREAD;
    int value = in[t];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    if (t % 32 == 0) out[t / 32] = value;
}

__global__ void volatileShared(const int* in, int* out)
{
    __shared__ int memory[64];
    THREAD;
    volatile int* tile = memory;
    tile[threadIdx.x] = in[t];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 3; ++k) sum += tile[63 - threadIdx.x];  // three loads: the array is volatile
    out[t] = sum;
}

__global__ void dynamicShared(const int* in, int* out)  // 64 ints, then 64 doubles
{
    extern __shared__ double memory[];
    int* first = reinterpret_cast<int*>(memory);
    double* second = memory + 32;
    THREAD;
    first[threadIdx.x] = in[t];
    second[threadIdx.x] = in[threads + t];
    __syncthreads();
    out[t] = first[63 - threadIdx.x] + int(second[(threadIdx.x * 2) % 64]);
}

int wrong = 0;

void must(cudaError_t error)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "atomics_async: %s\n", cudaGetErrorString(error));
    exit(3);
}

// The arrays of one type. The input is bytes below 100, the output zeros.
template <typename T>
struct Data {
    explicit Data(const char* type) : type(type), host_in(elements)
    {
        auto* bytes = reinterpret_cast<unsigned char*>(host_in.data());
        for (size_t i = 0; i < elements * sizeof(T); ++i) bytes[i] = (unsigned char)((i * 2654435761u >> 11) % 100);
        must(cudaMalloc(&in, elements * sizeof(T)));
        must(cudaMalloc(&out, elements * sizeof(T)));
        must(cudaMemcpy(in, host_in.data(), elements * sizeof(T), cudaMemcpyHostToDevice));
    }

    ~Data()
    {
        cudaFree(in);
        cudaFree(out);
    }

    // Before a launch.
    void clear() { must(cudaMemset(out, 0, elements * sizeof(T))); }

    // After a launch: `serial` computes what one thread does; t is its number, i that in its block.
    // `sorted`: the order of the old values is not determined.
    template <typename Serial>
    void check(const char* kernel, Serial serial, bool sorted = false)
    {
        must(cudaGetLastError());
        std::vector<T> expected(elements), found(elements);
        memset(static_cast<void*>(expected.data()), 0, elements * sizeof(T));
        must(cudaMemcpy(found.data(), out, elements * sizeof(T), cudaMemcpyDeviceToHost));
        for (int t = 0; t < threads; ++t) serial(host_in.data(), expected.data(), t, t % 64);
        if (sorted) {
            sort(found);
            sort(expected);
        }
        const bool right = memcmp(found.data(), expected.data(), elements * sizeof(T)) == 0;
        printf("%s,%s,%s\n", kernel, type, right ? "right" : "wrong");
        wrong += !right;
    }

    static void sort(std::vector<T>& values)
    {
        if constexpr (std::is_arithmetic_v<T>) std::sort(values.begin() + olds, values.begin() + olds + threads);
    }

    const char* type;
    std::vector<T> host_in;
    T *in, *out;
};

// A launch, and one thread of it in serial; after the kernel's name, template arguments other than the type.
#define RUN_AS(kernel, instance, sorted, ...)                                        \
    d.clear();                                                                       \
    instance<<<2, 64>>>(d.in, d.out);                                                \
    d.check(kernel, [](auto* in, auto* out, int t, int i) {                          \
        (void)in, (void)t, (void)i;                                                  \
        __VA_ARGS__                                                                  \
    }, sorted)
#define COMMA ,
#define RUN(kernel, ...) RUN_AS(#kernel, kernel<T>, false, __VA_ARGS__)
#define RUN_SORTED(kernel, ...) RUN_AS(#kernel, kernel<T>, true, __VA_ARGS__)
#define RUN_STRIDE(kernel, stride, sorted, ...) RUN_AS(#kernel #stride, kernel<T COMMA stride>, sorted, __VA_ARGS__)
#define RUN_INT(kernel, ...) RUN_AS(#kernel, kernel, false, __VA_ARGS__)

template <typename T>
void atomics(const char* type)
{
    Data<T> d(type);
    RUN(addOne, out[0] += 1;);
    RUN_SORTED(addOneUsed, out[olds + t] = out[0] + 5; out[0] += 1;);
    RUN(addNeighbours, out[t] = 3;);
    RUN(addNeighboursUsed, out[t] = 3; out[olds + t] = 5;);
    RUN(addPairs, out[t / 2] += 3;);
    RUN_STRIDE(sharedAdd, 0, false, out[t] = 64 * 3;);
    RUN_STRIDE(sharedAdd, 1, false, out[t] = 3;);
    RUN_STRIDE(sharedAdd, 8, false, out[t] = 3;);
    RUN_STRIDE(sharedAdd, 33, false, out[t] = 3;);
    RUN_STRIDE(sharedAddUsed, 0, true, out[t] = 64 * 3; out[olds + t] = T(3 * i + 5););
    RUN_STRIDE(sharedAddUsed, 8, false, out[t] = 3; out[olds + t] = 5;);
}

template <typename T>
void hints(const char* type)
{
    Data<T> d(type);
    RUN(loadLdg, out[t] = in[2 * t];);
    RUN(loadLdcg, out[t] = in[2 * t];);
    RUN(storeStcg, out[2 * t] = in[t];);
}

template <typename T>
void copies(const char* type)
{
    Data<T> d(type);
    RUN(copy, out[t] = in[t];);
    RUN(copyStrided, out[3 * t] = in[4 * t];);
    RUN(throughShared, out[t] = in[t - i + 63 - i];);
    RUN_STRIDE(throughSharedStrided, 2, false, out[t] = in[t - i + 63 - i];);
    RUN_STRIDE(throughSharedStrided, 8, false, out[t] = in[t - i + 63 - i];);
}

template <typename T>
void asynchronous(const char* type)
{
    Data<T> d(type);
    RUN(pipelineCopy, out[t] = in[t - i + 63 - i];);
    RUN(pipelineCopyStrided, out[t] = in[4 * (t - i + 63 - i)];);
    RUN(pipelineCopyConflicts, out[t] = in[t - i + 63 - i];);
    RUN(barrierCopy, out[t] = in[t - i + 63 - i];);
}

void integers()
{
    using T = int;
    Data<T> d("int");
    RUN_INT(exchangeUsed, out[t] = t; out[olds + t] = 5;);
    RUN_INT(compareAndSwapUsed, out[t] = t; out[olds + t] = 5;);
    RUN_AS("sharedCompareAndSwap1", sharedCompareAndSwap<1>, false, out[t] = t; out[olds + t] = 5;);
    RUN_AS("sharedCompareAndSwap8", sharedCompareAndSwap<8>, false, out[t] = t; out[olds + t] = 5;);
    RUN_INT(asVectors, for (int k = 4 * t; k < 4 * t + 4; ++k) out[k] = in[k];);

    must(cudaMemcpyToSymbol(constants, d.host_in.data(), sizeof constants));
    must(cudaMemcpyToSymbol(table, d.host_in.data(), sizeof table));
    RUN_INT(constantUniform, out[t] = in[t / 64];);
    RUN_INT(deviceArray, out[t] = in[2 * t];);
    RUN_INT(localArray, out[t] = in[threads * (t * 7 % 40) + t];);
    RUN_INT(shuffles, out[t / 32] = int(unsigned(out[t / 32]) + unsigned(in[t])););
    RUN_INT(volatileShared, out[t] = int(3u * unsigned(in[t - i + 63 - i])););
    d.clear();
    dynamicShared<<<2, 64, 64 * 4 + 64 * 8>>>(d.in, d.out);
    d.check("dynamicShared", [](const int* in, int* out, int t, int i) {
        out[t] = int(unsigned(in[t - i + 63 - i]) + unsigned(in[threads + t - i + 2 * i % 64]));
    });
}

int main()
{
    printf("kernel,type,result\n");
    atomics<int>("int");
    atomics<unsigned long long>("unsigned long long");
    atomics<float>("float");
    atomics<double>("double");
    integers();
    hints<float>("float");
    hints<double>("double");
    hints<float4>("float4");
    copies<char>("char");
    copies<short>("short");
    copies<__half>("__half");
    copies<int>("int");
    copies<double>("double");
    copies<char4>("char4");
    copies<float2>("float2");
    copies<int4>("int4");
    copies<float4>("float4");
    copies<double2>("double2");
    copies<Bytes12>("Bytes12");
    copies<Bytes16>("Bytes16");
    copies<Aligned16>("Aligned16");
    copies<Bytes20>("Bytes20");
    copies<Bytes24>("Bytes24");
    copies<Bytes32>("Bytes32");
    copies<Aligned32>("Aligned32");
    copies<Aligned48>("Aligned48");
    {
        Data<Mixed> d("Mixed");
        using T = Mixed;
        RUN(oneMember, out[t].i = in[t].i;);
    }
    {
        Data<Bytes16> d("Bytes16");
        RUN_INT(memberByMember, out[t] = in[t];);
    }
    asynchronous<int>("int");
    asynchronous<int2>("int2");
    asynchronous<int4>("int4");
    return wrong ? 1 : 0;
}
