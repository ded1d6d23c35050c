// Counts what a kernel asks of memory, on a machine without a GPU: the idea of the simulator, and nothing else.
//
// g++ -fsanitize=thread puts a call in front of every load and store of a kernel: __tsan_read4(address), and so on. No
// sanitizer is linked. The calls end here, in note().
//
// Each thread of a block is a fiber with a stack of its own, and runs until it comes to a barrier. When all have come,
// they go on. The accesses of the 32 threads of a warp at one place of the code form a request: those of the first time
// that each thread came there, of the second time, and so on. Hardware brings lanes together in the same way, as long
// as all of them take the same turns of a loop.

#include "small.h"

#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <vector>

extern "C" char __data_start, _end;  // of the program's static variables, from the linker

namespace small {

Index now;

struct Thread {  // of a block: a fiber
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(64 << 10);
    bool ended = false;
    std::map<void*, int> visits;  // to each place of the code
};

struct Access { uintptr_t address; unsigned bytes; bool store; };
using Request = std::vector<Access>;
struct alignas(32) Sector { float elements[8]; };

std::vector<std::pair<const char*, Pass>> kernels;
std::vector<Thread> threads;  // of the block
Thread* running = nullptr;    // null: code of the host
std::map<std::tuple<long, void*, int>, Request> requests;  // of the block: by warp, place and visit
ucontext_t scheduler;
const std::function<void()>* body;  // what a thread does
std::vector<Sector> matrices;       // idata, then odata
long counts[2][2][2];               // [shared memory][stores][requests, cost]

bool in(uintptr_t address, void* begin, void* end) { return address >= uintptr_t(begin) && address < uintptr_t(end); }
bool in_matrices(uintptr_t address) { return in(address, &matrices.front(), &matrices.back() + 1); }

// Every load and store. Of interest are those of a matrix, and of a tile, which is a static variable.
void note(uintptr_t address, unsigned bytes, bool store, void* place)
{
    const bool tile = in(address, &__data_start, &_end) && !in(address, &now, &now + 1);
    if (!running || (!in_matrices(address) && !tile)) return;
    requests[{(running - threads.data()) / 32, place, running->visits[place]++}].push_back({address, bytes, store});
}

// Global memory moves sectors of 32 bytes: the cost is how many the request touches. Shared memory has 32 banks, and
// each gives one word of 4 bytes in a wavefront: the cost is how many the bank has to give that has the most.
long cost(const Request& request, unsigned bytes, unsigned banks)
{
    std::map<uintptr_t, std::set<uintptr_t>> pieces;
    size_t most = 0;
    for (const Access& a : request)
        for (uintptr_t p = a.address / bytes; p <= (a.address + a.bytes - 1) / bytes; ++p) pieces[p % banks].insert(p);
    for (const auto& [bank, of_bank] : pieces) most = std::max(most, of_bank.size());
    return long(most);
}

void run_thread()
{
    (*body)();
    running->ended = true;
    barrier();
}

void run_block()
{
    threads.resize(size_t(now.block_size.x) * now.block_size.y);
    for (Thread& thread : threads) {
        thread.ended = false;
        thread.visits.clear();
        getcontext(&thread.context);
        thread.context.uc_stack = {thread.stack.data(), 0, thread.stack.size()};
        makecontext(&thread.context, run_thread, 0);
    }
    const auto goes_on = [](const Thread& thread) { return !thread.ended; };
    while (std::any_of(threads.begin(), threads.end(), goes_on))  // once more for each barrier
        for (unsigned t = 0; t < threads.size(); ++t) {
            running = &threads[t];
            now.thread = dim3(t % now.block_size.x, t / now.block_size.x);
            if (goes_on(*running)) swapcontext(&scheduler, &running->context);
        }
    running = nullptr;
    for (const auto& [key, request] : requests) {
        const bool shared = !in_matrices(request[0].address);
        long* const kind = counts[shared][request[0].store];
        ++kind[0];
        kind[1] += shared ? cost(request, 4, 32) : cost(request, 32, 1);
    }
    requests.clear();
}

void barrier() { swapcontext(&running->context, &scheduler); }

void launch(dim3 grid, dim3 block, const std::function<void()>& thread)
{
    body = &thread;
    now.grid_size = grid;
    now.block_size = block;
    for (unsigned y = 0; y < grid.y; ++y)
        for (unsigned x = 0; x < grid.x; ++x) {
            now.block = dim3(x, y);
            run_block();
        }
}

Kernel::Kernel(const char* name, Pass pass) { kernels.push_back({name, pass}); }

}  // namespace small

#define HOOK(name, n, store, ...)                                     \
    extern "C" void __tsan_##name(uintptr_t address, ##__VA_ARGS__)   \
    { small::note(address, unsigned(n), store, __builtin_return_address(0)); }
HOOK(read1, 1, false) HOOK(read4, 4, false) HOOK(read8, 8, false) HOOK(read16, 16, false)
HOOK(write1, 1, true) HOOK(write4, 4, true) HOOK(write8, 8, true) HOOK(write16, 16, true)
HOOK(read_range, size, false, size_t size) HOOK(write_range, size, true, size_t size)
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_init() {}

// The counts of every kernel of the step, as CSV.
int main(int argc, char** argv)
{
    std::printf("kernel,width,height,loads,sectors,stores,sectors,tile loads,wavefronts,tile stores,wavefronts\n");
    for (int i = 1; i < argc; ++i) {
        int width = 0, height = 0;
        if (std::sscanf(argv[i], "%dx%d", &width, &height) != 2 || width < 1 || height < 1)
            return std::fprintf(stderr, "%s: expected WIDTHxHEIGHT\n", argv[i]), 2;
        const size_t room = size_t(width + 256) * size_t(height + 256) / 4;
        small::matrices.resize(2 * room);
        for (const auto& [name, pass] : small::kernels) {
            long* const figures = &small::counts[0][0][0];
            std::fill_n(figures, 8, 0);
            pass(small::matrices[room].elements, small::matrices[0].elements, width, height);
            std::printf("%s,%d,%d", name, width, height);
            for (int f = 0; f < 8; ++f) std::printf(",%ld", figures[f]);
            std::printf("\n");
        }
    }
}
