// Takes note of every launch: what the kernels write as kernel<<<grid, block>>>(...) becomes calls of the
// CUDA runtime, and the linker has them come here first (--wrap, Makefile).

#include <cuda_runtime.h>

#include "launches.h"

extern "C" {

unsigned __real___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream);

// What stands between <<< and >>>.
unsigned __wrap___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream)
{
    grid.z = cuda::note_launch(nullptr, grid, block);
    return __real___cudaPushCallConfiguration(grid, block, shared_bytes, stream);
}

cudaError_t __real_cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                                    cudaStream_t stream);

// Then, with CUDA up to 12, the kernel.
cudaError_t __wrap_cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                                    cudaStream_t stream)
{
    cuda::launches().last.kernel = kernel;
    return __real_cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

cudaError_t __real___cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                                      cudaStream_t stream);

// The same, with CUDA 13: the kernel by its handle.
cudaError_t __wrap___cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                                      cudaStream_t stream)
{
    cuda::launches().last.kernel = kernel;
    return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

}  // extern "C"
