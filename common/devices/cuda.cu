// The GPU as a Device: the one that the CUDA runtime chooses, measured with its events.

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "../base/driver.h"
#include "../base/error.h"
#include "../device.h"

namespace cuda {
namespace {

using namespace harness;

// The kernel that was launched last: its faults show in later calls. Empty: none.
std::string launched;

// Throws status_no_device, naming the call and its place, unless `call` succeeded.
#define CUDA(call) check(call, #call, __FILE__, __LINE__)

void check(cudaError_t status, const char* call, const char* file, int line)
{
    if (status == cudaSuccess) return;
    throw Error{status_no_device, format("%s:%d: %s: %s%s", file, line, call, cudaGetErrorString(status), launched.empty() ? "" : (" (after the launch of " + launched + ")").c_str())};
}

template <typename Bits>
__global__ void fill_kernel(Bits* data, Contents contents)
{
    const uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < contents.elements(); i += step)
        data[i] = contents.at<Bits>(i);
}

struct DeviceMismatch {
    unsigned long long count, first;
};

template <typename Bits>
__global__ void compare_kernel(const Bits* data, Contents contents, DeviceMismatch* mismatch)
{
    const uint64_t step = uint64_t(gridDim.x) * blockDim.x;
    DeviceMismatch own = {0, ~0ull};
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < contents.elements(); i += step)
        if (data[i] != contents.at<Bits>(i) && own.count++ == 0) own.first = i;
    if (own.count == 0) return;
    atomicAdd(&mismatch->count, own.count);
    atomicMin(&mismatch->first, own.first);
}

// The version of the driver itself, where it says; of the CUDA it supports otherwise.
std::string driver_version()
{
    const std::string driver = nvidia_driver();
    if (!driver.empty()) return driver;
    int cuda = 0;
    CUDA(cudaDriverGetVersion(&cuda));
    return format("CUDA %d.%d", cuda / 1000, cuda % 1000 / 10);
}

