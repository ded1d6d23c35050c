// The interface of a back end to the harness. There is one Device per run.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/counts.h"
#include "base/error.h"
#include "base/machine.h"
#include "base/traced_request.h"
#include "kernel.h"

namespace harness {

struct DeviceInfo {
    std::string backend;        // cuda, sim or cpu
    std::string machine;        // the card, the one simulated, or the CPU
    std::string driver;         // its driver; empty on the simulator
    std::string description;    // for the first line of output
    double dram_peak_gbs = 0;   // 10^9 bytes/s; 0 where unknown
    uint64_t l2_bytes = 0;      // the last cache before the memory; 0 where there is none
    std::string copy;           // what its own copy is called; empty on the simulator
    double first_launch_ms = 0;  // from the first call of the runtime to the end of a launch; 0: unknown
    int gpus = 0;               // that kernels for several run on; 0: as many as they ask for
    const Machine* simulated = nullptr;  // null: not on the simulator
    std::string no_peers;       // why GPUs cannot access each other's memory; empty: they can, or there is one
};

// Memory on the device, with the contents that it gets or should have.
struct Region {
    void* data;
    Contents contents;
};

struct Mismatch {
    uint64_t count = 0;  // elements that differ
    uint64_t first = 0;  // the lowest index among them
};

// The options of a pass. They are set by name: as a list in braces, a field that is added in front of others would take
// the value of the next one.
struct Look {
    Look() {}
    // GPUs: every grid is made so many times as deep. Kernels that ignore blockIdx.z then make as many passes in one
    // launch.
    unsigned depth = 1;
    // The simulator:
    bool locate = false;               // name source lines even where nothing was found wrong
    const TraceSink* trace = nullptr;  // is told of every request, in the order of the blocks. It must not throw.
    bool drawn = false;                // keep requests that a page draws
};

// One pass of a kernel from idata to odata.
struct Pass {
    const Kernel& kernel;
    Region odata, idata;
    int width, height;
    Block block;
    Look look{};
};

// The last launch and the counts of a pass.
struct Done {
    Launch launch;  // the last launch of the pass
    // On the simulator:
    LaunchCounts counts;
    bool may_have_raced = false;  // a right result does not show that there was no race: look_closely()
};

// Every call throws Error: status_bad_input when memory does not suffice, status_no_device
// when the device fails.
class Device {
public:
    virtual ~Device() = default;

    virtual const DeviceInfo& info() const = 0;
    virtual void override_peak(double gbs) = 0;

    virtual uint64_t free_bytes() = 0;
    virtual void* allocate(uint64_t bytes) = 0;
    virtual void release(void* memory) noexcept = 0;
    virtual void read(void* to, const void* from, uint64_t bytes) = 0;  // to the host
    // Memory of the host; pinned: what the device can reach by itself.
    virtual void* allocate_host(uint64_t bytes, bool pinned) = 0;
    virtual void release_host(void* memory, bool pinned) noexcept = 0;

    // Gives a region its contents, or starts to.
    virtual void fill(const Region& region) = 0;
    // Compares regions with their contents, element by element.
    virtual std::vector<Mismatch> compare(const std::vector<Region>& regions) = 0;

    // Starts one pass of a kernel, or one plain copy between any two places. finish() waits, and reports what went
    // wrong.
    virtual Done enqueue(const Pass& pass) = 0;
    virtual void enqueue_copy(void* to, const void* from, uint64_t bytes) = 0;
    virtual void finish() = 0;

    // For GPUs: the time in ms, on the GPU's own clock, of the work that `work` enqueues.
    virtual bool has_clock() const = 0;
    virtual double time_ms(const std::function<void()>& work) = 0;

    // Runs a pass once more, to look for races in global memory. Of the counts, only the findings are set.
    virtual LaunchCounts look_closely(const Pass&) { return {}; }
    // How many blocks of a launch run at a time, as the device itself says: a line. Empty: it does not.
    virtual std::string occupancy(const Launch&) { return ""; }
};

// The request for a device, as the command line makes it.
struct Wanted {
    const Machine& machine;  // what a simulator counts for
    int gpus;                // 0: as many as there are
    int patience_s;          // how long to wait for a process that does not come
    bool otherwise_simulated = false;  // the simulator takes over if there are too few GPUs
    bool separate_host = false;        // launchers run in a process of their own, on the simulator

    Wanted(const Machine& machine, int gpus = 0, int patience_s = 60)
        : machine(machine), gpus(gpus), patience_s(patience_s)
    {
    }
};

// A back end linked into this program.
struct Backend {
    std::string name;  // cuda, gpus (several of them), sim or cpu
    // The device, or null with the reason why there is none.
    std::unique_ptr<Device> (*open)(const Wanted& wanted, std::string& why_not);
};
std::vector<Backend>& backends();

// The device asked for: "cuda", "sim", "cpu", or "auto": the GPU if there is one, else the simulator. In a program with
// kernels for several GPUs, "cuda" is several. `remark` says why auto took the simulator. Throws status_no_device.
std::unique_ptr<Device> open_device(const std::string& choice, Wanted wanted, std::string& remark);

}  // namespace harness
