// In: the requests of a warp, in the order in which it made them. Out: their parts.
//
// A request goes to the memory that its first lane accesses. If its lanes are in several memories, it is split as
// hardware splits it: by space, and by device. Lanes in several arrays of shared memory stay together, because on
// hardware these follow each other, and so do their banks.
//
// The memory of the last request is looked at first, so the usual request needs no search.

#include "splitter.h"

namespace sim {
namespace {

// True if all lanes of a request access the range. Lanes that take no part have an address of no meaning.
bool all_in(const Request& request, const Range& range)
{
    const uintptr_t begin = range.begin, last = range.begin + range.bytes - 1;
    uint64_t outside = 0;  // negative after an address below `begin` or above `last`
    const auto look = [&](uint64_t address) { outside |= (address - begin) | (last - address); };
    if (uint64_t stride; request.evenly_spaced(stride)) {
        look(request.address[0]);
        look(request.address[warp_size - 1]);
    } else {
        for (uint32_t lanes = request.lanes; lanes; lanes &= lanes - 1) look(request.address[__builtin_ctz(lanes)]);
    }
    return !(outside >> 63);
}

uintptr_t first_address(const Request& request) { return request.address[__builtin_ctz(request.lanes)]; }

}  // namespace

void Splitter::start(int device, bool several)
{
    device_ = device;
    several_ = several;
    recent_ = nullptr;
    sinks_.clear();
    for (auto& takers : takers_) takers.clear();
}

void Splitter::add(Sink& sink, std::initializer_list<Space> spaces)
{
    sinks_.push_back(&sink);
    for (Space space : spaces) takers_[space].push_back(&sink);
}

void Splitter::take(const Request& request, int warp)
{
    const uint64_t address = first_address(request);
    if (!recent_ || !recent_->holds(address)) {
        if (address >= local_addresses) return give({request, local, warp, nullptr, true});
        if (const SharedArray* array = shared_.find(address)) return take_shared(request, warp, *array);
        recent_ = memory().find(address);
    }
    if (!shared_.empty() && !all_in(request, *recent_)) {
        if (const uint32_t here = lanes_in_shared(request)) return split_by_space(request, warp, here);
    }
    take_global(request, warp);
}

uint32_t Splitter::lanes_in_shared(const Request& request)
{
    uint32_t here = 0;
    for (uint32_t lanes = request.lanes; lanes; lanes &= lanes - 1)
        if (shared_.find(request.address[__builtin_ctz(lanes)])) here |= lanes & -lanes;
    return here;
}

// Some lanes have a pointer to shared memory, and some to global memory.
void Splitter::split_by_space(const Request& request, int warp, uint32_t in_shared)
{
    Request part = request;
    part.lanes = in_shared;
    take_shared(part, warp, *shared_.find(first_address(part)));
    part.lanes = request.lanes & ~in_shared;
    recent_ = memory().find(first_address(part));
    take_global(part, warp);
}

void Splitter::take_shared(const Request& request, int warp, const SharedArray& array)
{
    const bool only = all_in(request, array);
    if (only && array.gpu_address % 256 == 0)
        return give({request, shared, warp, &array, true, array.gpu_address - array.begin});
    if (const uint32_t here = only ? request.lanes : lanes_in_shared(request); here != request.lanes)
        return split_by_space(request, warp, here);
    uint64_t shifted[warp_size];
    for (uint32_t lanes = request.lanes; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        const SharedArray& own = *shared_.find(request.address[lane]);
        shifted[lane] = request.address[lane] - own.begin + own.gpu_address;
    }
    give({request, shared, warp, &array, only, 0, shifted});
}

void Splitter::take_global(const Request& request, int warp)
{
    if (__builtin_expect(several_, 0)) return split_by_device(request, warp);
    give({request, recent_->space, warp, recent_, false, recent_->gpu_address - recent_->begin});
}

void Splitter::split_by_device(const Request& request, int warp)
{
    for (uint32_t left = request.lanes; left;) {
        const Allocation* first = nullptr;
        Request part = request;
        part.lanes = 0;
        part.spacing = Request::unknown;
        for (uint32_t lanes = left; lanes; lanes &= lanes - 1) {
            const int lane = __builtin_ctz(lanes);
            const uintptr_t address = request.address[lane];
            if (!recent_->holds(address)) recent_ = memory().find(address);
            if (!first) first = recent_;
            if (recent_->device == first->device) part.lanes |= 1u << lane;
        }
        left &= ~part.lanes;
        const bool far = first->device >= 0 && first->device != device_;
        give({part, far ? peer : first->space, warp, first, false, first->gpu_address - first->begin});
    }
}

}  // namespace sim
