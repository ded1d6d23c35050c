#include "indices.h"

#include <pthread.h>
#include <sys/mman.h>

#include <cstddef>

#include "../../../common/base/error.h"

namespace sim {
namespace {

#if defined __x86_64__
constexpr size_t built_in_bytes = 4096;
#else
constexpr size_t built_in_bytes = 65536;  // the largest that such a processor may have
#endif

struct alignas(built_in_bytes) BuiltInPage {
    BuiltIns variables;
};

}  // namespace

__thread BuiltIns* built_ins;
extern __thread BuiltInPage built_in_page asm("sim_built_in_page");
__thread BuiltInPage built_in_page;

// The variables of kernels are parts of the page.
static_assert(offsetof(BuiltIns, block) == 12 && offsetof(BuiltIns, block_size) == 24 &&
              offsetof(BuiltIns, grid_size) == 36);
#define PART(name, offset)                                                \
    asm(".globl " #name "\n.type " #name ", %tls_object\n.size " #name ", 12\n" \
        ".set " #name ", sim_built_in_page + " #offset)
PART(threadIdx, 0);
PART(blockIdx, 12);
PART(blockDim, 24);
PART(gridDim, 36);

namespace {

// Gives the page back to the storage of the thread, which the system fills anew for the next thread and which a forked
// process must not share.
void open_built_ins()
{
    if (!built_ins || built_ins == &built_in_page.variables) return;
    munmap(built_ins, built_in_bytes);
    mmap(&built_in_page, built_in_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    built_ins = nullptr;
}

struct AtEndOfThread {
    ~AtEndOfThread() { open_built_ins(); }
    bool wanted = false;
};
thread_local AtEndOfThread at_end_of_thread;

}  // namespace

void close_built_ins()
{
    if (built_ins) return;
    at_end_of_thread.wanted = true;
    static const int in_forked_processes = pthread_atfork(nullptr, nullptr, open_built_ins);
    void* page = mmap(nullptr, built_in_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (in_forked_processes || page == MAP_FAILED) harness::out_of_memory();
    built_ins = static_cast<BuiltIns*>(page);
    // A shared page that is moved with a length of 0 stays where it was, too. valgrind refuses this: hooks alone then
    // see a store.
    if (mremap(page, 0, built_in_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, &built_in_page) == MAP_FAILED ||
        mprotect(&built_in_page, built_in_bytes, PROT_READ)) {
        munmap(page, built_in_bytes);
        built_ins = &built_in_page.variables;
    }
}

const char* built_in_at(uintptr_t address)
{
    const uintptr_t offset = address - uintptr_t(&built_in_page);
    if (offset >= built_in_bytes) return nullptr;
    return offset < offsetof(BuiltIns, block)        ? "threadIdx"
           : offset < offsetof(BuiltIns, block_size) ? "blockIdx"
           : offset < offsetof(BuiltIns, grid_size)  ? "blockDim"
                                                     : "gridDim";
}

}  // namespace sim
