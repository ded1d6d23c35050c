// Lanes of a warp that go different ways, and meet again: what each has stored, it loads. Some lanes come to the load
// long before others. Nothing is wrong.
#include "check.h"

constexpr int threads = 64;

__global__ void meet_again(int* out, const int* in)
{
    __shared__ int mine[threads], depth[threads], stack[threads][8];
    const int i = threadIdx.x;
    if (i % 2) mine[i] = 1;
    __syncthreads();
    int sum = 0;
    if (i % 2 == 0) {
        for (int k = 0; k < 10; ++k) sum += in[(i + k) % threads];
        mine[i] = sum;
    }
    sum = mine[i];
    // A stack for each thread: in one turn, some push and others pop.
    depth[i] = 0;
    for (int turn = 0; turn < 40; ++turn) {
        const bool push = depth[i] == 0 || (depth[i] < 8 && (in[turn % threads] + i * turn) % 3 != 0);
        if (push) {
            for (int k = 0; k < i % 3; ++k) sum += in[k];
            stack[i][depth[i]] = turn;
            ++depth[i];
        } else {
            --depth[i];
            sum += stack[i][depth[i]];
        }
    }
    out[i] = sum;
}

int main()
{
    int in[threads], *d_in, *d_out;
    for (int i = 0; i < threads; ++i) in[i] = i * i % 17;
    CHECK(cudaMalloc(&d_in, sizeof in));
    CHECK(cudaMalloc(&d_out, sizeof in));
    CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    meet_again<<<1, threads>>>(d_out, d_in);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
    std::printf("PASSED\n");
}
