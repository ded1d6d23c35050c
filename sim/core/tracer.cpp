#include "tracer.h"

#include "../elf/places.h"

namespace sim {

void Tracer::take(const PartOfRequest& part)
{
    if (part.space == local || part.space == constant) return;
    const Request& request = part.request;
    const bool in_shared = part.space == shared;
    const uint64_t first = request.address[__builtin_ctz(request.lanes)];
    harness::TracedRequest t{{block_index.x, block_index.y, block_index.z},
                             part.warp,
                             threads_.barriers_passed(),
                             kind_of(request.site) != load,
                             in_shared ? "shared" : part.array->name,
                             line_of(return_address(request.site)),
                             bytes_of(request.site),
                             request.lanes,
                             {},
                             counter_.units(),
                             part.space == global ? counter_.partition(first + part.shift) : -1};
    const uint64_t begin = part.array->begin - (in_shared ? part.array->gpu_address : 0);
    for (int lane = 0; lane < warp_size; ++lane)
        if (request.lanes >> lane & 1) t.offsets.push_back(int64_t(request.address[lane] - begin));
    (*to)(t);
}

}  // namespace sim
