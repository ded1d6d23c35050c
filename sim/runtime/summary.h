// The report at the end of a program.

#pragma once

namespace sim {

void print_summary();

}  // namespace sim
