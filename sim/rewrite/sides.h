// Calls between the host and the device that nvcc refuses.

#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "syntax.h"

namespace rewrite {

// Which side the functions of a name are for, as bits. other_side: both, or its name alone does not tell.
enum Side : unsigned { host_side = 1, device_side = 2, kernel_side = 4, other_side = 8 };
using Sides = std::map<std::string_view, unsigned>;

// Throws Refusal at the first call of a function of the other side, and of a kernel without <<<>>>. `strict`: code of
// the device alone. `host`: functions without a word of CUDA, but for the lambdas of `device`. False if a name that is
// in question has other meanings.
bool check_sides(const Source& source, const Sides& sides, const std::vector<Tokens>& strict,
                 const std::vector<Tokens>& host, const std::vector<Tokens>& device);

}  // namespace rewrite
