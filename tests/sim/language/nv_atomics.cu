// The atomic functions with an order and a scope, __nv_atomic_..., and variables of templates.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "rows.h"

constexpr int threads = 64, blocks = 4, total = threads * blocks;

template <typename T>
__global__ void changes(T* out)
{
    const T i = T(blockIdx.x * blockDim.x + threadIdx.x);
    __nv_atomic_fetch_add(&out[0], i, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_add(&out[1], 1, __NV_ATOMIC_SEQ_CST);
    __nv_atomic_fetch_sub(&out[2], 2, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_max(&out[3], i, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_min(&out[4], i, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_or(&out[5], T(1) << threadIdx.x % 16, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_and(&out[6], ~(T(1) << threadIdx.x % 4), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_xor(&out[7], T(1) << threadIdx.x % 3, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    // Whoever comes here adds one to what it has found.
    T found = __nv_atomic_load_n(&out[8], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    while (!__nv_atomic_compare_exchange_n(&out[8], &found, found + 1, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED,
                                           __NV_THREAD_SCOPE_DEVICE)) {}
    T was, mine = i + 1;
    __nv_atomic_exchange(&out[9], &mine, &was, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_add(&out[10], was, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

__global__ void messages(int* out)
{
    __shared__ int ready, message;
    if (threadIdx.x == 0) __nv_atomic_store_n(&ready, 0, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
    __syncthreads();
    if (threadIdx.x == 40) {
        message = 42;
        const int one = 1;
        __nv_atomic_store(&ready, &one, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
    }
    if (threadIdx.x == 0) {
        int seen = 0;
        do {
            __nv_atomic_load(&ready, &seen, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
        } while (!seen);
        __nv_atomic_thread_fence(__NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK);
        *out = message;
    }
}

template <typename T>
__constant__ T mask[4];
template <>
__constant__ char mask<char>[4] = {1};

namespace inner {
template <typename T>
__device__ T sum;
namespace {
template <int n>
__device__ int numbers[n];
}
}  // namespace inner
static inline __device__ int counter;
namespace {
inline __device__ int hidden;
}

__global__ void variables(int* out)
{
    out[threadIdx.x] = mask<int>[threadIdx.x] + int(mask<float>[threadIdx.x]) + mask<char>[threadIdx.x];
    atomicAdd(&counter, 2);
    atomicAdd(&hidden, 3);
    if (threadIdx.x) return;
    inner::sum<int> = 7;
    inner::numbers<3>[2] = 4;
}

template <typename To, typename From>
__global__ void convert(To* to, const From* from)
{
    to[threadIdx.x] = static_cast<To>(from[threadIdx.x]);
}

int main()
{
    const auto check_changes = [](auto zero, const char* name) {
        using T = decltype(zero);
        std::vector<T> start(11, 0),
            expected{total * (total - 1) / 2, total, T(-2 * total), total - 1, 0, 0xffff, T(-16), 0};
        start[4] = 1000;
        start[6] = T(~T(0));
        for (int b = 0; b < blocks; ++b)
            for (int t = 0; t < threads; ++t) expected[7] ^= T(1) << t % 3;
        expected.push_back(total);
        Array<T> out(start);
        changes<T><<<blocks, threads>>>(out.device());
        std::vector<T> found = out.host();
        const bool exchanged = found[9] + found[10] == T(total) * (total + 1) / 2;  // each was there once
        found.resize(9);
        row(name, found == expected && exchanged);
    };
    check_changes(0, "__nv_atomic: int");
    check_changes(0u, "__nv_atomic: unsigned");
    check_changes(0ull, "__nv_atomic: unsigned long long");
    Array<int> out(4);
    messages<<<1, 64>>>(out.device());
    row("__nv_atomic: release, fence, acquire", out.host()[0] == 42);

    const int whole[] = {1, 2, 3, 4};
    const float floats[] = {10, 20, 30, 40};
    must(cudaMemcpyToSymbol(mask<int>, whole, sizeof whole));
    must(cudaMemcpyToSymbol(mask<float>, floats, sizeof floats));
    variables<<<1, 4>>>(out.device());
    int sum = 0, numbers[3] = {}, count = 0, unseen = 0;
    must(cudaMemcpyFromSymbol(&sum, inner::sum<int>, sizeof sum));
    must(cudaMemcpyFromSymbol(numbers, inner::numbers<3>, sizeof numbers));
    must(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    must(cudaMemcpyFromSymbol(&unseen, hidden, sizeof unseen));
    row("variables: of templates, inline",
        out.is({12, 22, 33, 44}) && sum == 7 && numbers[0] == 0 && numbers[2] == 4 && count == 8 && unseen == 12);

    const std::vector<float> values{1.5f, -0.0078125f, 70000, 3.14159f};
    Array<float> from(values), back(4);
    Array<__nv_bfloat16> brains(4);
    Array<__half> halves(4);
    convert<<<1, 4>>>(brains.device(), from.device());
    convert<<<1, 4>>>(halves.device(), brains.device());
    convert<<<1, 4>>>(back.device(), halves.device());
    row("half: from bfloat16", back.is({1.5f, -0.0078125f, INFINITY, 3.140625f}));
    convert<<<1, 4>>>(brains.device(), halves.device());
    convert<<<1, 4>>>(back.device(), brains.device());
    row("bfloat16: from half", back.is({1.5f, -0.0078125f, INFINITY, 3.140625f}));
    return wrong_rows() != 0;
}
