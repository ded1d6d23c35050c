// The simulator as the host sees it.

#pragma once

#include <string>
#include <vector>

#include "../../common/device.h"
#include "../../common/base/machine.h"
#include "counter.h"
#include "findings.h"
#include "memory.h"

namespace sim {

// What the next launches may load (both) and store to (odata), and nothing else but the variables that
// are declared for the device. `unwritten`: what the elements of odata hold until they are written,
// or null. Without matrices: none from now on.
void use_matrices(const void* idata, uint64_t idata_bytes, void* odata, uint64_t odata_bytes, uint64_t odata_gpu_address,
                  const harness::Contents* unwritten = nullptr);
// A GPU's rows of either matrix.
struct PartOfMatrices {
    const void* idata;
    void* odata;
    uint64_t idata_bytes, odata_bytes;
    uint64_t first_element;  // of odata
};
// The same for matrices that are spread over devices. Without parts: none from now on.
void use_parts(const std::vector<PartOfMatrices>& parts, const harness::Contents* unwritten);
// odata of the next launches, or that of the first device, or null.
const Allocation* output_matrix();

// The machine to count for. At first the H200.
void use_machine(const harness::Machine& machine);

// Without instruments, requests are formed and dropped: for measuring what counting and checking
// cost, and nothing else. Reports are empty then.
void use_instruments(bool on);

// Who is told of every request of the next launches, in the order of the blocks; null: nobody.
void use_trace(const harness::TraceSink* sink);

// How many blocks of each of the next launches run: the first, the last, and others evenly between. 0: all.
void use_sample(uint64_t blocks);

// Whether global memory is checked for races, where its allocations have a Shadow.
void use_exact_checks(bool on);

// Which device runs the next launches, whether there are several, and whose memory it may access: bit d for device d.
void use_device(int device, bool several, uint32_t peers);

// Which other launches and copies may run at the same time as the next launch, in the order of their blocks.
struct Beside;
void use_beside(std::vector<Beside> beside);

// Whether one host thread runs all blocks of the next launches: a kernel whose blocks race is then the same run every time.
void use_one_host_thread(bool on);

// What the launches since the last call did.
struct Report {
    std::vector<SiteCounts> sites;
    std::vector<Finding> findings;
    PartitionCounts partitions;
    std::map<uint64_t, Peers> peers;  // of the last launch, by window
    uint64_t resident_blocks = 0;  // of the last launch: blocks of one window
    uint64_t load_batches = 0;     // of the last launch: loads of a warp with no store between them
    uint64_t load_lines = 0, store_lines = 0;  // of the last launch: lines of 128 bytes that each request touches
    uint64_t barriers = 0;         // of the last launch, of all blocks
    harness::Launched launched;
    dim3 grid, block;              // of the last launch
    uint64_t shared_bytes = 0;     // the most that a block declared
    uint64_t output_stored = 0;    // bytes that were stored to odata, those stored twice counted twice
    bool unordered_possible = false;  // odata was read, or other memory was stored to
    uint64_t accesses() const;     // by single threads
    uint64_t requests(Space space, Kind kind) const;
};
Report take_report();

// The blocks of all launches are counted on, and so are copies, as a block each. How many there were so far.
uint64_t blocks_run();
void count_a_copy();

// What a report says, by lines of the source where `locate`. Without its findings.
harness::LaunchCounts counts_of(const Report& report, const harness::Machine& machine, bool locate);

// How many host threads share the blocks of a grid: at first one per processor this process
// may use. Not to be called while a kernel runs.
int host_threads();
// How many sleep when no kernel runs.
int sleeping_threads();
void set_host_threads(int count);

// Called for each launch before it runs, and after it: by the runtime of programs that are brought along.
// `begins` may refuse it by returning false. `block_done` is called by all host threads that run blocks.
struct LaunchHooks {
    bool (*begins)(const Launching& launching) = nullptr;
    void (*ended)(const Launching& launching) = nullptr;
    void (*block_done)(uint64_t done, uint64_t blocks) = nullptr;
};
LaunchHooks& launch_hooks();

}  // namespace sim
