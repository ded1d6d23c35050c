// The simulator as the host sees it: a launch goes down with its settings, and what it counted and found comes back.

#pragma once

#include <string>
#include <vector>

#include "../../common/base/machine.h"
#include "../../common/base/traced_request.h"
#include "memory.h"
#include "report.h"

namespace sim {

// A GPU's rows of both matrices; or all of them.
struct PartOfMatrices {
    const void* idata;
    uint64_t idata_bytes;
    void* odata;
    uint64_t odata_bytes;
    uint64_t first_element = 0;  // of odata
};
// The next launches may load from idata, store to odata, and access nothing else but the variables that are declared
// for the device. In the GPU's memory, odata begins on the page of 2 MB behind idata. If there are several parts, each
// lies in the memory of its own device. `unwritten`: tells which elements of odata were not stored to yet; it may be
// null. Without parts, the launches have no matrices.
void use_matrices(const std::vector<PartOfMatrices>& parts, const Unwritten* unwritten = nullptr);
// odata of the next launches, or that of the first device, or null.
const Allocation* output_matrix();
// Findings on accesses to these matrices by the host since the last call, outside of kernels.
std::vector<Finding> take_host_findings();
// Makes the variables known that the source declares for the device. A launch does so by itself. `exact`: races between
// accesses to them are looked for.
void add_device_variables(bool exact);

// The settings of a launch.
struct Beside;
struct Settings {
    const harness::Machine* machine = nullptr;  // that is counted for; null: the H200
    bool instruments = true;  // count and check. If not, requests are formed and dropped: to measure what that costs
    bool exact = false;       // look for races in global memory, in allocations that have a Shadow; by one host thread
    bool alone = false;       // one host thread runs all blocks, in order, so that a kernel whose blocks race
                              // does the same in every run
    uint64_t sample = 0;      // so many blocks run: the first, the last, and others evenly between; 0: all
    int device = 0;           // that runs the kernel
    bool several = false;     // there are several devices
    uint32_t peers = 0;       // bit d: the kernel's device may access the memory of device d
    const std::vector<Beside>* beside = nullptr;  // what may run at the same time as the launch; null: nothing
    const harness::TraceSink* trace = nullptr;    // is told of every request, in the order of the blocks
    bool drawn = false;                           // keep some requests of each place, for a page that draws them
    // Called by all host threads that run blocks.
    void (*block_done)(uint64_t done, uint64_t blocks) = nullptr;
    void (*prints)(const char* text) = nullptr;  // of printf in a kernel; null: to stdout
    // Says what is wrong with an address that a kernel uses; empty if nothing is known of it.
    std::string (*bad_address)(uintptr_t address) = nullptr;
};

// Runs a kernel. CUDA's limits are not checked.
Report run_grid(const Launching& launching, const Code& code, const Settings& settings);

// Receives the launches of the program, such as kernel<<<grid, block>>>(...).
class Launcher {
public:
    virtual ~Launcher() = default;
    virtual void launch(const Launching& launching, const Code& code) = 0;
};
// Gives the next launches to this launcher. With null, they run and are not reported. Returns the launcher before.
Launcher* use_launcher(Launcher* next);

// The number of blocks that have run so far, over all launches. A copy counts as a block.
uint64_t blocks_run();
void count_a_copy();

// How many host threads share the blocks of a grid: at first one per processor this process
// may use. Not to be called while a kernel runs.
int host_threads();
// The number of host threads that sleep when no kernel runs.
int sleeping_threads();
void set_host_threads(int count);

}  // namespace sim
