// Loads and stores with a cache operator, and asynchronous copies.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/type_traits>
#include <cuda_pipeline.h>

#include "rows.h"

namespace cg = cooperative_groups;

// Of barriers and pipelines in shared memory.
#pragma nv_diag_suppress static_var_with_dynamic_init

template <typename A, typename B>
struct Two {
    A first;
    B second;
};

template <typename T>
__global__ void loads(T* out, const T* __restrict__ in, int n)
{
    const int i = threadIdx.x;
    if (i >= n) return;
    T v = __ldg(in + i);
    v += __ldca(&in[i]);
    v += __ldcg(in + i);
    v += __ldcs(in + i);
    v += __ldlu(in + i);
    v += __ldcv(in + i);
    __stwb(out + i, v);
    __stcg(out + n + i, v);
    __stcs(&out[2 * n + i], v);
    __stwt(out + 3 * n + i, v);
}

__global__ void vector_loads(float4* out, const float4* in)
{
    const float4 v = __ldg(&in[threadIdx.x]);
    __stcs(out + threadIdx.x, make_float4(v.w, v.z, v.y, v.x));
    const float x = __ldg(&reinterpret_cast<const Two<float, float>*>(in)[0].second);
    if (threadIdx.x == 0) __stcg(&reinterpret_cast<Two<float, float>*>(out)[64].first, x);
}

// The last 4 of 16 bytes are filled with 0.
__global__ void zero_filled(int4* out, const int4* in)
{
    __shared__ int4 tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 16, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = tile[threadIdx.x];
}

// The pipeline of a block: all threads copy, all threads use.
__global__ void shared_pipeline(int* out, const int* in, int parts)
{
    __shared__ int tile[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const cg::thread_block block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int part = 0, next = 0; part < parts; ++part) {
        for (; next < parts && next < part + 2; ++next) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[next % 2], in + next * 128, 128 * sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += tile[part % 2][127 - threadIdx.x];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

// One warp copies, the others use what it brings.
__global__ void roles(int* out, const int* in, int parts)
{
    __shared__ int tile[2][96];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const cg::thread_block block = cg::this_thread_block();
    const bool produces = threadIdx.x < 32;
    auto pipe =
        cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    if (produces) {
        for (int part = 0; part < parts; ++part) {
            pipe.producer_acquire();
            for (int i = threadIdx.x; i < 96; i += 32)
                cuda::memcpy_async(&tile[part % 2][i], &in[part * 96 + i], sizeof(int), pipe);
            pipe.producer_commit();
        }
    } else {
        int sum = 0;
        for (int part = 0; part < parts; ++part) {
            pipe.consumer_wait();
            sum += tile[part % 2][127 - threadIdx.x];
            pipe.consumer_release();
        }
        out[threadIdx.x - 32] = sum;
    }
}

__global__ void barriers(int* out, const int* in)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int tile[128];
    const cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&barrier, block.size());
    block.sync();
    int sum = 0;
    for (int part = 0; part < 3; ++part) {
        cuda::memcpy_async(block, tile, in + part * 128, sizeof(int) * 128, barrier);
        barrier.arrive_and_wait();
        sum += tile[127 - threadIdx.x];
        auto token = barrier.arrive();
        sum += 1;
        barrier.wait(std::move(token));
    }
    out[threadIdx.x] = sum;
}

__global__ void group_copies(int* out, const int* in)
{
    extern __shared__ int tile[];
    const cg::thread_block block = cg::this_thread_block();
    int sum = 0;
    for (int part = 0; part < 2; ++part) {
        cg::memcpy_async(block, tile, in + part * 128, sizeof(int) * 128);
        cg::wait(block);
        sum += tile[127 - threadIdx.x];
        block.sync();
    }
    // By numbers of elements; and of a warp, its own part.
    cg::memcpy_async(block, tile, 100, in, 128);
    cg::wait(block);
    sum += tile[threadIdx.x % 100];
    block.sync();
    const auto warp = cg::tiled_partition<32>(block);
    const int first = 32 * warp.meta_group_rank();
    cg::memcpy_async(warp, tile + first, in + first, sizeof(int) * 32);
    cg::wait(warp);
    sum += tile[first + 31 - warp.thread_rank()];
    out[threadIdx.x] = sum;
}

