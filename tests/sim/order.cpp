// What orders two accesses, against a slow reference: random programs whose threads meet at barriers, in warps and
// through memory. The reference gives each thread a clock for every thread.
//
// Usage: build/tests/sim/order. Takes no arguments; exits 1 if a check fails.

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <vector>

#include "sim/core/order.h"
#include "tests/check.h"

namespace {

using namespace sim;

// Clocks of all threads of all blocks: what of each has been handed over.
using Clock = std::vector<int>;

void join(Clock& to, const Clock& from)
{
    for (size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
}

struct Access {
    Moment moment;
    int thread, count;  // of all threads of the launch; the accesses and events of it so far
    Clock known;        // to it
};

// One launch: `blocks` blocks of two warps, of which a few lanes do something.
void random_launch(std::mt19937& random, bool across_blocks, uint64_t first_block, Order& order)
{
    const auto pick = [&](int n) { return int(random() % unsigned(n)); };
    const std::vector<int> lanes{0, 1, 2, 32, 33};
    const int blocks = across_blocks ? 3 : 1, per_block = int(lanes.size()), all = blocks * per_block;
    std::vector<Clock> clock(all, Clock(all)), fenced = clock, promised = clock;
    std::map<uintptr_t, Clock> at;
    std::vector<Access> accesses;
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
                    if ((lanes[i] < warp_size) == lower && mask >> lanes[i] % warp_size & 1) clock[first + i] = joint;
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
                accesses.push_back(
                    {{order.block(), order.epoch(), order.times(lane / warp_size)[lane % warp_size], lane},
                     thread,
                     own[thread],
                     own});
                const Access& last = accesses.back();
                for (const Access& other : accesses) {
                    if (other.thread == thread) continue;
                    const bool expected = last.known[other.thread] >= other.count,
                               found = order.ordered(other.moment, last.moment);
                    if (expected == found) { ++checks; continue; }
                    const auto of = [](int thread, uint64_t block) {
                        return "thread " + std::to_string(thread) + " of block " + std::to_string(block);
                    };
                    check(false, of(lane, last.moment.block) + " after " + of(other.moment.thread, other.moment.block) +
                                     (across_blocks ? ", across blocks: " : ", in a block: ") +
                                     (found ? "ordered, and is a race" : "a race, and is ordered"));
                }
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
    for (int i = 0; i < 3000; ++i) {
        random_launch(random, i % 2, blocks, order);
        blocks += 3;
    }
    return checked();
}
