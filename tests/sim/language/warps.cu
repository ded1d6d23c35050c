// Shuffles, votes, matches and reductions of a warp.

#include "rows.h"

constexpr unsigned all_lanes = 0xffffffff;

template <typename T>
__global__ void shuffles(T* out)
{
    const int lane = threadIdx.x;
    const T own = T(lane + 1);
    out[lane] = __shfl_sync(all_lanes, own, 5);
    out[32 + lane] = __shfl_sync(all_lanes, own, lane + 3);
    out[64 + lane] = __shfl_up_sync(all_lanes, own, 3);
    out[96 + lane] = __shfl_down_sync(all_lanes, own, 3);
    out[128 + lane] = __shfl_xor_sync(all_lanes, own, 9);
    out[160 + lane] = __shfl_sync(all_lanes, own, 2, 8);
    out[192 + lane] = __shfl_up_sync(all_lanes, own, 1, 8);
    out[224 + lane] = __shfl_down_sync(all_lanes, own, 2, 16);
    out[256 + lane] = __shfl_xor_sync(all_lanes, own, 4, 8);
    out[288 + lane] = __shfl_xor_sync(all_lanes, own, 8, 4);  // of earlier parts, but not of later ones
}

template <typename T>
void shuffled(const char* name)
{
    std::vector<T> expected;
    auto add = [&](auto source) {
        for (int lane = 0; lane < 32; ++lane) expected.push_back(T(source(lane) + 1));
    };
    add([](int) { return 5; });
    add([](int l) { return (l + 3) % 32; });
    add([](int l) { return l >= 3 ? l - 3 : l; });
    add([](int l) { return l + 3 < 32 ? l + 3 : l; });
    add([](int l) { return l ^ 9; });
    add([](int l) { return l / 8 * 8 + 2; });
    add([](int l) { return l % 8 ? l - 1 : l; });
    add([](int l) { return l % 16 + 2 < 16 ? l + 2 : l; });
    add([](int l) { return l ^ 4; });
    add([](int l) { return l & 8 ? l ^ 8 : l; });
    Array<T> out(320);
    shuffles<T><<<1, 32>>>(out.device());
    row(name, out.is(expected));
}

__global__ void votes(unsigned* out)
{
    const int lane = threadIdx.x % 32;
    unsigned r[10];
    r[0] = __ballot_sync(all_lanes, lane % 4 == 1);
    r[1] = __any_sync(all_lanes, lane == 7);
    r[2] = __any_sync(all_lanes, lane == 32);
    r[3] = __all_sync(all_lanes, lane < 32);
    r[4] = __all_sync(all_lanes, lane < 31);
    r[5] = __activemask();
    r[6] = r[7] = r[8] = 0;
    if (lane < 12) {
        r[6] = __ballot_sync(0x00000fff, lane >= 4);
        r[7] = __all_sync(0x00000fff, lane < 12);
        r[8] = __any_sync(0x00000fff, lane >= 12);
    }
    if (threadIdx.x == 35)
        for (int i = 0; i < 9; ++i) out[i] = r[i];
    if (threadIdx.x == 8) out[9] = r[6];
}

__global__ void active(unsigned* out)
{
    const unsigned lane = threadIdx.x;
    if (lane % 2) {
        const unsigned mask = __activemask();
        out[lane] = __popc(mask & 0xaaaaaaaa) > 0 && (mask >> lane & 1) && (mask & 0x55555555) == 0;
    } else {
        out[lane] = 1;
    }
}

__global__ void matches(unsigned* out)
{
    const int lane = threadIdx.x;
    int same, differ;
    out[lane] = __match_any_sync(all_lanes, lane % 3);
    out[32 + lane] = __match_any_sync(all_lanes, double(lane / 16) + 0.5);
    out[64 + lane] = __match_all_sync(all_lanes, 5ull << 40, &same);
    out[96 + lane] = __match_all_sync(all_lanes, float(lane), &differ);
    out[128 + lane] = same * 10 + differ;
}

