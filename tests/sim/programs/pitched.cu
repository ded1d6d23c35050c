// Rows with a pitch, in two and three dimensions. Nothing is wrong.
#include <cstdio>
#include <vector>

#include "check.h"

__global__ void increment(char* base, size_t pitch, size_t slice, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x < width && y < height) reinterpret_cast<float*>(base + z * slice + y * pitch)[x] += 1;
}

int main()
{
    const int width = 50, height = 6, depth = 3;
    std::vector<float> in(width * height * depth), out(in.size());
    for (size_t i = 0; i < in.size(); ++i) in[i] = float(i);
    int wrong = 0;

    float* plane;
    size_t pitch;
    CHECK(cudaMallocPitch(&plane, &pitch, width * sizeof(float), height));
    CHECK(cudaMemcpy2D(plane, pitch, in.data(), width * sizeof(float), width * sizeof(float), height,
                       cudaMemcpyHostToDevice));
    increment<<<dim3(2, height), 32>>>((char*)plane, pitch, 0, width, height);
    CHECK(cudaMemcpy2D(out.data(), width * sizeof(float), plane, pitch, width * sizeof(float), height,
                       cudaMemcpyDeviceToHost));
    for (int i = 0; i < width * height; ++i) wrong += out[i] != in[i] + 1;
    CHECK(cudaMemset2D(plane, pitch, 0, width * sizeof(float), height));

    cudaPitchedPtr volume;
    const cudaExtent extent = make_cudaExtent(width * sizeof(float), height, depth);
    CHECK(cudaMalloc3D(&volume, extent));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(in.data(), width * sizeof(float), width, height);
    copy.dstPtr = volume;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    increment<<<dim3(2, height, depth), 32>>>((char*)volume.ptr, volume.pitch, volume.pitch * height, width, height);
    copy.srcPtr = volume;
    copy.dstPtr = make_cudaPitchedPtr(out.data(), width * sizeof(float), width, height);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    for (size_t i = 0; i < in.size(); ++i) wrong += out[i] != in[i] + 1;
    CHECK(cudaFree(plane));
    CHECK(cudaFree(volume.ptr));
    printf(wrong ? "FAILED\n" : "PASSED\n");
    return wrong != 0;
}
