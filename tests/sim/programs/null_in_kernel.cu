// A kernel gets a pointer that was never set, and an index of it that is not 0.
#include "check.h"

struct Parts {
    int* part[4];
};

__global__ void fill(Parts to, int peer) { to.part[peer][blockIdx.x * blockDim.x + threadIdx.x] = 1; }

int main()
{
    Parts parts = {};
    CHECK(cudaMalloc(&parts.part[0], 4 * 256 * sizeof(int)));
    fill<<<4, 256>>>(parts, 1);
    const bool fails = cudaDeviceSynchronize() == cudaErrorIllegalAddress;
    std::printf("%d\n", fails);
}
