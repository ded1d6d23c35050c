// Races and uninitialized loads in shared memory. In: the requests of a warp. Out: suspicious accesses for
// hazards.cpp, and findings.
//
// Each word has the accesses that may still race with a later one. An access is harmless if no other thread has
// accessed the word since the barrier, which one comparison shows. All other accesses get a closer look. A mark of this
// block in a word also means that the word was stored to. Words become bytes when an element smaller than a word is
// first accessed.
//
// The record is overwritten and never cleared, because times only grow. The cost is a few instructions for each lane.

#include "checker.h"

#include <algorithm>

namespace sim {

void SharedChecker::take(const PartOfRequest& part, const Cost&)
{
    const Request& request = part.request;
    if (part.only_array) return check(request, part.warp, static_cast<const SharedArray&>(*part.array));
    for (uint32_t left = request.lanes; left;) {
        const SharedArray& array = *arrays_.find(request.address[__builtin_ctz(left)]);
        Request own = request;
        own.lanes = 0;
        for (uint32_t lanes = left; lanes; lanes &= lanes - 1)
            if (array.holds(request.address[__builtin_ctz(lanes)])) own.lanes |= lanes & -lanes;
        left &= ~own.lanes;
        check(own, part.warp, array);
    }
}

// All lanes of the request access this array.
void SharedChecker::check(const Request& request, int warp, const SharedArray& array)
{
    const unsigned bytes = bytes_of(request.site);
    if (bytes < 4 && shift_) {
        // From now on, neighbouring bytes may belong to different threads.
        cells_.divide(4, 4 * cells_.last.size());
        shift_ = 0;
    }
    const size_t room = (array.cell + array.bytes + 15) >> shift_;
    if (room > cells_.last.size()) {
        cells_.last.resize(std::max(room, 2 * cells_.last.size()));
        if (!cells_.lists.empty()) cells_.lists.resize(cells_.last.size());
    }
    const Mark first = mark_of(order_.phase(), sites_.number_of(request.site), warp * warp_size);
    if (strength_of(request.site) != as_data) check_cells<atomic>(request, first, array);
    else if (kind_of(request.site) == load) check_cells<load>(request, first, array);
    else check_cells<store>(request, first, array);
}

// `kind` is load or store for a plain access, and atomic for every other one.
template <Kind kind>
void SharedChecker::check_cells(const Request& request, Mark first, const SharedArray& array)
{
    // These values are computed before the loops by hand, because the compiler cannot tell that a store to a cell
    // leaves them unchanged.
    const bool usual = kind != atomic && !order_.eventful();
    const Mark barrier = Mark(order_.phase()) << time_shift, block = Mark(order_.block_start()) << time_shift;
    const unsigned shift = shift_, cells = bytes_of(request.site) >> shift;
    // The usual case: no thread has accessed the cell since the barrier, and a cell that is loaded was stored to.
    const Mark least = kind == load ? block : 0, most = barrier - least;
    Mark* const record = cells_.last.data() + (array.cell >> shift);
    uint64_t stride;
    if (usual && cells == 1 && request.evenly_spaced(stride)) {
        Mark* cell = record + ((request.address[0] - array.begin) >> shift);
        const ptrdiff_t step = ptrdiff_t(stride) >> shift;
        for (Mark mark = first; mark != first + warp_size;)
            for (int i = 0; i < 4; ++i, ++mark, cell += step)  // compilers unroll it
                if (__builtin_expect(*cell - least < most, 1)) *cell = mark;
                else look(*cell, request, mark, array, 0);
        return;
    }
    for (uint32_t lanes = request.lanes; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        const Mark mark = first + Mark(lane);
        Mark* cell = record + ((request.address[lane] - array.begin) >> shift);
        for (unsigned part = 0; part < cells; ++part, ++cell)
            if (usual && *cell - least < most) *cell = mark;
            else look(*cell, request, mark, array, part << shift);
    }
}

// Looks at a cell that a thread has accessed since the barrier, or that no thread has ever accessed.
void SharedChecker::look(Mark& cell, const Request& request, Mark mark, const SharedArray& array, uint64_t part)
{
    const int lane = thread_of(mark) % warp_size;
    const size_t index = size_t(&cell - cells_.last.data());
    const uint64_t offset = request.address[lane] - array.begin + part;
    mark = Mark(std::max(order_.phase(), request.times[lane])) << time_shift | uint32_t(mark);
    const auto unset = [&](size_t cell) { return cells_.unset(cell, order_.block_start()); };
    const bool plain_load = kind_of(request.site) == load && strength_of(request.site) == as_data;
    if (plain_load && !order_.orders_threads() && !unset(index) && hazards_.one_more_load(cells_, index, mark)) return;
    bool padding = true;
    for (uint64_t at = offset; at < offset + (1u << shift_); ++at) padding = padding && array.elements.pads(at);
    if (kind_of(request.site) != store && unset(index) && !padding) {
        const size_t first = index - (part >> shift_);
        bool some = false;
        for (size_t i = 0; i < bytes_of(request.site) >> shift_; ++i) some = some || !unset(first + i);
        hazards_.add_uninitialized(request.site, mark, array, offset, some);
    } else if (hazards_.own(cell, mark, request.site)) return;
    hazards_.note(cells_, index, {request, lane, mark, array.name, int64_t(offset), array.begin + offset});
}

}  // namespace sim
