#pragma once
#error "NVRTC (compilation at run time) is not supported by the simulator; write the kernel in the program"