// Bytes that are no multiple of 4, and memcpy and memset in a kernel.
__global__ void odd_copies(char* out, const char* in)
{
    __shared__ char tile[64];
    const cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x == 0) memset(tile, 'x', sizeof tile);
    block.sync();
    cg::memcpy_async(block, tile + 1, in + 1, 37);  // both as far from a multiple of 4: hardware asks for it
    cg::wait(block);
    if (threadIdx.x == 0) memcpy(out, tile, sizeof tile);
}

static_assert(cuda::std::is_same<cuda::std::remove_const_t<const int>, int>::value, "");

int main()
{
    std::vector<float> values(40), sums;
    for (int i = 0; i < 40; ++i) values[i] = float(i);
    for (int k = 0; k < 4; ++k)
        for (int i = 0; i < 40; ++i) sums.push_back(6.0f * i);
    Array<float> in(values), out(160);
    loads<float><<<1, 64>>>(out.device(), in.device(), 40);
    row("memory: __ld.., __st.. of float", out.is(sums));
    Array<double> din(std::vector<double>(values.begin(), values.end())), dout(160);
    loads<double><<<1, 64>>>(dout.device(), din.device(), 40);
    row("memory: __ld.., __st.. of double", dout.is(std::vector<double>(sums.begin(), sums.end())));

    std::vector<float> quartets(132), reversed(129);
    for (int i = 0; i < 128; ++i) reversed[i ^ 3] = quartets[i] = float(i);
    reversed[128] = 1;
    Array<float> vin(quartets), vout(132);
    vector_loads<<<1, 32>>>(reinterpret_cast<float4*>(vout.device()), reinterpret_cast<const float4*>(vin.device()));
    row("memory: __ldg, __stcs of float4", vout.is(reversed));

    std::vector<int> numbers(1024);
    for (int i = 0; i < 1024; ++i) numbers[i] = i + 1;
    Array<int> ints(numbers), filled(128), result(128);
    zero_filled<<<1, 32>>>(reinterpret_cast<int4*>(filled.device()), reinterpret_cast<const int4*>(ints.device()));
    std::vector<int> expected(numbers.begin(), numbers.begin() + 128);
    for (int i = 3; i < 128; i += 4) expected[i] = 0;
    row("memory: __pipeline_memcpy_async fills with 0", filled.is(expected));

    auto sum = [&](int parts, int size, int add) {
        std::vector<int> s(size, add);
        for (int i = 0; i < size; ++i)
            for (int p = 0; p < parts; ++p) s[i] += numbers[p * size + size - 1 - i];
        return s;
    };
    shared_pipeline<<<1, 128>>>(result.device(), ints.device(), 8);
    row("memory: cuda::pipeline of a block", result.is(sum(8, 128, 0)));
    roles<<<1, 128>>>(result.device(), ints.device(), 10);
    row("memory: cuda::pipeline with roles", result.is(sum(10, 96, 0)));
    barriers<<<1, 128>>>(result.device(), ints.device());
    row("memory: cuda::barrier", result.is(sum(3, 128, 3)));

    group_copies<<<1, 128, 512>>>(result.device(), ints.device());
    expected = sum(2, 128, 0);
    for (int i = 0; i < 128; ++i) expected[i] += numbers[i % 100] + numbers[i / 32 * 32 + 31 - i % 32];
    row("memory: cg::memcpy_async", result.is(expected));

    std::vector<char> text(64), copied(64, 'x');
    for (int i = 0; i < 64; ++i) text[i] = char(i);
    for (int i = 0; i < 37; ++i) copied[i + 1] = text[i + 1];
    Array<char> text_in(text), text_out(64);
    odd_copies<<<1, 32>>>(text_out.device(), text_in.device());
    row("memory: copies of odd sizes, memset, memcpy", text_out.is(copied));
    return wrong_rows() != 0;
}
