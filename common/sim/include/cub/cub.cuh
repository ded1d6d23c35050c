#pragma once
#error "CUB is not supported by the simulator; write the algorithm as a kernel"
