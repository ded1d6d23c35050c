#include "indices.h"

namespace sim {

__thread uint3 thread_index, block_index;
__thread Dimensions block_size, grid_size;

}  // namespace sim
