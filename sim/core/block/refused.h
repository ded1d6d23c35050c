// Faults of accesses that must not be made.

#pragma once

#include <cstdint>
#include <string>

#include "../memory/shared_memory.h"
#include "../sinks/faults.h"

namespace sim {

// `array`: what the address lies in, or next to; null: not known. `text`: the end of the sentence.
Fault refused_access(const FindingKind& kind, uintptr_t address, Site site, const Array* array,
                       const std::string& text);
// The access hits no memory. The fault names the memory for which it was probably meant.
Fault stray_access(uintptr_t address, Site site, const SharedMemory& shared);
// The address lacks the alignment of its type, whose name the compiler writes in quotes.
Fault misaligned_access(uintptr_t address, Kind kind, uint64_t place, const Array* array, const std::string& type,
                          unsigned alignment);

}  // namespace sim
