// Memory of the host as that of a device, for the simulator and the CPU.

#pragma once

#include "../device.h"

namespace harness {

// Device, as far as the matrices lie in the host's memory. Allocations begin on a 2 MB boundary, as
// those of a GPU do; large ones are filled and compared by all processors.
class HostMemory : public Device {
public:
    uint64_t free_bytes() override;
    void* allocate(uint64_t bytes) override;
    void release(void* memory) noexcept override;
    void read(void* to, const void* from, uint64_t bytes) override;
    void* allocate_host(uint64_t bytes, bool) override { return allocate(bytes); }
    void release_host(void* memory, bool) noexcept override { release(memory); }
    void fill(const Region& region) override;
    std::vector<Mismatch> compare(const std::vector<Region>& regions) override;
    void enqueue_copy(void* to, const void* from, uint64_t bytes) override;
    void finish() override {}
    const DeviceInfo& info() const override { return info_; }
    void override_peak(double gbs) override { info_.dram_peak_gbs = gbs; }

protected:
    DeviceInfo info_;
};

}  // namespace harness
