// The GPU as a Device: the one that the CUDA runtime chooses, measured with its events.

#include <cuda_runtime.h>

#include <chrono>
#include <cstdlib>

#include "on_gpu.h"

namespace cuda {
namespace {

class Gpu : public Device {
public:
    Gpu()
    {
        // If there are several cards, CUDA takes the first that no other process has for itself. The first call that
        // needs a card decides.
        int card = 0;
        cudaDeviceProp properties;
        CUDA(cudaFree(nullptr));
        CUDA(cudaGetDevice(&card));
        CUDA(cudaGetDeviceProperties(&properties, card));
        CUDA(cudaEventCreate(&start_));
        CUDA(cudaEventCreate(&stop_));
        const double peak_gbs = dram_peak_gbs(card);
        info_.backend = "cuda";
        info_.machine = properties.name;
        info_.driver = driver_version();
        info_.l2_bytes = uint64_t(properties.l2CacheSize);
        info_.copy = "cudaMemcpy";
        most_blocks_ = 8 * properties.multiProcessorCount;
        card_ = format("%s: compute capability %d.%d, %d SMs, %.1f MB L2, %.1f GB memory", properties.name,
                       properties.major, properties.minor, properties.multiProcessorCount, properties.l2CacheSize / 1e6,
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
        info_.first_launch_ms =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
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
            throw Error{status_bad_input,
                        format("the %s has no %.2f GB of memory to give", info_.machine.c_str(), bytes / 1e9)};
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

    void release_host(void* memory, bool pinned) noexcept override
    {
        pinned ? void(cudaFreeHost(memory)) : std::free(memory);
    }

    void fill(const Region& region) override
    {
        with_bits(region.contents.type, [&](auto zero) {
            fill_kernel<<<blocks(region), threads>>>(static_cast<decltype(zero)*>(region.data), region.contents, 0,
                                                     region.contents.elements());
        });
        CUDA(cudaGetLastError());
    }

    std::vector<Mismatch> compare(const std::vector<Region>& regions) override
    {
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
                compare_kernel<<<blocks(region), threads>>>(static_cast<const decltype(zero)*>(region.data),
                                                            region.contents, 0, region.contents.elements(),
                                                            mismatches_ + i);
            });
            CUDA(cudaGetLastError());
        }
        CUDA(cudaMemcpy(mismatches.data(), mismatches_, bytes, cudaMemcpyDeviceToHost));
        return mismatches;
    }

    Done enqueue(const Pass& pass) override
    {
        launched = pass.kernel.name;
        launches() = {pass.look.depth, {}};
        pass.kernel.launch[int(pass.odata.contents.type)](pass.odata.data, pass.idata.data, pass.width, pass.height,
                                                          pass.block);
        CUDA(cudaGetLastError());
        Done done;
        done.launch = launches().last;
        return done;
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

    std::string occupancy(const Launch& launch) override
    {
        if (!launch.kernel) return "";
        cudaFuncAttributes attributes;
        int blocks = 0;
        const int threads = int(launch.block[0] * launch.block[1] * launch.block[2]);
        CUDA(cudaFuncGetAttributes(&attributes, launch.kernel));
        CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, launch.kernel, threads, 0));
        return format(
            "occupancy, as the CUDA runtime says: %d blocks of %d threads per SM; %d registers a thread, %zu bytes of "
            "shared memory a block",
            blocks, threads, attributes.numRegs, attributes.sharedSizeBytes);
    }

private:
    DeviceInfo info_;
    std::string card_;
    uint64_t most_blocks_ = 1;  // that fill the card
    unsigned blocks(const Region& region) const { return cuda::blocks(most_blocks_, region.contents.elements()); }

    cudaEvent_t start_ = nullptr, stop_ = nullptr;
    DeviceMismatch* mismatches_ = nullptr;
    size_t capacity_ = 0;  // of mismatches_
};

std::unique_ptr<Device> open(const Wanted&, std::string& why_not)
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
    why_not = why_no_gpu(status);
    cudaGetLastError();
    return nullptr;
}

const bool registered = [] {
    backends().push_back({"cuda", open});
    return true;
}();

}  // namespace
}  // namespace cuda
