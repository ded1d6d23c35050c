// The bytes that go to each partition of the memory, and the pages of the DRAM that stores touch there.

#pragma once

#include <cstdint>

#include "../../../common/base/machine.h"
#include "sink.h"
#include "windows.h"

namespace sim {

class Partitions : public Sink {
public:
    explicit Partitions(WindowShare& window) : window_(window) {}
    void start(const harness::Machine& machine);  // whose partitions are known
    void take(const PartOfRequest& part, const Cost& cost) override;

private:
    unsigned partition_of(uint64_t address) const;
    void write_page(uint64_t address, unsigned bytes);

    WindowShare& window_;
    const harness::PartitionMap* map_ = nullptr;
    unsigned page_bytes_ = 0;  // 0: pages are not looked at
    // Hashed maps are linear: the parities of an address are those of its bytes, combined. One row
    // per byte of the address, filled when the map changes.
    uint8_t hashed_[5][256];
    const harness::PartitionMap* hashed_for_ = nullptr;
    // The last address looked up in the map, in grains, and its partition: the next is often the same.
    int grain_shift_ = 0;
    uint64_t grain_ = ~0ull;
    unsigned partition_ = 0;
};

}  // namespace sim
