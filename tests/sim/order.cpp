// What orders two accesses, and what a word remembers of its accesses, against a slow reference: random programs whose
// threads meet at barriers, in warps and through memory. The reference gives each thread a clock for every thread, and
// keeps all accesses. An access is reported if, and only if, it races with an earlier one.
//
// Usage: build/tests/sim/order. Takes no arguments; exits 1 if a check fails.

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/core/sinks/checker.h"
#include "sim/core/sinks/global_checker.h"
#include "sim/core/lanes/threads.h"
#include "sim/core/sinks/order.h"
#include "tests/check.h"

namespace {

using namespace sim;

// Clocks of all threads of all blocks: what of each has been handed over.
using Clock = std::vector<int>;

void join(Clock& to, const Clock& from)
{
    for (size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
}

struct Made {
    Moment moment;
    int thread, count;  // of all threads of the launch; the accesses and events of it so far
    Clock known;        // to it
    int word = 0;
    Kind kind = load;
    Strength strength = as_data;
};

// Two accesses to a word.
bool clash(const Made& a, const Made& b)
{
    if (a.kind == load && b.kind == load) return false;
    const bool one_warp =
        a.moment.block == b.moment.block && a.moment.thread / warp_size == b.moment.thread / warp_size;
    return a.strength == as_data || b.strength == as_data ||
           (a.strength == as_volatile && b.strength == as_volatile && one_warp);
}

constexpr int words = 2;
alignas(256) uint32_t memory_of_blocks[words], memory_of_all[words];
const SharedArray array{uintptr_t(memory_of_blocks), sizeof memory_of_blocks, 0, "shared", 0};

// No thread runs here, so none waits at a barrier.
struct Nobody : ThreadObserver {
    void warp_stopped(int) override {}
    void barrier_opens() override {}
    void warp_syncs(int, uint32_t) override {}
    void diverge(const Divergence&) override {}
    void never_ends(uint64_t, int, bool, const Arrivals*) override {}
    uint64_t changes() override { return 0; }
    void about_to_wait() override {}
} nobody;
Columns columns;
const Threads threads(columns, nobody);

// The checkers of a launch, one for each memory.
struct Checkers {
    explicit Checkers(const Order& order) : shared(order, sites, none, findings), global(order, sites, findings)
    {
        all.shadow = std::make_shared<Shadow>(all.bytes);
        all.shadow->note_written(0, all.bytes);
    }
    // True if the access is reported.
    bool check(const Made& made, Order& order, bool across_blocks, int number)
    {
        const uint64_t address = uintptr_t(across_blocks ? memory_of_all : memory_of_blocks) + 4 * unsigned(made.word);
        std::vector<uint64_t> addresses(warp_size, address);
        const int warp = made.moment.thread / warp_size, lane = made.moment.thread % warp_size;
        Request request{site_of(uint64_t(&memory_of_all) + 16 * unsigned(number), made.kind, 2, made.strength),
                        1u << lane, addresses.data(), 0, order.times(warp)};
        const Array& memory = across_blocks ? static_cast<const Array&>(all) : array;
        Sink& sink = across_blocks ? static_cast<Sink&>(global) : shared;
        sink.take({request, memory.space, warp, &memory, true}, {1, nullptr});
        sink.warp_done(sequence, threads);
        sink.block_done();
        findings.list.erase(std::remove_if(findings.list.begin(), findings.list.end(),
                                           [](const Fault& f) { return f.kind == &kinds::uninitialized_load; }),
                            findings.list.end());
        return !findings.list.empty();
    }

    Sites sites;
    SharedMemory none;
    Faults findings;
    SharedChecker shared;
    GlobalChecker global;
    Allocation all{uintptr_t(memory_of_all), sizeof memory_of_all, 0, "global"};
    Sequence sequence;
};

int races = 0, right = 0;

// One launch: `blocks` blocks of two warps, of which a few lanes do something.
void random_launch(std::mt19937& random, bool across_blocks, uint64_t first_block, Order& order)
{
    const auto pick = [&](int n) { return int(random() % unsigned(n)); };
    const std::vector<int> lanes = pick(2) ? std::vector<int>{0, 1, 2, 32, 33} : std::vector<int>{0, 1, 32, 33};
    const int blocks = across_blocks ? 2 + pick(3) : 1, per_block = int(lanes.size()), all = blocks * per_block;
    std::vector<Clock> clock(all, Clock(all)), fenced = clock, promised = clock;
    std::map<uintptr_t, Clock> at;
    std::vector<Made> accesses;
    Checkers checkers(order);
    bool raced = false;
    const int much = pick(4);
    order.start_launch(first_block, false, across_blocks);
    for (int block = 0; block < blocks; ++block) {
        order.start_block(uint64_t(block));
        const int first = block * per_block;
        for (int step = 0; step < 40; ++step) {
            const int which = pick(per_block), thread = first + which, lane = lanes[which];
            const uintptr_t address = 64 + 8 * uintptr_t(pick(3));
            Clock& own = clock[thread];
            Clock& object = at.emplace(address, Clock(all)).first->second;
            const auto note = [&](uint32_t time) {
                if (time) order.times(lane / warp_size)[lane % warp_size] = time;
            };
            ++own[thread];
            switch (pick(9)) {
                case 0: {  // a barrier of the block
                    if (pick(3)) break;
                    Clock joint(all);
                    for (int i = 0; i < per_block; ++i) join(joint, clock[first + i]);
                    for (int i = 0; i < per_block; ++i) clock[first + i] = joint;
                    order.barrier();
                    break;
                }
                case 1: {  // some lanes of a warp
                    const bool lower = pick(2);
                    uint32_t mask = 0;
                    Clock joint(all);
                    for (int i = 0; i < per_block; ++i)
                        if ((lanes[i] < warp_size) == lower && pick(3)) {
                            mask |= 1u << lanes[i] % warp_size;
                            join(joint, clock[first + i]);
                        }
                    if (!mask) break;
                    for (int i = 0; i < per_block; ++i)
                        if ((lanes[i] < warp_size) == lower && mask >> lanes[i] % warp_size & 1)
                            clock[first + i] = joint;
                    order.meet(lower ? 0 : 1, mask);
                    break;
                }
                case 2:
                    note(order.release(lane, address, true, device_scope));
                    join(object, own);
                    break;
                case 3:
                    note(order.fence(lane, device_scope));
                    join(own, promised[thread]);
                    note(order.release(lane, address, false, device_scope));
                    join(object, own);
                    break;
                case 4:
                    note(order.acquire(lane, address, false));
                    join(own, object);
                    break;
                case 5:
                    note(order.acquire(lane, address, true));
                    join(promised[thread], object);
                    break;
                case 6:
                    note(order.fence(lane, device_scope));
                    join(own, promised[thread]);
                    break;
                default:
                    const uint32_t time = std::max(order.phase(), order.times(lane / warp_size)[lane % warp_size]);
                    accesses.push_back({{order.block(), time, lane}, thread, own[thread], own});
                    Made& last = accesses.back();
                    last.word = pick(words);
                    static constexpr std::pair<Kind, Strength> forms[] = {
                        {load, as_data},     {load, as_data},   {load, as_data},      {store, as_data},
                        {atomic, as_atomic}, {load, as_data},   {store, as_volatile}, {load, as_volatile},
                        {load, as_atomic},   {store, as_atomic}};
                    std::tie(last.kind, last.strength) = forms[much == 3   ? pick(10)
                                                                : much == 2 ? pick(5)
                                                                : pick(3)   ? 0
                                                                            : pick(4)];
                    bool races_here = false;
                    for (size_t i = 0; i + 1 < accesses.size(); ++i) {
                        const Made& other = accesses[i];
                        if (other.thread == thread) continue;
                        const bool expected = last.known[other.thread] >= other.count,
                                   found = order.ordered(other.moment, last.moment);
                        // Whoever follows an operation that reads and changes the word follows those before it.
                        const bool follows = other.kind != load && other.strength == as_atomic &&
                                             std::any_of(accesses.begin() + long(i) + 1, accesses.end() - 1,
                                                         [&](const Made& y) {
                                                             return y.word == other.word && y.kind == atomic &&
                                                                    last.known[y.thread] >= y.count;
                                                         });
                        races_here |= other.word == last.word && clash(other, last) && !expected && !follows;
                        if (expected == found) { ++checks; continue; }
                        const auto of = [](int thread, uint64_t block) {
                            return "thread " + std::to_string(thread) + " of block " + std::to_string(block);
                        };
                        check(false, of(lane, last.moment.block) + " after " +
                                         of(other.moment.thread, other.moment.block) +
                                         (across_blocks ? ", across blocks: " : ", in a block: ") +
                                         (found ? "ordered, and is a race" : "a race, and is ordered"));
                    }
                    if (raced) break;  // one that was found is enough
                    raced = checkers.check(last, order, across_blocks, int(accesses.size()));
                    ++(races_here ? races : right);
                    check(raced == races_here, std::string(across_blocks ? "across blocks: " : "in a block: ") +
                                                   (raced ? "a false race" : "a race is missed"));
                    raced |= races_here;
            }
            ++own[thread];
        }
    }
}

}  // namespace

int main()
{
    std::mt19937 random(1);
    Order order;
    uint64_t blocks = 0;
    for (int i = 0; i < 30000; ++i) {
        random_launch(random, i % 2, blocks, order);
        blocks += 4;
    }
    printf("%d accesses race, %d do not\n", races, right);
    return checked();
}
