#pragma once
#error "graphics are not supported by the simulator; it runs kernels alone"
