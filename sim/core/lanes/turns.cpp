#include "turns.h"

namespace sim {

__thread uint64_t turn;
__thread uint64_t end_of_kernel;

}  // namespace sim
