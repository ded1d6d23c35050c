// Hands each request to global and shared memory to a trace.

#pragma once

#include "../../../common/base/machine.h"
#include "../../../common/base/traced_request.h"
#include "../lanes/threads.h"
#include "sink.h"

namespace sim {

class Tracer : public Sink {
public:
    explicit Tracer(const Threads& threads) : threads_(threads) {}
    void start(const harness::TraceSink* to, const harness::PartitionMap& map)
    {
        to_ = to;
        map_ = &map;
    }
    void take(const PartOfRequest& part, const Cost& cost) override;

private:
    const Threads& threads_;
    const harness::TraceSink* to_ = nullptr;
    const harness::PartitionMap* map_ = nullptr;
};

}  // namespace sim
