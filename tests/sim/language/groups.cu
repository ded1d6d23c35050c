// Cooperative groups.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "rows.h"

namespace cg = cooperative_groups;
using namespace cooperative_groups;

__global__ void blocks(int* out)
{
    __shared__ int tile[120];
    const thread_block block = this_thread_block();
    const grid_group grid = this_grid();
    tile[block.thread_rank()] = int(grid.thread_rank());
    block.sync();
    const int other = tile[block.size() - 1 - block.thread_rank()];
    cg::sync(block);
    const dim3 index = block.group_index(), place = block.thread_index(), size = block.dim_threads();
    const bool right = index.y == blockIdx.y && place.z == threadIdx.z && size.x == blockDim.x &&
                       block.num_threads() == block.size() && grid.size() == grid.num_blocks() * block.size() &&
                       grid.num_blocks() == gridDim.x * gridDim.y &&
                       grid.block_rank() == blockIdx.y * gridDim.x + blockIdx.x;
    out[grid.thread_rank()] = right ? other : -1;
}

template <int size>
__global__ void tiles(int* out)
{
    const thread_block block = this_thread_block();
    const thread_block_tile<size> tile = tiled_partition<size>(block);
    const int rank = tile.thread_rank(), own = int(threadIdx.x);
    int r[12];
    r[0] = rank + 100 * int(tile.size()) + 10000 * int(tile.meta_group_rank()) + 1000000 * int(tile.meta_group_size());
    r[1] = tile.shfl(own, size - 1);
    r[2] = tile.shfl_up(own, 1);
    r[3] = tile.shfl_down(own, 1);
    r[4] = tile.shfl_xor(own, size / 2);
    r[5] = tile.any(own == 5);
    r[6] = tile.all(own < 20);
    r[7] = int(tile.ballot(rank % 2 == 0));
    r[8] = int(tile.match_any(rank / 2));
    int same;
    r[9] = int(tile.match_all(own / size, same)) + same;
    r[10] = cg::reduce(tile, own, cg::plus<int>());
    r[11] = cg::inclusive_scan(tile, own);
    tile.sync();
    for (int k = 0; k < 12; ++k) out[threadIdx.x * 12 + k] = r[k];
}

template <int size>
void tiled(const char* name)
{
    const int threads = 64;
    std::vector<int> expected(threads * 12);
    for (int t = 0; t < threads; ++t) {
        const int rank = t % size, first = t - rank;
        const unsigned ones = size == 32 ? 0xffffffff : (1u << size) - 1;
        int* e = &expected[t * 12];
        e[0] = rank + 100 * size + 10000 * (t / size) + 1000000 * (threads / size);
        e[1] = first + size - 1;
        e[2] = rank ? t - 1 : t;
        e[3] = rank + 1 < size ? t + 1 : t;
        e[4] = first + (rank ^ (size / 2));
        e[5] = first <= 5 && 5 < first + size;
        e[6] = first + size <= 20;
        e[7] = int(0x55555555 & ones);
        e[8] = int((size > 1 ? 3u : 1u) << rank / 2 * 2);
        e[9] = int(ones + 1);
        for (int k = 0; k < size; ++k) e[10] += first + k;
        for (int k = 0; k <= rank; ++k) e[11] += first + k;
    }
    Array<int> out(threads * 12);
    tiles<size><<<1, threads>>>(out.device());
    row(name, out.is(expected));
}

// A size that is known at run time, and groups of groups.
__global__ void partitions(int* out, int size)
{
    const thread_block block = this_thread_block();
    const thread_group tile = tiled_partition(block, size);
    __shared__ int numbers[64];
    numbers[threadIdx.x] = threadIdx.x;
    tile.sync();
    const int left = numbers[threadIdx.x - tile.thread_rank()];
    const auto warp = tiled_partition<32>(block);
    const auto quarter = tiled_partition<8>(warp);
    const thread_block_tile<8> plain = quarter;
    out[threadIdx.x] = left + 100 * int(tile.size()) + 10000 * int(quarter.meta_group_rank()) +
                       100000 * plain.shfl(int(threadIdx.x), 2);
}

