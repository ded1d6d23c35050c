// Threads that store the same value to one place with one statement: in a warp, in a block, from several blocks. It
// does not matter whose store is the last. Nothing is wrong.
#include "check.h"

constexpr int threads = 96, blocks = 3;

template <typename T>
__global__ void largest(T* out, bool* any, const T* in)
{
    __shared__ const T* from;
    __shared__ volatile T first;
    __shared__ double2 pair;
    from = in + 1;
    first = in[0];
    pair = make_double2(1, 2);
    __syncthreads();
    T most = first;
    for (int i = 0; i < threads - 1; ++i) most = from[i] > most ? from[i] : most;
    if (in[threadIdx.x] == most) *any = true;
    out[0] = most;
    out[1] = T(pair.x + pair.y);
}

int main()
{
    short in[threads], out[2], *d_in, *d_out;
    bool any, *d_any;
    for (int i = 0; i < threads; ++i) in[i] = short(i % 7);
    CHECK(cudaMalloc(&d_in, sizeof in));
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMalloc(&d_any, sizeof any));
    CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_any, 0, sizeof any));
    largest<<<blocks, threads>>>(d_out, d_any, d_in);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&any, d_any, sizeof any, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
    CHECK(cudaFree(d_any));
    const bool right = out[0] == 6 && out[1] == 3 && any;
    std::printf(right ? "PASSED\n" : "FAILED\n");
    return !right;
}
