#pragma once
#error "cuSOLVER is not supported by the simulator; it runs kernels alone"