class Gpu : public Device {
public:
    Gpu()
    {
        // Of several cards, CUDA takes the first that no other process has for itself. The first call that needs one decides.
        int card = 0;
        cudaDeviceProp properties;
        CUDA(cudaFree(nullptr));
        CUDA(cudaGetDevice(&card));
        CUDA(cudaGetDeviceProperties(&properties, card));
        CUDA(cudaEventCreate(&start_));
        CUDA(cudaEventCreate(&stop_));
        // Double data rate: two transfers per clock of a bus this many bits wide. Cards that do
        // not tell report zero, and so do we.
        int clock_khz = 0, bus_bits = 0;
        CUDA(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, card));
        CUDA(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, card));
        const double peak_gbs = 2.0 * clock_khz * 1e3 * bus_bits / 8 / 1e9;
        info_ = {"cuda", properties.name, driver_version(), "", peak_gbs, uint64_t(properties.l2CacheSize), "cudaMemcpy", 0};
        most_blocks_ = 8 * properties.multiProcessorCount;
        card_ = format("%s: compute capability %d.%d, %d SMs, %.1f MB L2, %.1f GB memory", properties.name, properties.major,
                       properties.minor, properties.multiProcessorCount, properties.l2CacheSize / 1e6,
                       properties.totalGlobalMem / 1e9);
        override_peak(peak_gbs);
    }

    // Loads the program's code on the card and waits for a kernel to run there.
    void launch_first(std::chrono::steady_clock::time_point start)
    {
        CUDA(cudaMalloc(&mismatches_, sizeof(Mismatch)));
        capacity_ = 1;
        fill({mismatches_, {Type::f64, copies, 1, 1, 0, Holds::input}});
        finish();
        info_.first_launch_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    }

    ~Gpu() override
    {
        cudaFree(mismatches_);
        cudaEventDestroy(stop_);
        cudaEventDestroy(start_);
    }

    const DeviceInfo& info() const override { return info_; }

    void override_peak(double gbs) override
    {
        info_.dram_peak_gbs = gbs;
        info_.description = card_ + (gbs > 0 ? format(", DRAM peak %.0f GB/s", gbs) : ", DRAM peak unknown");
    }

    uint64_t free_bytes() override
    {
        size_t free = 0, total = 0;
        CUDA(cudaMemGetInfo(&free, &total));
        return free;
    }

    void* allocate(uint64_t bytes) override
    {
        void* memory = nullptr;
        if (cudaMalloc(&memory, bytes) == cudaErrorMemoryAllocation) {
            cudaGetLastError();
            throw Error{status_bad_input, format("the %s has no %.2f GB of memory to give", info_.machine.c_str(), bytes / 1e9)};
        }
        CUDA(cudaGetLastError());
        return memory;
    }

    void release(void* memory) noexcept override { cudaFree(memory); }

    void read(void* to, const void* from, uint64_t bytes) override
    {
        CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
    }

    void* allocate_host(uint64_t bytes, bool pinned) override
    {
        void* memory = nullptr;
        if (!pinned) memory = std::malloc(bytes);
        else if (cudaMallocHost(&memory, bytes) != cudaSuccess) cudaGetLastError();
        if (!memory) throw Error{status_bad_input, format("the host has no %.2f GB of memory to give", bytes / 1e9)};
        std::memset(memory, 0, bytes);  // its pages exist from now on
        return memory;
    }

    void release_host(void* memory, bool pinned) noexcept override { pinned ? void(cudaFreeHost(memory)) : std::free(memory); }

    void fill(const Region& region) override
    {
        with_bits(region.contents.type, [&](auto zero) {
            fill_kernel<<<blocks(region), threads>>>(static_cast<decltype(zero)*>(region.data), region.contents);
        });
        CUDA(cudaGetLastError());
    }

    std::vector<Mismatch> compare(const std::vector<Region>& regions) override
    {
        static_assert(sizeof(Mismatch) == sizeof(DeviceMismatch), "one is copied over the other");
        std::vector<Mismatch> mismatches(regions.size(), Mismatch{0, ~0ull});
        const size_t bytes = mismatches.size() * sizeof(Mismatch);
        if (regions.size() > capacity_) {
            CUDA(cudaFree(mismatches_));
            CUDA(cudaMalloc(&mismatches_, bytes));
            capacity_ = regions.size();
        }
        CUDA(cudaMemcpy(mismatches_, mismatches.data(), bytes, cudaMemcpyHostToDevice));
        for (size_t i = 0; i < regions.size(); ++i) {
            const Region& region = regions[i];
            with_bits(region.contents.type, [&](auto zero) {
                compare_kernel<<<blocks(region), threads>>>(static_cast<const decltype(zero)*>(region.data), region.contents, mismatches_ + i);
            });
            CUDA(cudaGetLastError());
        }
        CUDA(cudaMemcpy(mismatches.data(), mismatches_, bytes, cudaMemcpyDeviceToHost));
        return mismatches;
    }

    void enqueue(const Kernel& kernel, const Region& odata, const Region& idata, int width, int height, Block block) override
    {
        launched = kernel.name;
        kernel.launch[int(odata.contents.type)](odata.data, idata.data, width, height, block);
        CUDA(cudaGetLastError());
    }

    void enqueue_copy(void* to, const void* from, uint64_t bytes) override
    {
        CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault));
    }

    void finish() override { CUDA(cudaDeviceSynchronize()); }

    bool has_clock() const override { return true; }

    double time_ms(const std::function<void()>& work) override
    {
        CUDA(cudaEventRecord(start_));
        work();
        CUDA(cudaEventRecord(stop_));
        CUDA(cudaEventSynchronize(stop_));
        float ms = 0;
        CUDA(cudaEventElapsedTime(&ms, start_, stop_));
        return ms;
    }

    LaunchCounts take_counts(bool) override { return {}; }

    std::string occupancy(const Launch& launch) override
    {
        if (!launch.kernel) return "";
        cudaFuncAttributes attributes;
        int blocks = 0;
        const int threads = int(launch.block[0] * launch.block[1] * launch.block[2]);
        CUDA(cudaFuncGetAttributes(&attributes, launch.kernel));
        CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, launch.kernel, threads, 0));
        return format("occupancy, as the CUDA runtime says: %d blocks of %d threads per SM; %d registers a thread, %zu bytes of shared memory a block", blocks, threads,
                      attributes.numRegs, attributes.sharedSizeBytes);
    }

private:
    DeviceInfo info_;
    std::string card_;
    // Of the grids that fill and compare: enough to fill the card, no more than there is to do.
    static constexpr int threads = 256;
    uint64_t most_blocks_ = 1;
    unsigned blocks(const Region& region) const
    {
        return unsigned(std::min(most_blocks_, (region.contents.elements() + threads - 1) / threads));
    }

    cudaEvent_t start_ = nullptr, stop_ = nullptr;
    DeviceMismatch* mismatches_ = nullptr;
    size_t capacity_ = 0;  // of mismatches_
};

std::unique_ptr<Device> open(const Machine&, std::string& why_not)
{
    const auto start = std::chrono::steady_clock::now();
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0) {
        try {
            auto gpu = std::make_unique<Gpu>();
            gpu->launch_first(start);
            return gpu;
        } catch (const Error& error) {
            throw Error{error.status, error.message + "; --device sim needs no GPU"};
        }
    }
    why_not = status == cudaSuccess ? "none installed"
              : status == cudaErrorInsufficientDriver ? "no NVIDIA driver, or one too old for this program"
                                                      : cudaGetErrorString(status);
    cudaGetLastError();
    return nullptr;
}

const bool registered = [] {
    backends().push_back({"cuda", open});
    return true;
}();

}  // namespace
}  // namespace cuda
