// --csv: a line for each access of each kernel and shape, all launches together.

#pragma once

#include <string>

namespace sim {

std::string counts_csv();

}  // namespace sim
