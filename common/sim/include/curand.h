#pragma once
#error "cuRAND is not supported by the simulator; write a generator of your own, such as a linear congruential one"
