// The carrier of messages between GPUs, and between the processes that drive them. A program that is built with NCCL
// has one (step08_gpus/nccl). Any other program is one process, and sends none.

#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <vector>

#include "../exchange.h"
#include "../processes.h"
#include "on_gpu.h"

namespace cuda {

class Network {
public:
    virtual ~Network() = default;

    // Each piece goes from the sender's stream to the receiver's: streams by GPU.
    virtual void send(const std::vector<Piece>&, const cudaStream_t*)
    {
        throw Error{status_bad_input,
                    "this program was built without NCCL, which messages need; NCCL_HOME names its folder"};
    }
    // Both replace each number by the sum, or the largest, of all processes' numbers. The processes meet here.
    virtual void sum(std::vector<double>&) {}
    virtual void most(std::vector<double>&) {}
    // Memory of GPU g, the current one, for messages; null if it has too little.
    virtual void* allocate(int /*g*/, uint64_t bytes)
    {
        void* memory = nullptr;
        const cudaError_t status = cudaMalloc(&memory, bytes);
        if (status == cudaErrorMemoryAllocation) cudaGetLastError();
        else CUDA(status);
        return memory;
    }
    virtual void release(int /*g*/, void* memory) noexcept { cudaFree(memory); }
    // The host waits for a stream of the current GPU. Throws if another process has ended.
    virtual void wait(cudaStream_t stream) { CUDA(cudaStreamSynchronize(stream)); }
};

// The GPUs of a network. `device`: the number that CUDA has for each of this process's GPUs.
struct Members {
    World world;
    int gpus;
    std::vector<int> mine;
    int device[MAX_GPUS];
    int patience_s;  // how long to wait for a process that does not come
};

using MakeNetwork = std::unique_ptr<Network> (*)(const Members& members);

// The function that makes a network; null where the program is built without NCCL.
inline MakeNetwork& network_maker()
{
    static MakeNetwork maker = nullptr;
    return maker;
}

}  // namespace cuda
