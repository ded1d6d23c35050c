// Memory that the processes of one host share: each has the rows of its own GPU, and reaches those of the others' GPUs.
// A program that is built with NCCL, which the processes need to tell each other where the rows are, can share them
// (step08_gpus/nccl). In any other program and in one process there is nothing to share.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "network.h"

namespace cuda {

class SharedRows {
public:
    virtual ~SharedRows() = default;
    virtual bool works() const { return false; }
    virtual std::string why_not() const { return "processes do not share memory"; }
    // The addresses of all GPUs' memory, of which `own` is this one's, from cudaMalloc. Empty if any process has none,
    // or cannot reach another's. All processes call it together.
    virtual std::vector<void*> open(void*) { return {}; }
    // Forgets the others' memory. Each may free its own once all have come here.
    virtual void close(std::vector<void*>&) noexcept {}
    // The next work of this process's GPU waits for all that was enqueued on the others'.
    virtual void meet() {}
};

using MakeSharedRows = std::unique_ptr<SharedRows> (*)(Network& network, const Members& members);

inline MakeSharedRows& shared_rows_maker()
{
    static MakeSharedRows maker = [](Network&, const Members&) { return std::make_unique<SharedRows>(); };
    return maker;
}

}  // namespace cuda
