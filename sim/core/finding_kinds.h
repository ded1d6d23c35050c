// The kinds of findings: their names for programs, how grave they are, and where sim/README.md explains them.

#pragma once

#include <vector>

#include "../../common/base/finding.h"

namespace sim {
namespace kinds {

using harness::FindingKind;

extern const FindingKind race, uninitialized_load, never_written, divergent_barrier, divergent_warp, out_of_bounds_load,
    out_of_bounds_store, store_to_input, use_after_free, host_pointer, host_access, no_peer_access, misaligned_access,
    local_array, local_memory, endless_loop, kernel_failed, bad_copy, bad_free, never_freed, bad_message,
    event_not_reached, not_waited_for, unchecked_error, not_simulated;

}  // namespace kinds

// All of them, in the order of sim/README.md.
const std::vector<const harness::FindingKind*>& finding_kinds();

}  // namespace sim