__global__ void reductions(long long* out)
{
    const auto warp = tiled_partition<32>(this_thread_block());
    const int rank = warp.thread_rank();
    long long r[9];
    r[0] = cg::reduce(warp, rank + 1, cg::plus<int>());
    r[1] = cg::reduce(warp, rank - 7, cg::less<int>());
    r[2] = cg::reduce(warp, rank - 7, cg::greater<int>());
    r[3] = cg::reduce(warp, 0xf0u | rank, cg::bit_and<unsigned>());
    r[4] = cg::reduce(warp, 1u << rank, cg::bit_or<unsigned>());
    r[5] = cg::reduce(warp, unsigned(rank == 4 ? 6 : rank == 5 ? 3 : 0), cg::bit_xor<unsigned>());
    r[6] = (long long)(cg::reduce(warp, rank * 0.5, cg::plus<double>()) * 10);
    r[7] = cg::reduce(warp, (long long)(rank) << 33, cg::greater<long long>());
    r[8] = cg::reduce(warp, rank % 5 + 1, [](int a, int b) { return a * b % 1009; });
    if (rank == 0)
        for (int k = 0; k < 9; ++k) out[k] = r[k];
}

__global__ void scans(int* out)
{
    const auto warp = tiled_partition<32>(this_thread_block());
    const int rank = warp.thread_rank();
    out[rank] = cg::exclusive_scan(warp, rank + 1);
    out[32 + rank] = cg::inclusive_scan(warp, rank * 7 % 32, cg::greater<int>());
    out[64 + rank] = cg::exclusive_scan(warp, rank + 1, cg::plus<int>());
    out[96 + rank] = cg::inclusive_scan(tiled_partition<8>(warp), 1, cg::plus<int>());
}

// One atomic operation for all lanes that are here.
__device__ int aggregated(int* counter)
{
    const coalesced_group active = coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(counter, int(active.size()));
    return active.shfl(first, 0) + int(active.thread_rank());
}

__global__ void filter(int* out, int* counter, const int* in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 3 == 0) out[aggregated(counter)] = in[i];
}

__global__ void coalesced(int* out)
{
    const int lane = threadIdx.x;
    const auto warp = tiled_partition<32>(this_thread_block());
    const auto odd = binary_partition(warp, lane % 2 != 0);
    const auto third = labeled_partition(warp, lane % 3);
    out[lane] = int(odd.size()) + 100 * odd.shfl(lane, 3) + 10000 * int(odd.thread_rank());
    out[32 + lane] = int(third.size()) + 100 * cg::reduce(third, lane, cg::plus<int>());
    out[64 + lane] = int(odd.ballot(lane < 8)) + 1000 * odd.shfl_up(lane, 1) + 100000 * odd.shfl_down(lane, 2);
    out[96 + lane] = odd.any(lane == 6) + 10 * odd.all(lane % 2 == 0) + 100 * int(odd.match_any(lane / 16) == 0xff);
}

struct Sample {
    double value;
    int index;
};

__global__ void structs(double* out)
{
    const auto tile = tiled_partition<16>(this_thread_block());
    const Sample own = {threadIdx.x * 0.5, int(threadIdx.x)};
    const Sample other = tile.shfl(own, 3);
    const float4 vector = tile.shfl_down(make_float4(1, 2, 3, float(threadIdx.x)), 1);
    const Sample best = cg::reduce(tile, own, [](Sample a, Sample b) { return a.value > b.value ? a : b; });
    out[threadIdx.x] = other.value + 100 * other.index + 10000 * vector.w + 1000000 * best.index;
}

__global__ void once(int* out)
{
    const thread_block block = this_thread_block();
    const auto warp = tiled_partition<32>(block);
    cg::invoke_one(warp, [&] { atomicAdd(out, 1); });
    const int ticket = cg::invoke_one_broadcast(warp, [&]() -> int { return atomicAdd(out + 1, 10); });
    if (ticket % 10 == 0) atomicAdd(out + 2, 1);
}

