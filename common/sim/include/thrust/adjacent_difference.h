#pragma once
#error "Thrust is not supported by the simulator; use cudaMalloc, cudaMemcpy and a kernel"
