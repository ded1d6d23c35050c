// The simulator as the host sees it.

#pragma once

#include <string>
#include <vector>

#include "../../common/base/machine.h"
#include "../../common/base/traced_request.h"
#include "memory.h"
#include "report.h"

namespace sim {

// The next launches may load from both matrices, store to odata, and access nothing else but the variables that
// are declared for the device. `unwritten`: tells which elements of odata were not stored to yet; it may be
// null. Without matrices: none from now on.
void use_matrices(const void* idata, uint64_t idata_bytes, void* odata, uint64_t odata_bytes,
                  uint64_t odata_gpu_address, const Unwritten* unwritten = nullptr);
// A GPU's rows of either matrix.
struct PartOfMatrices {
    const void* idata;
    void* odata;
    uint64_t idata_bytes, odata_bytes;
    uint64_t first_element;  // of odata
};
// The same for matrices that are spread over devices. Without parts: none from now on.
void use_parts(const std::vector<PartOfMatrices>& parts, const Unwritten* unwritten);
// The variables that the source declares for the device are known from now on. A launch knows them.
void add_device_variables();
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

// Switches the check for races in global memory, for allocations that have a Shadow.
void use_exact_checks(bool on);

// Which device runs the next launches, whether there are several, and whose memory it may access: bit d for device d.
void use_device(int device, bool several, uint32_t peers);

// Which other launches and copies may run at the same time as the next launch, in the order of their blocks.
// `with_host`: the host may meet launches that have ended, so what they did is kept.
struct Beside;
void use_beside(std::vector<Beside> beside, bool with_host = false);

// If true, one host thread runs all blocks of the next launches: a kernel whose blocks race is then the same run every
// time.
void use_one_host_thread(bool on);

// Reports the launches since the last call.
Report take_report();

// The blocks of all launches are counted on, and so are copies, as a block each. How many there were so far.
uint64_t blocks_run();
void count_a_copy();

// How many host threads share the blocks of a grid: at first one per processor this process
// may use. Not to be called while a kernel runs.
int host_threads();
// How many sleep when no kernel runs.
int sleeping_threads();
void set_host_threads(int count);

// Called for each launch before it runs, and after it. `begins` returns false to refuse the launch. It may change
// `grid`, which is the grid that runs. Without it, every launch runs, even one that CUDA would refuse. `block_done` is
// called by all host threads that run blocks.
struct LaunchHooks {
    bool (*begins)(const Launching& launching, dim3& grid) = nullptr;
    void (*ended)(const Launching& launching) = nullptr;
    void (*block_done)(uint64_t done, uint64_t blocks) = nullptr;
    void (*prints)(const char* text) = nullptr;  // by all host threads, too
    // What is wrong with an address that a kernel uses; empty where nothing is known of it.
    std::string (*bad_address)(uintptr_t address) = nullptr;
    void (*sent)(const Launching& launching) =
        nullptr;  // another process runs the launch; none of the others is called
};
LaunchHooks& launch_hooks();

}  // namespace sim
