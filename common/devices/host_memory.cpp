#include "host_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <mutex>
#include <thread>

#include "../base/error.h"
#include "../base/limits.h"
#include "elements.h"

namespace harness {
namespace {

// Work on a range of elements, [begin, end). It is no parameter of a template, because each type of std::thread's
// argument would be compiled anew.
using Work = std::function<void(uint64_t begin, uint64_t end)>;

// Does the work for all of [0, n), on every processor when there is enough to do.
void in_parallel(uint64_t n, const Work& work)
{
    const int parts = n < (1 << 16) ? 1 : usable_processors();
    std::vector<std::thread> threads;
    threads.reserve(size_t(parts));
    for (int i = 1; i < parts; ++i) {
        const uint64_t begin = n / parts * i, end = i + 1 == parts ? n : n / parts * (i + 1);
        try {
            threads.emplace_back(std::cref(work), begin, end);
        } catch (const std::exception&) {  // a limit of threads or of memory
            work(begin, end);
        }
    }
    work(uint64_t(0), parts == 1 ? n : n / parts);
    for (std::thread& thread : threads) thread.join();
}

template <typename Bits>
void fill_region(const Region& region)
{
    Bits* data = static_cast<Bits*>(region.data);
    in_parallel(region.contents.elements(), [&region, data](uint64_t begin, uint64_t end) {
        write_elements(region.contents, begin, end - begin, data + begin);
    });
}

template <typename Bits>
Mismatch compare_region(const Region& region)
{
    const Bits* data = static_cast<const Bits*>(region.data);
    Mismatch all;
    std::mutex mutex;
    in_parallel(region.contents.elements(), [&, data](uint64_t begin, uint64_t end) {
        Mismatch own;
        Bits expected[1024];
        for (uint64_t n; begin < end; begin += n) {
            n = std::min<uint64_t>(std::size(expected), end - begin);
            write_elements(region.contents, begin, n, expected);
            if (std::memcmp(data + begin, expected, n * sizeof(Bits)) == 0) continue;
            for (uint64_t i = 0; i < n; ++i)
                if (data[begin + i] != expected[i] && own.count++ == 0) own.first = begin + i;
        }
        if (own.count == 0) return;
        std::lock_guard<std::mutex> lock(mutex);
        all.first = all.count ? std::min(all.first, own.first) : own.first;
        all.count += own.count;
    });
    return all;
}

}  // namespace

uint64_t HostMemory::free_bytes() { return available_memory(); }

void* HostMemory::allocate(uint64_t bytes)
{
    constexpr uint64_t page = 2 << 20;
    void* memory = std::aligned_alloc(page, (bytes + page - 1) / page * page);
    if (!memory)
        throw Error{status_bad_input,
                    format("the host cannot allocate %.2f GB of memory; choose a smaller --size", bytes / 1e9)};
    return memory;
}

void HostMemory::release(void* memory) noexcept { std::free(memory); }
void HostMemory::read(void* to, const void* from, uint64_t bytes) { std::memcpy(to, from, bytes); }
void HostMemory::enqueue_copy(void* to, const void* from, uint64_t bytes) { std::memcpy(to, from, bytes); }

void HostMemory::fill(const Region& region)
{
    with_bits(region.contents.type, [&](auto zero) { fill_region<decltype(zero)>(region); });
}

std::vector<Mismatch> HostMemory::compare(const std::vector<Region>& regions)
{
    std::vector<Mismatch> mismatches;
    for (const Region& region : regions)
        mismatches.push_back(
            with_bits(region.contents.type, [&](auto zero) { return compare_region<decltype(zero)>(region); }));
    return mismatches;
}

}  // namespace harness
