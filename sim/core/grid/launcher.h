// Receives the launches of the program, such as kernel<<<grid, block>>>(...).

#pragma once

#include "../lanes/launching.h"

namespace sim {

class Launcher {
public:
    virtual ~Launcher() = default;
    virtual void launch(const Launching& launching, const Code& code) = 0;
};
// Gives the next launches to this launcher. With null, they run and are not reported. Returns the launcher before.
Launcher* use_launcher(Launcher* next);

// Hands a launch to the launcher in use, and returns when all blocks are done.
void hand_over(const Launching& launching, const Code& code);

}  // namespace sim
