#include "drawer.h"

#include <algorithm>

#include "../lanes/indices.h"
#include "counter.h"

namespace sim {

void Drawer::take(const PartOfRequest& part, const Cost& cost)
{
    std::vector<harness::DrawnRequest>& kept = cost.site->drawn;
    const auto same = [&](const harness::DrawnRequest& other) { return other.units == cost.units; };
    const auto known = std::find_if(kept.begin(), kept.end(), same);
    if (known != kept.end()) {
        ++known->times;
        return;
    }
    harness::DrawnRequest drawn;
    drawn.units = cost.units;
    drawn.times = 1;
    drawn.number = block_;
    drawn.block = {blockIdx.x, blockIdx.y, blockIdx.z};
    drawn.warp = part.warp;
    uintptr_t begin = part.request.address[__builtin_ctz(part.request.lanes)] >> above_local_address
                      << above_local_address;
    if (part.array) {
        drawn.memory = part.array->name;
        drawn.begin = part.array->gpu_address;
        begin = part.array->begin;
    }
    for (uint32_t lanes = part.request.lanes; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        const uint64_t address = part.request.address[lane];
        drawn.offset[size_t(lane)] =
            part.shifted ? int64_t(part.shifted[lane] - drawn.begin) : int64_t(address - begin);
    }
    kept.push_back(drawn);
}

}  // namespace sim
