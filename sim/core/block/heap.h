// malloc and free in a kernel. The pieces are checked where one host thread runs all blocks, because the others would
// look for memory while it changes.

#pragma once

#include <cstddef>
#include <cstdint>

#include "watch.h"

namespace sim {

// `heap`: where the heap of the program lies, of which the piece is a part. `settings`: of the launch.
void note_malloc(uintptr_t piece, size_t bytes, uintptr_t heap, uint64_t place, const Settings& settings);
// Ends the thread if the piece cannot be freed. `checked`: pieces are known.
void note_free(uintptr_t piece, uint64_t place, bool checked, Watch& watch);

}  // namespace sim
