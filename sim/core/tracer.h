// Tells a trace of each request to global and shared memory.

#pragma once

#include "../../common/base/traced_request.h"
#include "counter.h"
#include "splitter.h"
#include "threads.h"

namespace sim {

class Tracer : public Sink {
public:
    // The counter has taken a part before the tracer does.
    Tracer(const Counter& counter, const Threads& threads) : counter_(counter), threads_(threads) {}
    void take(const PartOfRequest& part) override;

    const harness::TraceSink* to = nullptr;

private:
    const Counter& counter_;
    const Threads& threads_;
};

}  // namespace sim
