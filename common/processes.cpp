#include "processes.h"

#include <cstdlib>

namespace harness {

World world()
{
    static const struct {
        const char *rank, *ranks, *local;
    } starters[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
                    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
                    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"}};
    const auto variable = [](const char* name, int otherwise) {
        const char* text = std::getenv(name);
        return text ? std::atoi(text) : otherwise;
    };
    for (const auto& s : starters)
        if (variable(s.ranks, 1) > 1) {
            World world;
            world.rank = variable(s.rank, 0);
            world.ranks = variable(s.ranks, 1);
            world.local = variable(s.local, world.rank);
            return world;
        }
    return {};
}

}  // namespace harness
