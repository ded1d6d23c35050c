// One matrix shape on one device: its memory, and what is verified, counted and timed with it.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device.h"
#include "matrices.h"
#include "options.h"
#include "base/progress.h"
#include "results.h"
#include "verify.h"

namespace harness {

// Is told what is wrong with the contender of this name.
using Complain = std::function<void(const std::string& kernel, const Finding& what)>;

// A kernel under test, or the device's own copy.
struct Contender {
    const Kernel* kernel = nullptr;  // null: the copy
    Block block;                     // for kernels that take one
    Result result;
    Launch launch;                   // of the first pass; only for kernels of the GPU
    int passes = 1;                  // per sample
    std::vector<double> samples, one_launch_samples;
    double timed_ms = 0;             // in all

    Expected expected() const { return result.expected; }
};

Contender contender(const Kernel& kernel, Block block);
Contender copy_contender(const Device& device);

// The default side: at least eight times the L2 on a GPU, but not more than it can hold.
int default_side(Device& device, Type type);

// Throws status_bad_input if matrices of this layout do not fit on the device.
void require_room(Device& device, Type type, Shape shape, Expected layout);

// Seed of the inputs' elements: 0 at first. The number of the buffer is added to it.
uint32_t& seed_of_inputs();

class Bench {
public:
    // Memory for kernels whose matrices have the layout that `layout` has, and numbers as finite.
    // Throws status_bad_input when they do not fit.
    // `timed`: as many pairs of matrices as outgrow the L2, for measure(). Else one.
    Bench(Device& device, Type type, Shape shape, Expected layout, bool timed, Progress& progress);
    ~Bench();
    static bool same_layout(Expected a, Expected b)
    {
        return a.operands() == b.operands() && a.pad_bytes == b.pad_bytes;
    }

    uint64_t elements() const { return uint64_t(shape_.width) * shape_.height; }

    // The first passes, on the first pair of buffers. The simulator's counts are those of one pass, its findings those
    // of all. Of a kernel that may race, it runs the first two passes again to look for races. A kernel that cannot be
    // launched on this shape is refused, not wrong.
    void verify(Contender& c, int passes, bool explain, const Complain& complain, bool drawn = false);

    // One more pass of a kernel that was verified: `sink` is told of every request.
    void trace(Contender& c, const TraceSink& sink);

    // Times all contenders in turn, so that a drift of the machine hits all alike; `one_launch`: also
    // many passes inside one launch.
    void measure(const std::vector<Contender*>& contenders, int samples, bool one_launch, const Complain& complain);

    // Matrices on the first pair of buffers, each element as its number.
    Numbered numbered_input();
    Numbered numbered_output(const Contender& c);

private:
    Region region(const Matrices& matrices, int buffer, Expected expected, Holds holds) const;
    Region input(int buffer) const { return region(*in_, buffer, layout_, Holds::input); }
    Region output(int buffer, Expected e, Holds holds) const { return region(*out_, buffer, e, holds); }
    int buffers_of(const Contender& c) const;
    void prepare();
    void poison(const Contender& c, int buffers);
    Pass pass_of(const Contender& c, int buffer);
    Done enqueue(const Contender& c, int buffer, const Look& look = {});
    LaunchCounts look_closely(const Contender& c);
    bool check(Contender& c, int buffers, const Complain& complain);
    void* host_memory(bool pinned);
    double peer_ms(Contender& c, int buffers, int passes, const Complain& complain);
    double timed(Contender& c, int passes, int launches, const Complain& complain);
    std::string label(const Contender& c, const char* doing) const;

    Device& device_;
    Type type_;
    Shape shape_;
    Expected layout_;
    Progress& progress_;
    std::optional<Matrices> in_, out_;
    void* host_[2] = {};  // of transfers, pageable and pinned; null until one needs it
};

// The finding on two kernels that launch the same: one's row would be the other's. None if they do not.
std::optional<Finding> same_launch(const Contender& c, const Contender& other);

// Complains about all such pairs.
void check_distinct(const std::vector<Contender*>& contenders, const Complain& complain);

}  // namespace harness
