#include "launch.h"

#include <cstring>

#include "../../../common/base/error.h"
#include "../../../common/base/hash.h"
#include "../block/worker.h"
#include "../grid/launcher.h"

namespace sim {

void launch_grid(const Launching& launching, const Code& code) { hand_over(launching, code); }

void copy_bits(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

uint64_t hash_of(uint64_t hash, const void* bytes, size_t count) { return harness::hash_of(hash, bytes, count); }

void returns_early()
{
    if (watching) Worker::here()->threads().note_return();
}

void long_loop()
{
    if (!watching) return;
    Worker::here()->watch().settle_index();
    Worker::here()->threads().pass_turn(65536, uint64_t(SIM_PLACE));
}

void declare(uintptr_t array, const Declared& record)
{
    if (!watching) return;
    SharedMemory& shared = Worker::here()->shared();
    shared.declare(array, record, uint64_t(SIM_PLACE));
    // The assembler of CUDA refuses such a kernel. The compiler refuses single arrays of this size.
    if (shared.static_bytes() > 49152)
        fail(harness::format("the kernel's __shared__ arrays take %llu bytes, and nvcc allows 49152; use dynamic "
                             "shared memory and cudaFuncSetAttribute",
                             (unsigned long long)shared.static_bytes()).c_str(),
             SIM_PLACE);
    declared[declared_at(array)] = array;
}

}  // namespace sim
