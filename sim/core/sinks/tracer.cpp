#include "tracer.h"

#include "../../elf/places.h"

namespace sim {

void Tracer::take(const PartOfRequest& part, const Cost& cost)
{
    const Request& request = part.request;
    const bool in_shared = part.space == shared;
    const uint64_t first = request.address[__builtin_ctz(request.lanes)];
    harness::TracedRequest t{};
    t.block[0] = blockIdx.x;
    t.block[1] = blockIdx.y;
    t.block[2] = blockIdx.z;
    t.warp = part.warp;
    t.phase = threads_.barriers_passed();
    t.store = kind_of(request.site) != load;
    t.memory = in_shared ? "shared" : part.array->name;
    t.line = line_of(return_address(request.site));
    t.bytes = bytes_of(request.site);
    t.lanes = request.lanes;
    t.units = cost.units;
    t.partition = part.space == global && map_->partitions ? int(map_->partition_of(first + part.shift)) : -1;
    const uint64_t begin = part.array->begin - (in_shared ? part.array->gpu_address : 0);
    for (int lane = 0; lane < warp_size; ++lane)
        if (request.lanes >> lane & 1) t.offsets.push_back(int64_t(request.address[lane] - begin));
    (*to_)(t);
}

}  // namespace sim
