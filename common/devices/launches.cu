// Notes every launch. kernel<<<grid, block>>>(...) becomes calls of the CUDA runtime, and the linker has these calls
// come here first (--wrap in mk/compile.mk).

#include <cuda_runtime.h>

#include "launches.h"

extern "C" {

unsigned __real___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream);

// Gets the configuration, which stands between <<< and >>>.
unsigned __wrap___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream)
{
    grid.z = cuda::note_launch(nullptr, grid, block);
    return __real___cudaPushCallConfiguration(grid, block, shared_bytes, stream);
}

cudaError_t __real_cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                                    cudaStream_t stream);

// Gets the kernel, with CUDA up to 12.
cudaError_t __wrap_cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                                    cudaStream_t stream)
{
    cuda::launches().last.kernel = kernel;
    return __real_cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

cudaError_t __real___cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                                      cudaStream_t stream);

// Gets the kernel by its handle, with CUDA 13.
cudaError_t __wrap___cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                                      cudaStream_t stream)
{
    cuda::launches().last.kernel = kernel;
    return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

}  // extern "C"
