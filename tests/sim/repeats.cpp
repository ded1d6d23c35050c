// Blocks that repeat what an earlier block did to shared memory are not checked again. Here random blocks, most of
// which repeat the one before, pass through a checker that knows of the earlier ones, and through one that does not.
// Both must have the same findings.
//
// Usage: build/tests/sim/repeats. Takes no arguments; exits 1 if a check fails.

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "sim/core/checker.h"
#include "tests/check.h"

namespace {

using namespace sim;

alignas(256) char memory[2][4096];
const SharedArray arrays[2] = {{uintptr_t(memory[0]), sizeof memory[0], 0, 0, "first", {}},
                               {uintptr_t(memory[1]), sizeof memory[1], 4096, 4096, "second", {}}};
constexpr int warps = 2;
constexpr uint64_t part = 1024;  // bytes of an array that belong to one warp

struct Step {
    enum { request, barrier, meeting, fence } what;
    int warp = 0, array = 0;
    Site site = 0;
    uint32_t lanes = ~0u;
    uint64_t address[warp_size] = {};
};
using Program = std::vector<Step>;

class Random {
public:
    int pick(int n) { return int(engine_() % unsigned(n)); }

    // A request to the part of an array that belongs to a warp. Its lanes are evenly spaced, or permuted.
    Step request(Kind kind, int warp, int owner, int place)
    {
        const unsigned log2_bytes = pick(8) ? 2 : unsigned(pick(4));
        const Site site = site_of(uint64_t(&memory) + 16 * unsigned(place), kind, log2_bytes);
        Step step{Step::request, warp, pick(2), site, ~0u, {}};
        const uint64_t bytes = uint64_t(1) << log2_bytes;
        const uint64_t stride = uint64_t(kind == load ? pick(4) : 1 + pick(3)) * bytes;
        std::vector<int> lanes(warp_size);
        std::iota(lanes.begin(), lanes.end(), 0);
        if (!pick(3)) std::shuffle(lanes.begin(), lanes.end(), engine_);
        for (int lane = 0; lane < warp_size; ++lane)
            step.address[lane] = arrays[step.array].begin + part * unsigned(owner) + uint64_t(lanes[lane]) * stride;
        if (!pick(4)) step.lanes = unsigned(engine_()) | 1;
        return step;
    }

    // First, each warp fills its parts. In each further phase, either all load, or each warp stores once.
    Program program()
    {
        Program steps;
        for (int warp = 0; warp < warps; ++warp)
            for (int i = 0; i < 2 * int(part / 128); ++i) {
                Step step{Step::request, warp, i % 2, site_of(uint64_t(&memory) + 1, store, 2), ~0u, {}};
                for (int lane = 0; lane < warp_size; ++lane)
                    step.address[lane] =
                        arrays[i % 2].begin + part * unsigned(warp) + 128 * unsigned(i / 2) + 4 * unsigned(lane);
                steps.push_back(step);
            }
        for (int phase = 0; phase < 1 + pick(3); ++phase) {
            steps.push_back({Step::barrier});
            for (int warp = 0; warp < warps; ++warp) {
                if (phase % 2) steps.push_back(request(store, warp, pick(4) ? warp : 1 - warp, 2 * phase + warp));
                else for (int i = 0; i <= pick(3); ++i) steps.push_back(request(load, warp, pick(warps), 8 + phase));
            }
        }
        return steps;
    }

    Program changed(Program steps)
    {
        const int at = pick(int(steps.size()));
        Step& step = steps[size_t(at)];
        switch (pick(9)) {
            case 0: steps.resize(size_t(at)); break;
            case 1: step.lanes ^= 1u << pick(32); break;
            case 2: step.address[pick(32)] += 4; break;
            case 3: step.warp = 1 - step.warp; break;
            case 4: step = {pick(2) ? Step::meeting : Step::fence, pick(2)}; break;
            case 5: step.what = step.what == Step::barrier ? Step::meeting : Step::barrier; break;
            case 6: step = request(pick(2) ? load : store, pick(warps), pick(warps), pick(12)); break;
            case 7: steps.erase(steps.begin() + at); break;
            case 8:
                for (uint64_t& address : step.address) address += 128;
                break;
        }
        return steps;
    }

private:
    std::mt19937 engine_{1};
};

struct Watched {
    explicit Watched(const Order& order) : checker(order) {}
    SharedChecker checker;
    Findings findings;
};

void run(const Program& program, uint64_t block, Order& order, std::vector<Watched>& all)
{
    Sequence sequence;
    order.start_block(block);
    const auto each = [&](auto act) {
        for (Watched& one : all) act(one.checker, one.findings);
    };
    const auto warp_done = [&] {
        each([&](SharedChecker& checker, Findings& findings) { checker.warp_done(sequence, findings); });
        sequence.clear();
    };
    for (const Step& step : program) {
        if (step.what == Step::barrier) {
            warp_done();
            order.barrier();
        } else if (step.what == Step::meeting) {
            each([](SharedChecker& checker, Findings& findings) { checker.note_event(findings); });
            order.meet(step.warp, step.lanes);
        } else if (step.what == Step::fence) {
            const int lane = int(step.lanes % warp_size);
            const uint32_t time = order.fence(step.warp * warp_size + lane, block_scope);
            each([](SharedChecker& checker, Findings& findings) { checker.note_event(findings); });
            order.times(step.warp)[lane] = time;
        } else if (step.lanes) {
            Request request{step.site, step.lanes, step.address, 0, order.times(step.warp)};
            request.measure();
            sequence.add(step.site);
            each([&](SharedChecker& checker, Findings& findings) {
                checker.check(request, step.warp * warp_size, arrays[step.array], findings);
            });
        }
    }
    warp_done();
    each([](SharedChecker& checker, Findings& findings) { checker.block_done(findings); });
}

bool same(const Findings& a, const Findings& b)
{
    const auto all_of = [](const Finding& f) {
        return std::tuple(f.fault, f.first, f.second, f.thread, f.other_thread, f.block, f.memory, f.offset, f.count,
                          f.other_block);
    };
    return std::equal(a.list.begin(), a.list.end(), b.list.begin(), b.list.end(),
                      [&](const Finding& x, const Finding& y) { return all_of(x) == all_of(y); });
}

}  // namespace

int main()
{
    Random random;
    Order order;
    std::vector<Watched> all;
    all.emplace_back(order);
    all.emplace_back(order);
    constexpr int launches = 2000, blocks = 20;
    int clean = 0, found = 0;
    for (uint64_t launch = 0; launch < launches; ++launch) {
        order.start_launch(launch * blocks, false, false);
        all[0].checker.start_launch();
        const Program usual = random.program();
        for (uint64_t block = 0; block < blocks; ++block) {
            all[1].checker.start_launch();  // it forgets the earlier blocks
            run(random.pick(4) ? usual : random.changed(usual), block, order, all);
            CHECK(same(all[0].findings, all[1].findings));
            ++(all[0].findings.list.empty() ? clean : found);
            for (Watched& one : all) one.findings.list.clear();
        }
    }
    CHECK(clean > 10 * launches && found > launches);
    printf("%d blocks without findings, %d with some\n", clean, found);
    return checked();
}
