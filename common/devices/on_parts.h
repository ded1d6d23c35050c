// A kernel that several simulated GPUs run, each on its rows of a matrix: the rows' memory, what the GPUs send each
// other, and an account of all launches.
//
// Each GPU gets copies of its rows, which its launches and those of the others access; afterwards the rows of odata go
// back. A GPU has three streams. Each has a clock, which counts windows of blocks that run together: a launch moves it
// on by its windows, a copy or a group of messages by one. A stream that waits for another takes over the later time.

#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../base/error.h"
#include "../device.h"
#include "../../sim/core/findings.h"
#include "../../sim/core/global_checker.h"
#include "../../sim/core/simulator.h"
#include "../../sim/core/traffic_account.h"

namespace sim {

// A finding, and the launch that it is of. `gpu`: -1 where there is one alone.
struct Found {
    Finding finding;
    dim3 grid, block;
    int gpu;
};

// The sum of the launches on several GPUs. GPUs begin at the same time, and run as many blocks at a time as
// each other.
struct Account {
    Report report;  // sums; without findings
    std::vector<Found> found;
    std::unique_ptr<TrafficAccount> traffic;  // it is large: null until a kernel runs on several GPUs

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

    harness::BetweenGpus between(int gpus);
};

// A GPU's rows of a matrix, in memory that is aligned as cudaMalloc's is. A page follows that no other GPU's rows are
// in.
class Slice {
public:
    Slice(void* whole, uint64_t offset, uint64_t bytes) : Slice(bytes)
    {
        whole_ = static_cast<char*>(whole) + offset;
        std::memcpy(own_.get(), whole_, bytes_);
    }
    explicit Slice(uint64_t bytes)
        : bytes_(bytes), own_(std::aligned_alloc(page, (bytes + page - 1) / page * page + page))
    {
        if (!own_) harness::out_of_memory();
    }
    void put_back() { std::memcpy(whole_, own_.get(), bytes_); }
    void* data() const { return own_.get(); }
    uint64_t bytes() const { return bytes_; }

private:
    static constexpr uint64_t page = 4096;
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    char* whole_ = nullptr;
    uint64_t bytes_;
    std::unique_ptr<void, Free> own_;
};

// One pass of a kernel on several GPUs.
class OnParts : public harness::Exchange {
public:
    // `watch` is called for each piece of memory that kernels may access, when it is known. `separate_host`: launchers
    // run in a process of their own.
    OnParts(const harness::Kernel& kernel, const harness::Region& odata, const harness::Region& idata, int width,
            int height, const Unwritten& unwritten, const std::function<void()>& watch, Account& account,
            bool separate_host);
    ~OnParts() override;

    void launch();

    CUstream_st* stream(int gpu, int number) override;
    void wait(int gpu, int later, int first) override;
    void copy(const harness::Piece& piece) override;
    void send(const std::vector<harness::Piece>& pieces, int stream) override;
    void* buffer(int gpu, int number, uint64_t bytes) override;

private:
    void note_launch(const Launching& launching);
    void move(const harness::Piece& piece, uint64_t window);

    const harness::Kernel& kernel_;
    int type_, width_, height_;
    const std::function<void()>& watch_;
    Account& account_;
    const bool separate_host_;
    std::vector<Slice> in_, out_;
    std::vector<std::unique_ptr<Slice>> buffers_[harness::MAX_GPUS];  // by number
    void* odata_[harness::MAX_GPUS] = {};
    const void* idata_[harness::MAX_GPUS] = {};

    int gpu_ = 0;  // that launches now
    uint64_t clock_[harness::MAX_GPUS][streams] = {};
    std::vector<Beside> launched_here_;
    std::string names_[harness::MAX_GPUS];  // what the kernel is called on each
    inline static OnParts* running_ = nullptr;
};

}  // namespace sim
