#include "counter.h"

#include <algorithm>
#include <numeric>

namespace sim {

void SiteCounts::add(const SiteCounts& other)
{
    requests += other.requests;
    lanes += other.lanes;
    units += other.units;
    ideal += other.ideal;
    bytes += other.bytes;
    worst = std::max(worst, other.worst);
    if (stride == 0) stride = other.stride;
}

void Windows::start(int partitions, uint64_t blocks_per_window, uint64_t blocks)
{
    partitions_ = partitions;
    per_window_ = blocks_per_window;
    blocks_ = blocks;
    open_.clear();
    totals_ = {};
}

void Windows::add(uint64_t window, uint64_t blocks, const std::vector<uint64_t>& read, const std::vector<uint64_t>& write)
{
    std::lock_guard<std::mutex> lock(mutex_);
    Open& open = open_[window];
    open.read.resize(partitions_);
    open.write.resize(partitions_);
    for (int p = 0; p < partitions_; ++p) {
        open.read[p] += read[p];
        open.write[p] += write[p];
    }
    open.blocks += blocks;
    if (open.blocks < std::min(per_window_, blocks_ - window * per_window_)) return;
    totals_.busiest_read += *std::max_element(open.read.begin(), open.read.end());
    totals_.busiest_write += *std::max_element(open.write.begin(), open.write.end());
    totals_.mean_read += double(std::accumulate(open.read.begin(), open.read.end(), uint64_t(0))) / partitions_;
    totals_.mean_write += double(std::accumulate(open.write.begin(), open.write.end(), uint64_t(0))) / partitions_;
    open_.erase(window);
}

void Counter::start(const Rules& rules, const harness::PartitionMap& map, Windows& windows)
{
    rules_ = &rules;
    map_ = &map;
    windows_ = &windows;
    window_ = 0;
    blocks_ = 0;
    grain_ = ~0ull;
    grain_shift_ = map.partitions ? __builtin_ctzll(map.grain()) : 0;
    read_.assign(map.partitions, 0);
    write_.assign(map.partitions, 0);
}

void Counter::block(uint64_t block)
{
    const uint64_t window = windows_->window_of(block);
    if (window != window_) hand_over();
    window_ = window;
    ++blocks_;
}

void Counter::finish() { hand_over(); }

void Counter::hand_over()
{
    if (blocks_ == 0 || map_->partitions == 0) return;
    windows_->add(window_, blocks_, read_, write_);
    blocks_ = 0;
    std::fill(read_.begin(), read_.end(), 0);
    std::fill(write_.begin(), write_.end(), 0);
}

SiteCounts& Counter::at(const Request& request, Space space)
{
    for (size_t tried = 0; tried < sites_.size(); ++tried) {
        if (next_ >= sites_.size()) next_ = 0;
        SiteCounts& here = sites_[next_++];
        if (here.site == request.site && here.space == space) return here;
    }
    SiteCounts fresh{};
    fresh.site = request.site;
    fresh.space = space;
    sites_.push_back(fresh);
    next_ = sites_.size();
    return sites_.back();
}

void Counter::count(const Request& request, Space space, uint64_t offset)
{
    SiteCounts& here = at(request, space);
    here.requests += 1;
    here.lanes += request.lanes == ~0u ? warp_size : __builtin_popcount(request.lanes);
    if (here.stride == 0)
        for (int lane = 0; lane + 1 < warp_size; ++lane)
            if (request.lanes >> lane & request.lanes >> (lane + 1) & 1) {
                here.stride = int64_t(request.address[lane + 1] - request.address[lane]);
                break;
            }
    int units;
    if (space == shared) {
        units = rules_->shared(request);
        here.ideal += rules_->ideal_shared(request);
    } else {
        rules_->global(request, transactions_);
        units = transactions_.count;
        here.bytes += transactions_.bytes;
        here.ideal += rules_->ideal_global_bytes(request) / rules_->unit_bytes(kind_of(request.site));
        if (map_->partitions) {
            std::vector<uint64_t>& traffic = kind_of(request.site) == load ? read_ : write_;
            for (int i = 0; i < transactions_.count; ++i) {
                const uint64_t address = transactions_.list[i].address + offset;
                if (address >> grain_shift_ != grain_) {
                    grain_ = address >> grain_shift_;
                    partition_ = map_->partition_of(address);
                }
                traffic[partition_] += transactions_.list[i].bytes;
            }
        }
    }
    here.units += units;
    here.worst = std::max(here.worst, units);
}

}  // namespace sim
