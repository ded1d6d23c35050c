// The page `source` of Nsight Compute: counts of single instructions, and their lines of the source.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ncu.h"

namespace sim {

// True if a line begins this page.
bool begins_source_page(std::string_view line);

// The launches of the page, which begins with line `number` of the file. `refuse` throws. It gets the number of a line
// that cannot be read, and says what is wrong with it.
std::vector<NcuLaunch> read_source_page(std::string_view text, size_t number,
                                        const std::function<void(size_t, const std::string&)>& refuse);

}  // namespace sim
