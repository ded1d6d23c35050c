#pragma once
#error "cuSPARSE is not supported by the simulator; it runs kernels alone"
