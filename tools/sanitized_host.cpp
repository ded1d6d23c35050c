// Host code with faults, which tools/sanitized.cu calls.

#include <atomic>
#include <chrono>
#include <thread>

namespace {

volatile int count = 0;
std::atomic<int> host_threads = 0;
thread_local bool is_counted = false;

// On a busy machine, one host thread may have run all blocks before another begins, so a thread's first call waits for
// another's. Relaxed operations put nothing in order.
void wait_for_another_thread()
{
    if (is_counted) return;
    is_counted = true;
    host_threads.fetch_add(1, std::memory_order_relaxed);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (host_threads.load(std::memory_order_relaxed) < 2 && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
}

}  // namespace

extern "C" void count_without_a_lock()
{
    wait_for_another_thread();
    count = count + 1;
}

extern "C" void behind_an_array_on_the_stack(int index)
{
    char array[64];
    char* volatile begin = array;  // whose length the compiler does not know
    begin[index] = 1;
}
