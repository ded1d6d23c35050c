// What the harness needs of a back end. There is one Device per run.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernel.h"

namespace harness {

struct DeviceInfo {
    std::string backend;      // cuda or sim
    std::string machine;      // the card, or "simulator"
    std::string driver;       // its driver; empty on the simulator
    std::string description;  // for the first line of output
    double dram_peak_gbs;     // 10^9 bytes/s; 0 where unknown
    uint64_t l2_bytes;        // 0 where there is none
};

// Memory on the device, and what it is to hold or should hold.
struct Region {
    void* data;
    Type type;
    Contents contents;
};

struct Mismatch {
    uint64_t count = 0;  // elements that differ
    uint64_t first = 0;  // the lowest index among them
};

// Requests and accesses of one launch, counted exactly.
struct LaunchCounts {
    uint64_t global_load_requests, global_store_requests;
    uint64_t shared_load_requests, shared_store_requests;
    uint64_t accesses;  // by single threads, of all four kinds
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

    // Gives a region its contents, or starts to.
    virtual void fill(const Region& region) = 0;
    // Compares regions with their contents, element by element.
    virtual std::vector<Mismatch> compare(const std::vector<Region>& regions) = 0;

    // Starts one pass of a kernel, or one plain copy. finish() waits, and reports what went wrong.
    virtual void enqueue(const Kernel& kernel, Type type, void* odata, const void* idata,
                         int width, int height) = 0;
    virtual void enqueue_copy(void* to, const void* from, uint64_t bytes) = 0;
    virtual void finish() = 0;

    // A GPU measures: the time in ms, on its own clock, of what `work` enqueues.
    virtual bool has_clock() const = 0;
    virtual double time_ms(const std::function<void()>& work) = 0;

    // The simulator counts: what was launched since the last call.
    virtual LaunchCounts take_counts() = 0;
};

// A back end linked into this program.
struct Backend {
    std::string name;
    // The device, or null with the reason why there is none.
    std::unique_ptr<Device> (*open)(std::string& why_not);
};
std::vector<Backend>& backends();

// The device asked for: "cuda", "sim", or "auto": the GPU if there is one, else the simulator.
// `remark` says why auto took the simulator. Throws status_no_device.
std::unique_ptr<Device> open_device(const std::string& choice, std::string& remark);

}  // namespace harness
