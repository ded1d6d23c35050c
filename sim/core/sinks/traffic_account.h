// An account of what goes between devices: tables of who sent how much to whom, and a picture of when.
//
// Time is counted in windows (devices.h). The bytes of a window are kept until close() says that no more comes before
// it. Then they count for the busiest receiver, and neighbouring windows are added up until the picture has few
// entries.

#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "../devices.h"
#include "windows.h"

namespace sim {

// The bytes that devices receive. In each window of blocks that run together, the busiest device delays the others.
class Receivers {
public:
    void add_window(const std::array<uint64_t, most_devices>& into);
    double busiest_over_mean(int devices) const;  // 0: nobody receives anything

private:
    uint64_t busiest_ = 0, sum_ = 0;
};

class TrafficAccount {
public:
    // Adds the stores and loads of a launch on `device`. Its first window is `first`.
    void add(int device, uint64_t first, const std::map<uint64_t, Peers>& windows);
    void add_message(int from, int to, uint64_t bytes, uint64_t window);
    // Says that no more traffic comes before this window.
    void close(uint64_t before);
    // Says that no more traffic comes at all. `devices`: how many there are.
    const Traffic& finished(int devices);

private:
    using Matrix = std::array<std::array<uint64_t, most_devices>, most_devices>;
    static void add(Matrix& sum, const Matrix& more);
    void coarsen();

    Traffic traffic_ = {};
    std::map<uint64_t, Matrix> open_, closed_;  // by window; closed ones by window >> shift_
    int shift_ = 0;
    Receivers receivers_;
    uint64_t first_ = ~0ull, last_ = 0;
};

}  // namespace sim
