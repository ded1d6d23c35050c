// The processes of one run, where several share its GPUs.

#pragma once

namespace harness {

// Processes that mpirun or srun started together; one by itself otherwise. Read from the variables that they set.
struct World {
    int rank = 0, ranks = 1;
    int local = 0;  // number of this process among those of its machine
};
World world();

}  // namespace harness
