// The traffic between the device of a launch and the memory of others. Their partitions and caches are not looked at.

#pragma once

#include "sink.h"
#include "windows.h"

namespace sim {

class PeerTraffic : public Sink {
public:
    explicit PeerTraffic(WindowShare& window) : window_(window) {}
    void take(const PartOfRequest& part, const Cost& cost) override;

private:
    WindowShare& window_;
};

}  // namespace sim
