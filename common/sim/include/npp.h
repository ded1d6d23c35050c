#pragma once
#error "NPP is not supported by the simulator; it runs kernels alone"
