// Functions and types of the CUDA runtime and the driver that the simulator's headers do not declare.

#pragma once

#include "tokens.h"

namespace rewrite {

// Throws Refusal at the first one that the program uses: one line instead of the compiler's many. Without the
// simulator's headers in the text, it does nothing.
void check_declared(const Source& source);

}  // namespace rewrite
