// An argument that knows how it is copied: the host copies it, at the launch, and the threads have the bits.
#include <cstdio>

#include "check.h"

int copies = 0, destroyed = 0;

struct Scale {
    int* factor;  // of the device
    int extra;
    __host__ __device__ Scale(int* factor, int extra) : factor(factor), extra(extra) {}
    Scale(const Scale& other) : factor(other.factor), extra(other.extra + 100) { ++copies; }
    ~Scale() { ++destroyed; }
};

__global__ void apply(int* data, Scale scale, int n)
{
    scale.extra += threadIdx.x;  // a thread's own
    if (int(threadIdx.x) < n) data[threadIdx.x] = *scale.factor * scale.extra;
}

int main()
{
    int *d_data, *d_factor, data[256], seven = 7;
    CHECK(cudaMalloc(&d_data, sizeof data));
    CHECK(cudaMalloc(&d_factor, sizeof seven));
    CHECK(cudaMemcpy(d_factor, &seven, sizeof seven, cudaMemcpyHostToDevice));
    bool right = true;
    int copies_before = 0, of_a_launch = 0;
    for (int threads : {32, 256}) {
        copies_before = copies;
        {
            Scale scale(d_factor, 1);
            apply<<<1, threads>>>(d_data, scale, threads);
        }
        CHECK(cudaMemcpy(data, d_data, threads * sizeof(int), cudaMemcpyDeviceToHost));
        const int made = copies - copies_before;
        right = right && made > 0 && (of_a_launch == 0 || made == of_a_launch);
        of_a_launch = made;
        for (int i = 0; i < threads; ++i) right = right && data[i] == 7 * (1 + 100 * made + i);
    }
    right = right && destroyed == copies + 2;
    CHECK(cudaFree(d_data));
    CHECK(cudaFree(d_factor));
    printf("%d copies; %s\n", of_a_launch, right ? "PASSED" : "FAILED");
    return !right;
}
