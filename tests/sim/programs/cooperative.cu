// Asks for a cooperative launch, which the simulator does not have.
#include <cstdio>

__global__ void nothing() {}

int main()
{
    int supported = -1;
    cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0);
    const cudaError_t error = cudaLaunchCooperativeKernel(nothing, dim3(1), dim3(32), nullptr);
    printf("%d: %s\n", supported, cudaGetErrorName(error));
    return 0;
}
