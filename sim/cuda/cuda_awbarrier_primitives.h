#pragma once

#error "the simulator has no awbarrier primitives: use cuda::barrier of <cuda/barrier>"
