#pragma once
#error "cuFFT is not supported by the simulator; it runs kernels alone"