int main()
{
    const dim3 grid(3, 2), block(5, 4, 6);
    std::vector<int> expected(6 * 120);
    for (int i = 0; i < 720; ++i) expected[i] = i / 120 * 120 + 119 - i % 120;
    Array<int> reversed(720);
    blocks<<<grid, block>>>(reversed.device());
    row("groups: this_thread_block, this_grid", reversed.is(expected));

    tiled<32>("groups: tiles of 32");
    tiled<16>("groups: tiles of 16");
    tiled<8>("groups: tiles of 8");
    tiled<4>("groups: tiles of 4");
    tiled<2>("groups: tiles of 2");
    tiled<1>("groups: tiles of 1");

    expected.resize(64);
    for (int t = 0; t < 64; ++t) expected[t] = t / 16 * 16 + 1600 + 10000 * (t % 32 / 8) + 100000 * (t / 8 * 8 + 2);
    Array<int> parts(64);
    partitions<<<1, 64>>>(parts.device(), 16);
    row("groups: tiled_partition at run time, and of a tile", parts.is(expected));

    long long product = 1;
    for (int i = 0; i < 32; ++i) product = i ? product * (i % 5 + 1) % 1009 : i % 5 + 1;
    Array<long long> reduced(9);
    reductions<<<1, 32>>>(reduced.device());
    row("groups: cg::reduce", reduced.is({528, -7, 24, 0xf0, 0xffffffff, 5, 2480, 31ll << 33, product}));

    expected.assign(128, 0);
    for (int i = 0, most = 0; i < 32; ++i) {
        expected[i] = expected[64 + i] = i * (i + 1) / 2;
        expected[32 + i] = most = std::max(most, i * 7 % 32);
        expected[96 + i] = i % 8 + 1;
    }
    Array<int> scanned(128);
    scans<<<1, 32>>>(scanned.device());
    row("groups: cg::inclusive_scan, cg::exclusive_scan", scanned.is(expected));

    std::vector<int> numbers(1000);
    long long checksum = 0;
    for (int i = 0; i < 1000; ++i) {
        numbers[i] = i * 7 % 1000;
        if (numbers[i] % 3 == 0) checksum += numbers[i] * numbers[i];
    }
    Array<int> in(numbers), kept(1000), count(1);
    filter<<<8, 128>>>(kept.device(), count.device(), in.device(), 1000);
    for (int value : kept.host()) checksum -= value * value;
    row("groups: coalesced_threads", count.is({334}) && checksum == 0);

    expected.assign(128, 0);
    for (int i = 0; i < 32; ++i) {
        const int odd = i % 2, rank = i / 2;
        int third = 0, count_third = 0;
        for (int k = i % 3; k < 32; k += 3, ++count_third) third += k;
        expected[i] = 16 + 100 * (6 + odd) + 10000 * rank;
        expected[32 + i] = count_third + 100 * third;
        expected[64 + i] = 0xf + 1000 * (rank ? i - 2 : i) + 100000 * (rank + 2 < 16 ? i + 4 : i);
        expected[96 + i] = !odd + 10 * !odd + 100 * (i < 16);
    }
    coalesced<<<1, 32>>>(scanned.device());
    row("groups: binary_partition, labeled_partition", scanned.is(expected));

    std::vector<double> samples(32);
    for (int t = 0; t < 32; ++t) {
        const int first = t / 16 * 16;
        samples[t] =
            (first + 3) * 0.5 + 100 * (first + 3) + 10000.0 * (t % 16 < 15 ? t + 1 : t) + 1000000.0 * (first + 15);
    }
    Array<double> shared(32);
    structs<<<1, 32>>>(shared.device());
    row("groups: shuffles of structs", shared.is(samples));

    Array<int> calls(3);
    once<<<2, 128>>>(calls.device());
    row("groups: invoke_one", calls.is({8, 80, 256}));

    return wrong_rows() != 0;
}
