// Shared by the back ends for one GPU and for several: calls that are checked, and kernels that fill and compare.

#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <string>

#include "../base/driver.h"
#include "../base/error.h"
#include "../device.h"
#include "launches.h"

namespace cuda {

using namespace harness;

// The kernel that was launched last: its faults show in later calls. Empty: none.
inline std::string launched;

// Throws status_no_device, naming the call and its place, unless `call` succeeded.
#define CUDA(call) cuda::check(call, #call, __FILE__, __LINE__)

inline void check(cudaError_t status, const char* call, const char* file, int line)
{
    if (status == cudaSuccess) return;
    const std::string after = launched.empty() ? "" : " (after the launch of " + launched + ")";
    throw Error{status_no_device,
                format("%s:%d: %s: %s%s", file, line, call, cudaGetErrorString(status), after.c_str())};
}

// The reason why there is no GPU, by the status of the call that counts them.
inline std::string why_no_gpu(cudaError_t status)
{
    return status == cudaSuccess                   ? "none installed"
           : status == cudaErrorInsufficientDriver ? "no NVIDIA driver, or one too old for this program"
                                                   : cudaGetErrorString(status);
}

// The version of the driver itself, or of the CUDA that it supports if the driver does not say.
inline std::string driver_version()
{
    const std::string driver = nvidia_driver();
    if (!driver.empty()) return driver;
    int cuda = 0;
    CUDA(cudaDriverGetVersion(&cuda));
    return format("CUDA %d.%d", cuda / 1000, cuda % 1000 / 10);
}

// Double data rate: two transfers per clock of a bus this many bits wide. Cards that do not tell report zero, and so do
// we.
inline double dram_peak_gbs(int card)
{
    int clock_khz = 0, bus_bits = 0;
    CUDA(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, card));
    CUDA(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, card));
    return 2.0 * clock_khz * 1e3 * bus_bits / 8 / 1e9;
}

struct DeviceMismatch {
    unsigned long long count, first;
};
static_assert(sizeof(Mismatch) == sizeof(DeviceMismatch), "one is copied over the other");

namespace {

// `data` is that of the elements from `first` on.
template <typename Bits>
__global__ void fill_kernel(Bits* data, Contents contents, uint64_t first, uint64_t elements)
{
    const uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step)
        data[i] = contents.at<Bits>(first + i);
}

template <typename Bits>
__global__ void compare_kernel(const Bits* data, Contents contents, uint64_t first, uint64_t elements,
                               DeviceMismatch* mismatch)
{
    const uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    DeviceMismatch own = {0, ~0ull};
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step)
        if (data[i] != contents.at<Bits>(first + i) && own.count++ == 0) own.first = first + i;
    if (own.count == 0) return;
    atomicAdd(&mismatch->count, own.count);
    atomicMin(&mismatch->first, own.first);
}

}  // namespace

// Grids of those kernels: enough to fill the card, no more than there is to do.
constexpr int threads = 256;

inline unsigned blocks(uint64_t most, uint64_t elements)
{
    return unsigned(std::max<uint64_t>(1, std::min(most, (elements + threads - 1) / threads)));
}

}  // namespace cuda
