// Structures inside of structures: they move in pieces as large as their alignment, which is not that of their
// addresses.
#include <cstdio>
#include <cstring>
#include <vector>

#include "check.h"

struct Pair {  // of two doubles: aligned to 8
    double a, b;
};
struct Tagged {
    double tag;
    Pair pair;
};
struct Opaque;

__global__ void pairs(Pair* out, const Tagged* in)
{
    __shared__ Tagged tile[64];
    const int t = threadIdx.x;
    tile[t].pair = in[t].pair;
    __syncthreads();
    out[t] = tile[63 - t].pair;
}

__global__ void whole(Tagged* out, const Tagged* in) { out[threadIdx.x] = in[threadIdx.x]; }

int main()
{
    const int n = 64;
    std::vector<Tagged> in(n), copy(n);
    for (int i = 0; i < n; ++i) in[i] = {double(i), {i + 0.25, i + 0.5}};
    std::vector<Pair> out(n);
    Tagged *d_in, *d_copy;
    Pair* d_out;
    Opaque* d_unused;
    CHECK(cudaMalloc(&d_in, n * sizeof(Tagged)));
    CHECK(cudaMalloc(&d_copy, n * sizeof(Tagged)));
    CHECK(cudaMalloc(&d_out, n * sizeof(Pair)));
    CHECK(cudaMalloc(&d_unused, 16));
    CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(Tagged), cudaMemcpyHostToDevice));
    pairs<<<1, n>>>(d_out, d_in);
    whole<<<1, n>>>(d_copy, d_in);
    CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(Pair), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(copy.data(), d_copy, n * sizeof(Tagged), cudaMemcpyDeviceToHost));
    bool right = memcmp(in.data(), copy.data(), n * sizeof(Tagged)) == 0;
    for (int i = 0; i < n; ++i) right = right && out[i].a == in[63 - i].pair.a && out[i].b == in[63 - i].pair.b;
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_copy));
    CHECK(cudaFree(d_out));
    CHECK(cudaFree(d_unused));
    printf(right ? "PASSED\n" : "FAILED\n");
    return !right;
}
