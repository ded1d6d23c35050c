// The simulator as a Device: host memory, exact counts, no clock.

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>

#include "../device.h"
#include "../error.h"
#include "simulator.h"

namespace sim {
namespace {

using namespace harness;

// Calls work(begin, end) over all of [0, n), on every host thread when there is enough to do.
template <typename Work>
void in_parallel(uint64_t n, Work work)
{
    const int parts = n < (1 << 16) ? 1 : host_threads();
    std::vector<std::thread> threads;
    for (int i = 1; i < parts; ++i) threads.emplace_back(work, n / parts * i, i + 1 == parts ? n : n / parts * (i + 1));
    work(uint64_t(0), parts == 1 ? n : n / parts);
    for (std::thread& thread : threads) thread.join();
}

template <typename Bits>
void fill_region(const Region& region)
{
    Bits* data = static_cast<Bits*>(region.data);
    in_parallel(region.contents.elements(), [&region, data](uint64_t begin, uint64_t end) {
        for (uint64_t i = begin; i < end; ++i) data[i] = region.contents.at<Bits>(i);
    });
}

template <typename Bits>
Mismatch compare_region(const Region& region)
{
    const Bits* data = static_cast<const Bits*>(region.data);
    Mismatch all;
    std::mutex mutex;
    in_parallel(region.contents.elements(), [&, data](uint64_t begin, uint64_t end) {
        Mismatch own;
        for (uint64_t i = begin; i < end; ++i)
            if (data[i] != region.contents.at<Bits>(i) && own.count++ == 0) own.first = i;
        if (own.count == 0) return;
        std::lock_guard<std::mutex> lock(mutex);
        all.first = all.count ? std::min(all.first, own.first) : own.first;
        all.count += own.count;
    });
    return all;
}

class Simulator : public Device {
public:
    Simulator()
    {
        info_ = {"sim", "simulator", "",
                 format("the simulator, %d host thread%s", host_threads(), host_threads() == 1 ? "" : "s"), 0, 0};
    }

    const DeviceInfo& info() const override { return info_; }
    void override_peak(double gbs) override { info_.dram_peak_gbs = gbs; }

    uint64_t free_bytes() override
    {
        // MemAvailable counts caches that give way; sysconf does not.
        uint64_t kib = 0;
        if (FILE* meminfo = fopen("/proc/meminfo", "r")) {
            char line[256];
            while (fgets(line, sizeof line, meminfo))
                if (sscanf(line, "MemAvailable: %lu kB", &kib) == 1) break;
            fclose(meminfo);
        }
        return kib ? kib * 1024 : uint64_t(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    }

    void* allocate(uint64_t bytes) override
    {
        // Aligned as a page of the GPU's memory is.
        constexpr uint64_t page = 2 << 20;
        void* memory = std::aligned_alloc(page, (bytes + page - 1) / page * page);
        if (!memory) throw Error{status_bad_input, format("the host has no %.2f GB of memory to give", bytes / 1e9)};
        return memory;
    }

    void release(void* memory) noexcept override { std::free(memory); }
    void read(void* to, const void* from, uint64_t bytes) override { std::memcpy(to, from, bytes); }

    void fill(const Region& region) override
    {
        (harness::bytes_of(region.type) == 8 ? fill_region<uint64_t> : fill_region<uint32_t>)(region);
    }

    std::vector<Mismatch> compare(const std::vector<Region>& regions) override
    {
        std::vector<Mismatch> mismatches;
        for (const Region& region : regions)
            mismatches.push_back((harness::bytes_of(region.type) == 8 ? compare_region<uint64_t> : compare_region<uint32_t>)(region));
        return mismatches;
    }

    void enqueue(const Kernel& kernel, Type type, void* odata, const void* idata, int width, int height) override
    {
        kernel.launch[int(type)](odata, idata, width, height);
    }

    void enqueue_copy(void* to, const void* from, uint64_t bytes) override { std::memcpy(to, from, bytes); }
    void finish() override {}

    bool has_clock() const override { return false; }
    double time_ms(const std::function<void()>&) override
    {
        throw Error{status_no_device, "the simulator has no clock"};
    }

    LaunchCounts take_counts() override
    {
        const Counts c = sim::take_counts();
        return {c.requests[global][load], c.requests[global][store], c.requests[shared][load],
                c.requests[shared][store], c.all_accesses()};
    }

private:
    DeviceInfo info_;
};

const bool registered = [] {
    backends().push_back({"sim", [](std::string&) -> std::unique_ptr<Device> { return std::make_unique<Simulator>(); }});
    return true;
}();

}  // namespace
}  // namespace sim
