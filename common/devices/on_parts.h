// A kernel that several simulated GPUs run, each on its rows of a matrix: the rows' memory, and an account of all
// launches.

#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "../base/error.h"
#include "../parts.h"
#include "../../sim/core/findings.h"
#include "../../sim/core/simulator.h"

namespace sim {

// A finding, and the launch that it is of. `gpu`: -1 where there is one alone.
struct Found {
    Finding finding;
    dim3 grid, block;
    int gpu;
};

// What the launches on several GPUs did, all together. GPUs begin at the same time, and run as many blocks at a time as
// each other.
struct Account {
    Report report;  // sums; without findings
    std::vector<Found> found;
    std::map<uint64_t, std::array<uint64_t, harness::MAX_GPUS>> received;  // bytes by window and by GPU

    void add(const Report& more)
    {
        for (const SiteCounts& site : more.sites) add_site(report.sites, site);
        report.launched.add(more.launched);
        report.barriers += more.barriers;
        report.partitions.busiest_read += more.partitions.busiest_read;
        report.partitions.busiest_write += more.partitions.busiest_write;
        report.partitions.mean_read += more.partitions.mean_read;
        report.partitions.mean_write += more.partitions.mean_write;
        report.output_stored += more.output_stored;
        report.unordered_possible |= more.unordered_possible;
        report.shared_bytes = std::max(report.shared_bytes, more.shared_bytes);
        report.resident_blocks = more.resident_blocks;
        report.grid = more.grid;
        report.block = more.block;
    }

    // The same fault at the same lines is one finding, whichever GPU it is on.
    void add(const Finding& finding, const Report& of, int gpu)
    {
        for (Found& known : found)
            if (known.gpu >= 0 && same_fault(known.finding, finding)) {
                known.finding.count += finding.count;
                return;
            }
        found.push_back({finding, of.grid, of.block, gpu});
    }

    double busiest_receiver(int gpus) const
    {
        Receivers receivers;
        for (const auto& [window, bytes] : received) receivers.add_window(bytes);
        return receivers.busiest_over_mean(gpus);
    }
};

// A GPU's rows of a matrix, in memory that is aligned as cudaMalloc's is. A page follows that no other GPU's rows are
// in.
class Slice {
public:
    Slice(void* whole, uint64_t offset, uint64_t bytes)
        : whole_(static_cast<char*>(whole) + offset), bytes_(bytes),
          own_(std::aligned_alloc(page, (bytes + page - 1) / page * page + page))
    {
        if (!own_) harness::out_of_memory();
        std::memcpy(own_.get(), whole_, bytes_);
    }
    void put_back() { std::memcpy(whole_, own_.get(), bytes_); }
    void* data() const { return own_.get(); }
    uint64_t bytes() const { return bytes_; }

private:
    static constexpr uint64_t page = 4096;
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    char* whole_;
    uint64_t bytes_;
    std::unique_ptr<void, Free> own_;
};

}  // namespace sim
