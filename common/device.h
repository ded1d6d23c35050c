// What the harness needs of a back end. There is one Device per run.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernel.h"
#include "base/machine.h"

namespace harness {

struct DeviceInfo {
    std::string backend;      // cuda, sim or cpu
    std::string machine;      // the card, the one simulated, or the CPU
    std::string driver;       // its driver; empty on the simulator
    std::string description;  // for the first line of output
    double dram_peak_gbs;     // 10^9 bytes/s; 0 where unknown
    uint64_t l2_bytes;        // the last cache before the memory; 0 where there is none
    std::string copy;         // what its own copy is called; empty on the simulator
    double first_launch_ms;   // of the host's time, from the first call of the runtime to the end of a launch; 0: unknown
};

// Memory on the device, and what it is to hold or should hold.
struct Region {
    void* data;
    Contents contents;
};

struct Mismatch {
    uint64_t count = 0;  // elements that differ
    uint64_t first = 0;  // the lowest index among them
};

// The requests that warps make at one place of a kernel, counted exactly for one machine.
struct AccessSite {
    std::string file;  // empty if the program has no debug information to tell
    int line = 0;
    std::string text;  // of the line, if its file is at hand
    bool store = false, atomic = false, shared = false;  // neither store nor atomic: a load
    bool peer = false;           // global memory of another device
    uint64_t requests = 0;
    uint64_t accesses = 0;       // of single threads
    uint64_t element_bytes = 0;  // that one thread accesses
    uint64_t units = 0;          // global: transactions, lines or sectors; shared: wavefronts
    uint64_t ideal = 0;          // the fewest units there could be
    uint64_t bytes = 0;          // global: what the units carry
    uint64_t asked = 0;          // global: what was asked for, each element of a request once
    int worst = 0;               // units of the most expensive request
    int64_t stride = 0;          // bytes from one lane to the next
    const char* unit = "";
    std::string conflict;        // shared: two lanes of the most expensive request that meet in a bank; empty: none do
};

// One request of a warp, as --trace writes it.
struct TracedRequest {
    unsigned block[3];
    int warp, phase;     // phase: barriers that the block has passed
    bool store;
    std::string memory;  // idata, odata or shared; an allocation of a program
    int line;            // of the kernel's source; 0 if unknown
    unsigned bytes;      // that each lane accesses
    uint32_t lanes;      // bit l set: lane l takes part
    std::vector<int64_t> offsets;  // of those lanes, in bytes from where that memory begins
    int units;           // its cost, as in AccessSite
    int partition;       // of its first byte; -1: shared memory, or unknown
};

using TraceSink = std::function<void(const TracedRequest&)>;

// What was launched, over all launches of a pass.
struct Launched {
    uint64_t launches = 0, blocks = 0, warps = 0;
    uint64_t barriers = 0;  // of warps: a barrier of a block of eight warps counts eight
};

// What the simulator counted in one pass.
struct LaunchCounts {
    std::vector<AccessSite> sites;
    std::vector<std::string> findings;  // what the kernel must not do, a line each
    uint64_t findings_total = 0;        // how often it did
    int partitions = 0;                 // of the machine; 0 if unknown
    bool map_assumed = false;
    double busiest_read = 0, busiest_write = 0;  // partition over mean, in windows of resident blocks
    double busiest_receiver = 0;  // of several GPUs: the same of what each receives from the others; 0: nothing
    uint64_t resident_blocks = 0;
    uint64_t shared_bytes = 0;  // of shared memory that a block declares, at most
    Launched launched;
    Occupancy occupancy;
    // What the machine's model is fed with; all zero where there is none.
    uint64_t model_bursts = 0, model_scattered = 0;  // of the partition that takes longest, over all windows
    double model_waves = 0;                          // barriers, of all resident blocks at once
    uint64_t scattered_bytes = 0, load_batches = 0, load_lines = 0, store_lines = 0;  // for a roofline

    // Sums over sites of one kind.
    uint64_t requests(bool shared, bool store) const;
    uint64_t units(bool shared, bool store) const;
    uint64_t accesses() const;
    uint64_t bytes_moved() const;
    uint64_t bytes_asked() const;    // of global memory
    uint64_t bytes_between_gpus() const;
    uint64_t bytes_asked_between_gpus() const;
    int worst_conflict() const;      // wavefronts of the most expensive shared request
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

    // Starts one pass of a kernel, or one plain copy between any two places. finish() waits, and
    // reports what went wrong.
    virtual void enqueue(const Kernel& kernel, const Region& odata, const Region& idata, int width, int height, Block block) = 0;
    virtual void enqueue_copy(void* to, const void* from, uint64_t bytes) = 0;
    virtual void finish() = 0;

    // A GPU measures: the time in ms, on its own clock, of what `work` enqueues.
    virtual bool has_clock() const = 0;
    virtual double time_ms(const std::function<void()>& work) = 0;

    // The simulator counts: what was launched since the last call. `locate`: name source lines
    // even where nothing was found wrong.
    virtual LaunchCounts take_counts(bool locate) = 0;
    // More of what the last kernel did wrong, which shows only by a closer look.
    virtual LaunchCounts look_again() { return {}; }
    // How many blocks of that launch run at a time, as the device itself says: a line. Empty: it does not.
    virtual std::string occupancy(const Launch&) { return ""; }
    // From now on, `sink` is told of every request, in the order of the blocks; null: no longer. It must not throw.
    // Throws status_bad_input where there is no simulator.
    virtual void trace_to(const TraceSink*)
    {
        throw Error{status_bad_input, "--trace: the simulator alone sees every request; add --device sim"};
    }
};

// A back end linked into this program.
struct Backend {
    std::string name;
    // The device, or null with the reason why there is none. `machine`: what a simulator counts for.
    std::unique_ptr<Device> (*open)(const Machine& machine, std::string& why_not);
};
std::vector<Backend>& backends();

// The device asked for: "cuda", "sim", "cpu", or "auto": the GPU if there is one, else the simulator.
// `remark` says why auto took the simulator. Throws status_no_device.
std::unique_ptr<Device> open_device(const std::string& choice, const Machine& machine, std::string& remark);

}  // namespace harness
