// One pass of a kernel on the simulator, whose launches are added up, and one that several simulated GPUs run, each on
// its rows of a matrix: the rows' memory, what the GPUs send each other, and the sums over all launches.
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
#include "../../sim/core/sinks/faults.h"
#include "../../sim/core/sinks/global_checker.h"
#include "../../sim/core/grid/simulator.h"
#include "../../sim/core/sinks/traffic_account.h"

namespace sim {

// A finding, and the launch that it is of. `gpu`: -1 where there is one alone.
struct Found {
    Fault finding;
    dim3 grid, block;
    int gpu;
};

// The launches of a pass, added up.
struct PassSums {
    harness::Launch last;
    // Sums, without findings. GPUs begin at the same time, and run as many blocks at a time as each other.
    Report report;
    std::vector<Found> found;
    bool gave_up = false;  // the search for races had too little memory
    std::unique_ptr<TrafficAccount> traffic;  // it is large: null where there is one GPU

    // The same fault at the same lines is one finding, whichever GPU it is on.
    void add(const std::vector<Fault>& findings, int gpu);
    harness::BetweenGpus between(int gpus);
};

// One pass of a kernel. run() may be called once.
class OnOne : protected Launcher {
public:
    // `separate_host`: launchers run in a process of their own.
    OnOne(const harness::Pass& pass, const Settings& settings, const Unwritten& unwritten, bool separate_host)
        : pass_(pass), settings_(settings), unwritten_(unwritten), separate_host_(separate_host)
    {
    }
    ~OnOne() override { use_matrices({}); }
    PassSums run();

protected:
    virtual void launch_all();
    virtual void ended(const Launching&, const Report& report) { sums_.add(report.faults, -1); }
    void launch(const Launching& launching, const Code& code) override;
    // Runs the code of the host that launches.
    void run_host_code(const std::function<void()>& code);
    // Looks for races in all memory that is known now, if that is wanted.
    void watch();

    const harness::Pass& pass_;
    Settings settings_;
    const Unwritten& unwritten_;
    const bool separate_host_;
    PassSums sums_;
};

// A GPU's rows of a matrix, in memory that is aligned as cudaMalloc's is. The page behind them has no rows of another
// GPU.
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
class OnParts : public OnOne, public harness::Exchange {
public:
    OnParts(const harness::Pass& pass, const Settings& settings, const Unwritten& unwritten, bool separate_host);
    ~OnParts() override;

    CUstream_st* stream(int gpu, int number) override;
    void wait(int gpu, int later, int first) override;
    void copy(const harness::Piece& piece) override;
    void send(const std::vector<harness::Piece>& pieces, int stream) override;
    void* buffer(int gpu, int number, uint64_t bytes) override;

private:
    void launch_all() override;
    void ended(const Launching& launching, const Report& report) override;
    void move(const harness::Piece& piece, uint64_t window);

    std::vector<Slice> in_, out_;
    std::vector<std::unique_ptr<Slice>> buffers_[harness::MAX_GPUS];  // by number
    void* odata_[harness::MAX_GPUS] = {};
    const void* idata_[harness::MAX_GPUS] = {};

    uint64_t clock_[harness::MAX_GPUS][streams] = {};
    std::vector<Beside> launched_here_;
    std::string names_[harness::MAX_GPUS];  // what the kernel is called on each
};

}  // namespace sim
