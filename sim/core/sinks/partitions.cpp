#include "partitions.h"

#include "transactions.h"

namespace sim {

void Partitions::start(const harness::Machine& machine)
{
    const harness::PartitionMap& map = machine.map;
    if (!map.hash.empty() && hashed_for_ != &map) {
        hashed_for_ = &map;
        for (int byte = 0; byte < 5; ++byte)
            for (uint64_t value = 0; value < 256; ++value) {
                hashed_[byte][value] = 0;
                for (size_t b = 0; b < map.hash.size(); ++b)
                    hashed_[byte][value] |= __builtin_parityll(value << 8 * byte & map.hash[b]) << b;
            }
    }
    map_ = &map;
    page_bytes_ = machine.model.page_bytes;
    grain_ = ~0ull;
    grain_shift_ = __builtin_ctzll(map.grain());
}

unsigned Partitions::partition_of(uint64_t address) const
{
    if (map_->hash.empty() || address >> 40) return map_->partition_of(address);
    unsigned p = 0;
    for (int byte = 0; byte < 5; ++byte) p ^= hashed_[byte][address >> 8 * byte & 255];
    const unsigned n = map_->partitions;
    return n & (n - 1) ? p % n : p & (n - 1);
}

void Partitions::take(const PartOfRequest& part, const Cost& cost)
{
    const bool loads = kind_of(part.request.site) == load;
    std::vector<uint64_t>& traffic = loads ? window_.read : window_.write;
    const Transactions& transactions = *cost.transactions;
    for (int i = 0; i < transactions.count;) {
        const uint64_t first = transactions.list[i].address + part.shift;
        if (first >> grain_shift_ != grain_) {
            grain_ = first >> grain_shift_;
            partition_ = partition_of(first);
        }
        uint64_t bytes = 0;
        for (; i < transactions.count; ++i) {
            const uint64_t address = transactions.list[i].address + part.shift;
            if (address >> grain_shift_ != grain_) break;
            bytes += transactions.list[i].bytes;
            if (page_bytes_ && !loads) write_page(address, transactions.list[i].bytes);
        }
        traffic[partition_] += bytes;
    }
}

// Consecutive pieces of a partition's memory, `granularity` bytes each, lie side by side in its pages.
void Partitions::write_page(uint64_t address, unsigned bytes)
{
    const uint64_t line = address / map_->granularity / map_->partitions;
    const uint64_t inside = line * map_->granularity + address % map_->granularity;  // the partition's own address
    Page& page = window_.pages[inside / page_bytes_ * map_->partitions + partition_];
    const uint64_t chunk = page_bytes_ / 64, first = inside % page_bytes_ / chunk;
    for (uint64_t c = first; c <= (inside + bytes - 1) % page_bytes_ / chunk; ++c) page.chunks |= uint64_t(1) << c;
    page.bursts += bytes / 32;
}

}  // namespace sim