__global__ void reductions(unsigned* out)
{
    const unsigned lane = threadIdx.x;
    unsigned r[10] = {};
    r[0] = __reduce_add_sync(all_lanes, lane);
    r[1] = __reduce_min_sync(all_lanes, lane + 3);
    r[2] = __reduce_max_sync(all_lanes, lane + 3);
    r[3] = __reduce_and_sync(all_lanes, lane | 0x40);
    r[4] = __reduce_or_sync(all_lanes, 1u << lane);
    r[5] = __reduce_xor_sync(all_lanes, lane == 3 ? 5u : lane == 4 ? 6u : 0u);
    r[6] = unsigned(__reduce_add_sync(all_lanes, -int(lane)));
    r[7] = unsigned(__reduce_min_sync(all_lanes, 4 - int(lane)));
    r[8] = unsigned(__reduce_max_sync(all_lanes, -4 - int(lane)));
    if (lane < 8) r[9] = __reduce_add_sync(0xff, lane);
    if (lane == 0)
        for (int i = 0; i < 10; ++i) out[i] = r[i];
}

#ifdef SIMULATOR
// Without a mask: of compute capability 6.x and earlier.
__global__ void maskless(int* out)
{
    const int lane = threadIdx.x;
    out[lane] = __shfl(lane, 4) + 100 * __shfl_xor(lane, 1);
    if (lane < 16) {
        out[lane] += 10000 * __shfl_down(lane, 1, 16);
        if (lane == 0) out[32] = 1;
        out[33 + lane] = __ballot(lane % 2) + __any(lane == 3) + __all(lane < 16) + __shfl_up(lane, 2, 4);
    }
}
#endif

int main()
{
    shuffled<int>("warps: shuffles of int");
    shuffled<unsigned>("warps: shuffles of unsigned");
    shuffled<long>("warps: shuffles of long");
    shuffled<unsigned long>("warps: shuffles of unsigned long");
    shuffled<long long>("warps: shuffles of long long");
    shuffled<unsigned long long>("warps: shuffles of unsigned long long");
    shuffled<float>("warps: shuffles of float");
    shuffled<double>("warps: shuffles of double");
    shuffled<short>("warps: shuffles of short");

    Array<unsigned> out(160);
    votes<<<1, 64>>>(out.device());
    row("warps: votes", out.is({0x22222222, 1, 0, 1, 0, all_lanes, 0x00000ff0, 1, 0, 0x00000ff0}));
    active<<<1, 32>>>(out.device());
    row("warps: __activemask", out.is(std::vector<unsigned>(32, 1)));

    std::vector<unsigned> expected(160);
    for (int i = 0; i < 32; ++i) {
        for (int k = 0; k < 32; ++k) expected[i] |= unsigned(k % 3 == i % 3) << k;
        expected[32 + i] = i < 16 ? 0x0000ffff : 0xffff0000;
        expected[64 + i] = all_lanes;
        expected[96 + i] = 0;
        expected[128 + i] = 10;
    }
    matches<<<1, 32>>>(out.device());
    row("warps: matches", out.is(expected));

    reductions<<<1, 32>>>(out.device());
    row("warps: __reduce_..._sync",
        out.is({496, 3, 34, 0x40, all_lanes, 3, unsigned(-496), unsigned(-27), unsigned(-4), 28}));

#ifdef SIMULATOR
    Array<int> scanned(64);
    std::vector<int> old(49);
    for (int i = 0; i < 32; ++i) old[i] = 4 + 100 * (i ^ 1) + (i < 16 ? 10000 * (i < 15 ? i + 1 : i) : 0);
    old[32] = 1;
    for (int i = 0; i < 16; ++i) old[33 + i] = 0xaaaa + 1 + 1 + (i % 4 >= 2 ? i - 2 : i);
    maskless<<<1, 32>>>(scanned.device());
    row("warps: without a mask", scanned.is(old));
#endif
    return wrong_rows() != 0;
}
