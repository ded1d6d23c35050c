// The processes that share a matrix, and NCCL, which carries their messages.

#pragma once

#include <cstdlib>
#include <memory>
#include <tuple>

#include "gpus.h"

// Processes that mpirun or srun started together; one by itself otherwise. Read from the variables that they set.
struct World {
    int rank = 0, ranks = 1;
    int local = 0;  // number of this process among those of its machine
};

inline World world()
{
    const auto variable = [](const char* name, int otherwise) { const char* text = getenv(name); return text ? atoi(text) : otherwise; };
    for (const auto& [rank, ranks, local] : {std::tuple{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
                                             {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"}, {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"}})
        if (variable(ranks, 1) > 1) return {variable(rank, 0), variable(ranks, 1), variable(local, variable(rank, 0))};
    return {};
}

// Without NCCL there is one process and no message.
class Network {
public:
    virtual ~Network() = default;
    // Buffers of so many bytes on each of this process's GPUs. Throws status_bad_input where there is too little memory.
    virtual void reserve(const std::vector<size_t>&) {}
    virtual Messages* messages() { return nullptr; }
    virtual double most(double value) { return value; }   // of all processes; they meet here
    virtual void wait(cudaStream_t stream) { CUDA(cudaStreamSynchronize(stream)); }  // throws if another process has ended
};

// Set by network.cu, where the program is built with NCCL.
// `patience_s`: how long to wait for a process that does not come.
using MakeNetwork = std::unique_ptr<Network> (*)(const World& world, int gpus, const std::vector<int>& mine, const int* device, int patience_s);
inline MakeNetwork& network_maker()
{
    static MakeNetwork maker = nullptr;
    return maker;
}
