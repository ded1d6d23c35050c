#include "windows.h"

#include <algorithm>
#include <numeric>

namespace sim {

void PartitionCounts::add(const PartitionCounts& more)
{
    busiest_read += more.busiest_read;
    busiest_write += more.busiest_write;
    mean_read += more.mean_read;
    mean_write += more.mean_write;
    bursts += more.bursts;
    scattered += more.scattered;
    dram.add(more.dram);
}

void PeerCounts::add(const PeerCounts& other)
{
    stores += other.stores;
    loads += other.loads;
    stored += other.stored;
    loaded += other.loaded;
    asked_stored += other.asked_stored;
    asked_loaded += other.asked_loaded;
}

void WindowShare::clear()
{
    blocks = 0;
    std::fill(read.begin(), read.end(), 0);
    std::fill(write.begin(), write.end(), 0);
    pages.clear();
    if (any_peers) peers = {};
    any_peers = false;
}

void Windows::start(const harness::Machine& machine, uint64_t blocks_per_window, uint64_t blocks)
{
    machine_ = &machine;
    per_window_ = blocks_per_window;
    blocks_ = blocks;
    open_.clear();
    peers_.clear();
}

void Windows::add(uint64_t window, WindowShare& share)
{
    std::lock_guard<std::mutex> lock(mutex_);
    if (share.any_peers) {
        Peers& sum = peers_[window];
        for (size_t device = 0; device < sum.size(); ++device) sum[device].add(share.peers[device]);
    }
    Open& open = open_[window];
    open.read.resize(share.read.size());
    open.write.resize(share.write.size());
    for (size_t p = 0; p < share.read.size(); ++p) {
        open.read[p] += share.read[p];
        open.write[p] += share.write[p];
    }
    for (const auto& page : share.pages) {
        Page& sum = open.pages[page.first];
        sum.chunks |= page.second.chunks;
        sum.bursts += page.second.bursts;
    }
    share.touched.hand_over(open.touched);
    open.blocks += share.blocks;
    share.clear();
    if (open.blocks < std::min(per_window_, blocks_ - window * per_window_)) return;
    close(open);
    open_.erase(window);
}

void Windows::close(const Open& window)
{
    const size_t partitions = window.read.size();
    totals_.busiest_read += *std::max_element(window.read.begin(), window.read.end());
    totals_.busiest_write += *std::max_element(window.write.begin(), window.write.end());
    totals_.mean_read += double(std::accumulate(window.read.begin(), window.read.end(), uint64_t(0))) / partitions;
    totals_.mean_write += double(std::accumulate(window.write.begin(), window.write.end(), uint64_t(0))) / partitions;

    add_window(totals_.dram, window.touched);

    const harness::MemoryModel& model = machine_->model;
    if (model.burst_ns == 0) return;
    std::vector<uint64_t> scattered(partitions);
    for (const auto& page : window.pages)
        if (__builtin_popcountll(page.second.chunks) < 32) scattered[page.first % partitions] += page.second.bursts;
    const auto bursts = [&](size_t p) { return (window.read[p] + window.write[p]) / 32; };
    const auto ns = [&](size_t p) { return bursts(p) * model.burst_ns + scattered[p] * model.scattered_ns; };
    size_t longest = 0;
    for (size_t p = 1; p < partitions; ++p)
        if (ns(p) > ns(longest)) longest = p;
    totals_.bursts += bursts(longest);
    totals_.scattered += scattered[longest];
}

}  // namespace sim
