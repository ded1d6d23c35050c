// The launches of a GPU's back end. kernel<<<grid, block>>>(...) has no room for a setting of the back end or for a
// note to it, so both lie here while a pass is enqueued.

#pragma once

#include "../kernel.h"

namespace cuda {

struct LaunchNotes {
    unsigned depth = 1;    // every grid is made so many times as deep
    harness::Launch last;  // that was noted
};

inline LaunchNotes& launches()
{
    static LaunchNotes all;
    return all;
}

// Notes a launch. Throws bad input if CUDA cannot launch such a grid. Returns the depth of the grid.
template <typename Dim>
unsigned note_launch(const void* kernel, Dim grid, Dim block, uint64_t arguments = harness::hash_begin)
{
    launches().last = {kernel, {grid.x, grid.y, grid.z * launches().depth}, {block.x, block.y, block.z}, arguments};
    check_launch(launches().last);
    return launches().last.grid[2];
}

}  // namespace cuda
