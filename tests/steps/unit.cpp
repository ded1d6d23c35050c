// Unit tests of what the programs share: the reference, the statistics, the limits, the
// simulator. Prints each check that fails; exits 1 if any did.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/bench.h"
#include "common/device.h"
#include "common/base/constants.h"
#include "common/base/error.h"
#include "common/kernel.h"
#include "common/one_shape.h"
#include "common/base/limits.h"
#include "common/devices/elements.h"
#include "common/reference.h"
#include "common/base/machine.h"
#include "common/base/machine_file.h"
#include "common/base/statistics.h"
#include "common/base/suggest.h"
#include "common/tables.h"
#include "common/verify.h"
#include "sim/core/grid/simulator.h"
#include "tests/check.h"

using namespace harness;

namespace {

// The kinds of result the long way round: input elements are sent to their places, tile by tile.
std::vector<uint64_t> scattered(Produces what, int tile, int width, int height)
{
    std::vector<uint64_t> out(size_t(width) * height, ~0ull);
    for (int top = 0; top < height; top += tile)
        for (int left = 0; left < width; left += tile) {
            const int w = std::min(tile, width - left), h = std::min(tile, height - top);
            for (int r = 0; r < h; ++r)
                for (int c = 0; c < w; ++c) {
                    const uint64_t i = uint64_t(top + r) * width + left + c;
                    const bool mirrored = r < w && c < h;  // the mirror image lies inside, too
                    switch (what) {
                        case Produces::copy: out[i] = i; break;
                        case Produces::transpose: out[uint64_t(left + c) * height + top + r] = i; break;
                        case Produces::tile_transpose:
                            out[mirrored ? uint64_t(top + c) * width + left + r : i] = i;
                            break;
                        case Produces::sum:
                        case Produces::sum_with_first:
                        case Produces::pieces:
                        case Produces::nothing: break;
                        case Produces::tile_move:
                            out[mirrored ? uint64_t(left + r) * height + top + c
                                         : uint64_t(left + c) * height + top + r] = i;
                            break;
                    }
                }
        }
    return out;
}

void test_reference()
{
    for (int width : {1, 2, 7, 31, 32, 33, 64, 100})
        for (int height : {1, 3, 16, 31, 32, 33, 65, 97}) {
            const Expected kinds[] = {copies, transposes, transposes_each_tile(32), moves_each_tile(32),
                                      transposes_each_tile(16), moves_each_tile(16)};
            for (const Expected& kind : kinds) {
                const std::vector<uint64_t> expected = scattered(kind.what, kind.tile, width, height);
                bool same = true;
                for (uint64_t o = 0; o < expected.size(); ++o)
                    same = same && source_index(kind, o, width, height) == expected[o];
                CHECK(same);
            }
            // The two halves make the whole: fine-grained, then coarse-grained, is the transpose.
            bool whole = true;
            for (uint64_t o = 0; o < uint64_t(width) * height; ++o) {
                const uint64_t between = source_index(moves_each_tile(32), o, width, height);
                whole = whole && source_index(transposes_each_tile(32), between, width, height) ==
                                     source_index(transposes, o, width, height);
            }
            CHECK(whole);
        }
    CHECK(source_index(transposes, 1, 60000, 60000) == 60000);
    CHECK(source_index(transposes, 59999ull * 60000, 60000, 60000) == 59999);
}

void test_pattern()
{
    for (uint32_t seed : {0u, 1u, 77u}) {
        std::set<uint32_t> small;
        std::set<uint64_t> large;
        std::set<int> bytes, halves;
        for (uint64_t i = 0; i < 256; ++i) bytes.insert(pattern<uint8_t>(i + 512, seed));
        for (uint64_t i = 0; i < 65536; ++i) halves.insert(pattern<uint16_t>(i + 65536, seed));
        CHECK(bytes.size() == 256);
        CHECK(halves.size() == 65536);
        for (uint64_t i = 0; i < 100000; ++i) {
            small.insert(pattern<uint32_t>(i, seed));
            large.insert(pattern<uint64_t>(i, seed));
        }
        CHECK(small.size() == 100000);
        CHECK(large.size() == 100000);
    }
    CHECK(pattern<uint32_t>(5, 0) != pattern<uint32_t>(5, 1));
    CHECK(pattern<uint32_t>(5, 0) != pattern<uint32_t>(5 + (1ull << 32), 0));

    // A pattern tells where it came from.
    const auto input = [](Type type, uint64_t elements, bool finite = false) {
        Contents contents{type, copies, elements, 1, 3, Holds::input};
        contents.expected.finite = finite;
        return contents;
    };
    for (Type type : {Type::i8, Type::f16, Type::f32, Type::f64, Type::i32, Type::f64x2})
        for (bool finite : {false, true}) {
            const Contents contents = input(type, 2000, finite);
            for (uint64_t i : {0, 1, 1234, 1999}) {
                const uint128_t bits =
                    with_bits(type, [&](auto zero) { return uint128_t(contents.element<decltype(zero)>(i)); });
                const uint64_t first = origin(contents, bits);
                CHECK(type == Type::i8 || finite ? first <= i : first == i);  // narrow ones repeat
                CHECK(origin(input(type, first, finite), bits) == first);     // no earlier one is alike
            }
        }
    CHECK(origin(input(Type::f64x2, 2000), pattern<uint128_t>(7, 3) ^ uint128_t(1) << 100) == 2000);
    for (uint64_t i = 0; i < 100000; ++i) {
        float f;
        double d;
        const uint32_t narrow = ordinary(pattern<uint32_t>(i, 3), Type::f32);
        const uint64_t wide = ordinary(pattern<uint64_t>(i, 3), Type::f64);
        std::memcpy(&f, &narrow, sizeof f);
        std::memcpy(&d, &wide, sizeof d);
        if (!std::isnormal(f) || !std::isnormal(d)) CHECK(!"a normal number");
    }
    // Poison is wrong everywhere.
    for (Expected e : {copies, transposes, adds, adds_first, transposes_with_padded_rows(64)}) {
        const Contents right{Type::f32, e, 33, 17, 2, Holds::result};
        Contents poison = right;
        poison.holds = Holds::poison;
        bool differs = true, padding_stays = true;
        for (uint64_t o = 0; o < right.elements(); ++o)
            (right.written(o) ? differs : padding_stays) &=
                (right.at<uint32_t>(o) != poison.at<uint32_t>(o)) == right.written(o);
        CHECK(differs);
        CHECK(padding_stays);
        CHECK(right.elements() == 33 * (17 + (e.pad_bytes ? 16 : 0)));
    }

    // The long way round: rows with padding, and sums of numbers that float can hold exactly.
    const Contents padded{Type::f64, transposes_with_padded_rows(64), 33, 17, 2, Holds::result};
    CHECK(padded.pitch() == 17 + 8);
    CHECK(padded.at<uint64_t>(5 * 25 + 3) == pattern<uint64_t>(3 * 33 + 5, 2));
    CHECK(!padded.written(5 * 25 + 17) && padded.written(5 * 25 + 16));
    for (Expected e : {adds, adds_first}) {
        const Contents terms{Type::f32, e, 33, 17, 2, Holds::input};
        CHECK(terms.elements() == 2 * 33 * 17);
        Contents sums = terms;
        sums.holds = Holds::result;
        bool exact = true;
        std::set<uint32_t> distinct;
        for (uint64_t i = 0; i < sums.elements(); ++i) {
            const auto number = [](const Contents& c, uint64_t at) {
                const uint32_t bits = c.at<uint32_t>(at);
                float f;
                std::memcpy(&f, &bits, sizeof f);
                return f;
            };
            exact = exact && number(sums, i) ==
                                 number(terms, e.what == Produces::sum ? i : 0) + number(terms, sums.elements() + i);
            distinct.insert(sums.at<uint32_t>(i));
        }
        CHECK(exact);
        CHECK(distinct.size() > sums.elements() * 99 / 100);
    }
    const Contents untouched{Type::i32, writes_nothing, 4, 4, 0, Holds::result};
    CHECK(!untouched.written(0) && !untouched.written(15));
}

// Many elements at a time are those that are made one by one, wherever a range begins and ends.
template <typename Bits>
void test_elements_of(Type type, const Contents& contents, uint64_t first, uint64_t count)
{
    Contents own = contents;
    own.type = type;
    std::vector<Bits> written(count + 1, Bits(0x5a));
    write_elements(own, first, count, written.data());
    bool same = written[count] == Bits(0x5a);
    for (uint64_t i = 0; i < count; ++i) same = same && written[i] == own.at<Bits>(first + i);
    CHECK(same);
}

void test_elements()
{
    const auto each_type = [](const Contents& contents, uint64_t first, uint64_t count) {
        test_elements_of<uint8_t>(Type::i8, contents, first, count);
        test_elements_of<uint16_t>(Type::f16, contents, first, count);
        test_elements_of<uint32_t>(Type::f32, contents, first, count);
        test_elements_of<uint64_t>(Type::f64, contents, first, count);
        test_elements_of<uint128_t>(Type::f64x2, contents, first, count);
    };
    const Expected kinds[] = {copies, transposes, transposes_each_tile(32), moves_each_tile(16), transposes_numbers,
                              transposes_with_padded_rows(64), {Produces::pieces, 3}, adds, writes_nothing};
    for (const Expected& kind : kinds)
        for (Holds holds : {Holds::input, Holds::result, Holds::poison})
            for (uint32_t seed : {5u, first_secret_seed + 5, ~0u})
                for (const auto& [width, height] : {std::pair(100, 65), {64, 96}, {1, 40}, {40, 1}, {3000, 2}}) {
                    const Contents contents{Type::i8, kind, uint64_t(width), uint64_t(height), seed, holds};
                    each_type(contents, 0, contents.elements());
                    each_type(contents, 37, contents.elements() - 39);
                }
    // Indices around the multiples of 2^32.
    for (const Expected& kind : {copies, transposes, moves_each_tile(32)}) {
        const Contents huge{Type::i8, kind, 200000, 100000, 5, Holds::result};
        for (uint64_t first : {(uint64_t(1) << 32) - 500, (uint64_t(3) << 32) - 3})
            each_type(huge, first, 3000);
        each_type(huge, 17 * huge.pitch() + 21000, 1000);
    }
}

void test_statistics()
{
    const Summary s = summarize({5, 1, 3, 2, 4});
    CHECK(s.median == 3);
    CHECK(s.min == 1);
    CHECK(std::abs(s.spread - (4.6 - 1.4) / 3) < 1e-12);
    CHECK(summarize({2, 4}).median == 3);
    CHECK(summarize({7}).spread == 0);

    // 2 * 10^9 bytes in 1 ms: 2000 GB/s, not GiB/s.
    CHECK(std::abs(bandwidth_gbs(2000000000, 1.0) - 2000) < 1e-9);

    const uint64_t l2 = 60000000;
    CHECK(plausibility(4000, 4800, 8 * l2, l2) == Plausibility::dram);
    CHECK(plausibility(4900, 4800, 8 * l2, l2) == Plausibility::impossible);
    CHECK(plausibility(4900, 4800, l2, l2) == Plausibility::cache_resident);
    CHECK(plausibility(1000, 4800, l2, l2) == Plausibility::cache_resident);
    CHECK(plausibility(4900, 0, 8 * l2, l2) == Plausibility::dram);  // the peak is unknown
    CHECK(plausibility(150, 141.7, 1 << 24, 0) == Plausibility::impossible);  // no L2 at all
    for (double nonsense :
         {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        CHECK(plausibility(nonsense, 4800, l2, l2) == Plausibility::impossible);
}

bool refused(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz)
{
    try {
        check_launch({nullptr, {gx, gy, gz}, {bx, by, bz}, 0});
        return false;
    } catch (const Error& error) {
        return error.status == status_bad_input && error.message.find('\n') == std::string::npos;
    }
}

void test_limits()
{
    CHECK(!refused(2147483647, 65535, 65535, 32, 32, 1));
    CHECK(refused(1, 65536, 1, 32, 8, 1));
    CHECK(refused(1, 1, 65536, 32, 8, 1));
    CHECK(refused(0, 1, 1, 32, 8, 1));
    CHECK(refused(1, 1, 1, 32, 33, 1));
    CHECK(refused(1, 1, 1, 2048, 1, 1));
    CHECK(refused(1, 1, 1, 1, 1, 65));
    CHECK(step_of("step04_padding/step04.cu") == "step04_padding");
    CHECK(step_of("/home/me/step04_padding/variants.cu") == "step04_padding");
    CHECK(role_of("step04_padding/step04.cu") == Role::lesson);
    CHECK(role_of("/home/me/step04_padding/variants.cu") == Role::variant);
    CHECK(role_of("step02_naive/serial.cpp") == Role::variant);
    CHECK(role_of("tests/steps/probes.cu") == Role::lesson);
}

// A copy that begins where matrices do: sectors and lines are counted by address.
std::unique_ptr<float, decltype(&std::free)> aligned(const std::vector<float>& values)
{
    constexpr size_t line = 128;
    const size_t bytes = (values.size() * sizeof(float) / line + 1) * line;
    std::unique_ptr<float, decltype(&std::free)> copy(static_cast<float*>(std::aligned_alloc(line, bytes)), &std::free);
    std::copy(values.begin(), values.end(), copy.get());
    return copy;
}

// Adds up what is launched while it lives.
struct Launches : sim::Launcher {
    sim::Report report;

    Launches() { sim::use_launcher(this); }
    ~Launches() override { sim::use_launcher(nullptr); }
    void launch(const sim::Launching& launching, const sim::Code& code) override
    {
        report.add(sim::run_grid(launching, code, {}));
    }
};

std::vector<float> run(const std::string& name, const std::vector<float>& idata, size_t outputs, int width,
                       sim::Report& report)
{
    const auto in = aligned(idata), out = aligned(std::vector<float>(outputs, -1));
    for (const Kernel& kernel : kernels())
        if (kernel.name == name && kernel.backend == "sim") {
            sim::use_matrices({{in.get(), idata.size() * sizeof(float), out.get(), outputs * sizeof(float)}});
            Launches launches;
            kernel.launch[int(Type::f32)](out.get(), in.get(), width, 1, kernel.block);
            report = launches.report;
            return {out.get(), out.get() + outputs};
        }
    CHECK(!"a probe of that name");
    return std::vector<float>(outputs, -1);
}

// The sites of shared memory, in the order of the program.
std::vector<sim::WorstConflict> conflicts(const sim::Report& report)
{
    std::vector<sim::WorstConflict> found;
    for (const sim::SiteCounts& s : report.sites)
        if (s.space == sim::shared) found.push_back(s.worst_conflict);
    return found;
}

uint64_t accesses(const sim::Report& report, sim::Space space, sim::Kind kind)
{
    uint64_t sum = 0;
    for (const sim::SiteCounts& s : report.sites)
        if (s.space == space && sim::kind_of(s.site) == kind) sum += s.accesses;
    return sum;
}

void test_simulator()
{
    using sim::global, sim::shared, sim::load, sim::store;
    for (int threads : {1, 4}) {
        sim::set_host_threads(threads);
        sim::Report n;

        std::vector<float> out = run("indices", {}, 8 * 24, 0, n);
        bool right = true;
        for (size_t i = 0; i < out.size(); ++i) right = right && out[i] == float(i);
        CHECK(right);
        CHECK(n.requests(global, store) == 8);  // 24 threads: one warp a block
        CHECK(accesses(n, global, store) == 8 * 24);

        std::vector<float> in(16 * 1024);
        for (size_t i = 0; i < in.size(); ++i) in[i] = float(i / 1024 + 1);
        out = run("sum", in, 16, 0, n);
        right = true;
        for (size_t i = 0; i < 16; ++i) right = right && out[i] == float(1024 * (i + 1));
        CHECK(right);
        // 512, 256, 128, 64 and 32 threads are 16, 8, 4, 2 and 1 full warps; 16 to 1 threads are five times a part of
        // one.
        CHECK(n.requests(shared, load) == 16 * (2 * (16 + 8 + 4 + 2 + 1 + 5) + 1));
        CHECK(accesses(n, shared, load) == 16 * (2 * 1023 + 1));
        CHECK(n.requests(shared, store) == 16 * (32 + 16 + 8 + 4 + 2 + 1 + 5));
        CHECK(n.requests(global, load) == 16 * 32);
        CHECK(n.requests(global, store) == 16);

        in.assign(100, 0);
        for (size_t i = 0; i < in.size(); ++i) in[i] = float(i);
        out = run("diverge", in, 40, 0, n);
        right = true;
        for (int t = 0; t < 40; ++t) right = right && out[t] == (t % 4 == 0 ? -1 : t % 2 ? 2 * t : t);
        CHECK(right);
        CHECK(n.requests(global, load) == 4);   // two sites, two warps
        CHECK(accesses(n, global, load) == 40);
        CHECK(n.requests(global, store) == 6);  // up to three turns, two warps
        CHECK(accesses(n, global, store) == 60);
        CHECK(n.requests(shared, load) == 0);

        in.assign(256, 7);
        out = run("missTurns", in, 256, 0, n);
        CHECK(out[10] == -1 && out[39] == 7 && out[64 + 10] == 7);
        CHECK(n.requests(global, load) == 8 && n.requests(global, store) == 8);
        // 32 elements are four sectors, 8 are one; the first row lacks one.
        for (const sim::SiteCounts& s : n.sites) CHECK(s.units == 4 * (4 + 1) - 1);
        CHECK(n.sites.size() == 2);

        in.assign(100, 0);
        for (size_t i = 0; i < in.size(); ++i) in[i] = float(i);
        out = run("leaveEarly", in, 32, 0, n);
        CHECK(out[31] == 31);
        CHECK(n.requests(global, load) == 1);

        in.assign(5000, 2);
        out = run("manyAccesses", in, 32, 5000, n);
        CHECK(out[0] == 2);
        CHECK(n.requests(global, load) == 5000);
        CHECK(accesses(n, global, store) == 160000);
    }
}

// The two lanes that are named are those of one request, whoever ran its block.
void test_conflicts()
{
    const auto meet = [](const sim::WorstConflict& w, int a, int b, uint64_t word_a, uint64_t word_b) {
        const sim::Conflict& c = w.conflict;
        return c.lanes[0] == a && c.lanes[1] == b && c.words[0] == word_a && c.words[1] == word_b &&
               c.bank == word_a % 32;
    };
    for (int threads : {1, 2, 1, 4}) {
        sim::set_host_threads(threads);
        sim::Report n;
        run("sum", std::vector<float>(16 * 1024), 16, 0, n);
        for (const sim::WorstConflict& w : conflicts(n)) CHECK(w.units == 0);

        run("meetInBanks", {}, 96 * 32, 0, n);
        CHECK(conflicts(n).size() == 1);
        const sim::WorstConflict worst = conflicts(n).at(0);
        CHECK(worst.units == 4);
        CHECK(meet(worst, 0, 8, 21, 21 + 32));

        // Of several launches the first, although later ones have it in lower blocks, too.
        std::vector<float> in(1), out(96 * 32);
        Launches launches;
        for (const Kernel& kernel : kernels())
            if (kernel.name == "meetInBanks" && kernel.backend == "sim") {
                sim::use_matrices({{in.data(), sizeof(float), out.data(), out.size() * sizeof(float)}});
                for (int width : {5, 9, 0})
                    kernel.launch[int(Type::f32)](out.data(), in.data(), width, 1, kernel.block);
            }
        const std::vector<sim::WorstConflict> of_three = conflicts(launches.report);
        CHECK(of_three.size() == 1 && of_three[0].units == 4);
        CHECK(meet(of_three.at(0), 0, 8, 26, 26 + 32));

        // In either order, but not both at the beginning, whether the second was known of or not.
        run("declareLate", {}, 32, 0, n);
        const std::vector<sim::WorstConflict> both = conflicts(n);
        CHECK(both.size() == 2);
        const uint64_t early = both.at(0).conflict.words[0], late = both.at(1).conflict.words[0];
        CHECK(early % 64 == 0 && late % 64 == 0 && std::min(early, late) == 0 && early != late);
        CHECK(meet(both.at(0), 0, 16, early, early + 32) && meet(both.at(1), 0, 16, late, late + 32));
    }
}

static_assert(!std::is_aggregate_v<Look> && !std::is_aggregate_v<Task>, "options are set by name");

const Kernel& probe(const char* name)
{
    const auto found = std::find_if(kernels().begin(), kernels().end(),
                                    [&](const Kernel& k) { return k.name == name && k.backend == "sim"; });
    CHECK(found != kernels().end());
    return *found;
}

// Memory of a device, with elements of an input.
class OnDevice {
public:
    OnDevice(Device& device, Contents contents) : device_(device)
    {
        region_ = {device.allocate(contents.elements() * bytes_of(contents.type)), contents};
        device.fill(region_);
    }
    ~OnDevice() { device_.release(region_.data); }
    const Region& region() const { return region_; }

private:
    Device& device_;
    Region region_;
};

// An atomic operation is a store in every sum, so that loads and stores are all there is.
void test_sums()
{
    std::string remark;
    const std::unique_ptr<Device> device = open_device("sim", Wanted(machine_named("h200")), remark);
    const Contents contents{Type::i32, copies, 32, 4, 0, Holds::input};
    const OnDevice in(*device, contents), out(*device, contents);
    const LaunchCounts n = device->enqueue({probe("addAll"), out.region(), in.region(), 32, 4, {}}).counts;
    CHECK(n.requests(global, false) == 4 && n.units(global, false) == 16 && n.bytes_moved(false) == 4 * 128);
    CHECK(n.requests(global, true) == 4 + 2 && n.bytes_moved(true) == 32 * n.units(global, true));
    CHECK(n.requests(shared, false) == 1 && n.requests(shared, true) == 4 + 1);
    CHECK(n.bytes_moved(false) + n.bytes_moved(true) == n.bytes_moved());
    for (Space memory : {global, shared}) {
        uint64_t requests = 0, units = 0;
        for (const AccessSite& site : n.sites)
            if (site.in(memory)) requests += site.requests, units += site.units;
        CHECK(n.requests(memory, false) + n.requests(memory, true) == requests);
        CHECK(n.units(memory, false) + n.units(memory, true) == units);
    }
}

// A kernel that may race runs again to look for races: in the first of several passes, and in the second, whose output
// the first has written. Later ones would race as the second does. A trace is of one run.
void test_passes()
{
    static Kernel::Launcher launch;
    static int launches;
    std::string remark;
    const std::unique_ptr<Device> device = open_device("sim", Wanted(machine_named("h200")), remark);
    Progress progress("unit");
    Kernel counted = probe("copyAgain");
    launch = counted.launch[int(Type::f32)];
    counted.launch[int(Type::f32)] = [](void* odata, const void* idata, int width, int height, Block block) {
        ++launches;
        launch(odata, idata, width, height, block);
    };
    Bench bench(*device, Type::f32, {32, 4}, counted.expected, false, progress);
    const Complain complain = [](const std::string&, const Finding& what) {
        printf("copyAgain: %s\n", what.text.c_str());
        CHECK(!"a right kernel");
    };
    for (const auto& [passes, runs] : {std::pair(1, 2), {2, 4}, {6, 8}}) {
        launches = 0;
        Contender c = contender(counted, {});
        bench.verify(c, passes, false, complain);
        CHECK(c.result.right && c.result.counts && launches == runs);
        CHECK(c.result.counts && c.result.counts->requests(global, true) == 16);
    }
    launches = 0;
    uint64_t traced = 0;
    const TraceSink sink = [&](const TracedRequest&) { ++traced; };
    Contender c = contender(counted, {});
    bench.trace(c, sink);
    CHECK(launches == 1 && traced == 32);

    launches = 0;
    const Contents contents{Type::f32, counted.expected, 32, 4, 0, Holds::input};
    const OnDevice in(*device, contents), out(*device, contents);
    CHECK(device->enqueue({counted, out.region(), in.region(), 32, 4, {}}).may_have_raced);
    CHECK(launches == 1);
}

void write_file(const std::string& path, const std::string& text)
{
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
}

// Control groups as a container, a batch system and Docker write them.
void test_memory_of_groups()
{
    char folder[] = "/tmp/groups-XXXXXX";
    CHECK(mkdtemp(folder));
    const std::string root = folder;
    const uint64_t none = ~uint64_t(0);
    CHECK(left_in_groups("", root) == none);
    CHECK(left_in_groups("0::/\n", root) == none);
    CHECK(left_in_groups("nonsense\n\n1:\n", root) == none);
    // Version 2: the group has no limit, the one around it has. Cached files do not count.
    write_file(root + "/jobs/7/memory.max", "max\n");
    write_file(root + "/jobs/memory.max", "1000000\n");
    write_file(root + "/jobs/memory.current", "700000\n");
    write_file(root + "/jobs/memory.stat", "anon 300000\ninactive_file 400000\n");
    CHECK(left_in_groups("0::/jobs/7\n", root) == 700000);
    CHECK(left_in_groups("0::/other\n", root) == none);
    write_file(root + "/jobs/7/memory.max", "500000\n");
    write_file(root + "/jobs/7/memory.current", "600000\n");
    CHECK(left_in_groups("0::/jobs/7\n", root) == 0);
    // Version 1, as Docker shows it: the path is the host's, the folder the container's.
    write_file(root + "/memory/memory.limit_in_bytes", "2000000\n");
    write_file(root + "/memory/memory.usage_in_bytes", "500000\n");
    CHECK(left_in_groups("5:cpu,cpuacct:/docker/1\n4:hugetlb,memory:/docker/1\n", root) == 1500000);
    CHECK(left_in_groups("4:hugetlb_memory:/docker/1\n", root) == none);
    CHECK(left_in_groups("4:memory:/docker/1\n0::/jobs\n", root) == 700000);
    std::filesystem::remove_all(root);
    CHECK(available_memory() > 0 && available_memory() < none);
}

}  // namespace

// Host threads that cannot be had, because of a limit of memory, are done without. The last test: threads stay.
void test_limited_threads()
{
    unsigned long pages = 0;
    if (FILE* statm = fopen("/proc/self/statm", "r")) {
        CHECK(fscanf(statm, "%lu", &pages) == 1);
        fclose(statm);
    }
    rlimit before;
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    const rlimit tight{rlim_t(pages) * sysconf(_SC_PAGESIZE) + (rlim_t(300) << 20), before.rlim_max};
    CHECK(setrlimit(RLIMIT_AS, &tight) == 0);
    rlimit now;
    CHECK(getrlimit(RLIMIT_AS, &now) == 0);
    if (now.rlim_cur != tight.rlim_cur) return;  // qemu-user does not limit what it emulates
    sim::set_host_threads(1000);
    CHECK(sim::host_threads() >= 4 && sim::host_threads() < 1000);
    sim::Report n;
    const std::vector<float> out = run("indices", {}, 8 * 24, 0, n);
    bool right = true;
    for (size_t i = 0; i < out.size(); ++i) right = right && out[i] == float(i);
    CHECK(right);
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
}

// One round over the partitions: from its beginning on, each gets as many bytes as every other.
void test_rounds()
{
    for (const Machine& m : machines()) {
        const uint64_t round = m.map.round_bytes(), grain = m.map.grain();
        const int reached = m.map.hash.empty() ? m.map.partitions : 1 << m.map.hash.size();
        const auto even = [&](uint64_t bytes) {
            std::vector<uint64_t> grains(size_t(reached), 0);
            PartitionMap map = m.map;
            map.partitions = reached;
            for (uint64_t at = 0; at < bytes; at += grain) ++grains[map.partition_of(at)];
            return std::set<uint64_t>(grains.begin(), grains.end()).size() == 1;
        };
        CHECK(round % grain == 0 && even(round) && !even(round / 2));
    }
    CHECK(machine_named("gtx280").map.round_bytes() == 2048);
    CHECK(machine_named("h200").map.round_bytes() == 65536);
}

// A machine file says all that a machine has: what is written is read again.
void test_machine_files()
{
    for (const Machine& m : machines()) {
        const std::string text = machine_text(m, {"A heading."}, {{"sms", "a note"}});
        const Machine again = parse_machine(m.name, text);
        CHECK(machine_text(again, {"A heading."}, {{"sms", "a note"}}) == text);
        CHECK(again.map.hash == m.map.hash && again.map.partitions == m.map.partitions && again.label == m.label);
        CHECK(again.roofline.load_ns == m.roofline.load_ns && again.model.burst_ns == m.model.burst_ns);
        CHECK(again.latency_ns() == m.latency_ns() && again.shared_per_sm == m.shared_per_sm);
    }
    Machine changed = machine_named("t4");
    changed.threads_per_sm = 512;
    changed.dram_bytes = 15843721216;  // as a driver has it: no whole number of MiB
    const Machine again = parse_machine("t4", machine_text(changed, {}, {}));
    CHECK(again.threads_per_sm == 512 && again.dram_bytes == 15843721216 && again.blocks_per_sm == 16);
}

void test_noise()
{
    Results results{{}, Type::f32, 64, 64, 0, {}};
    Result row;
    row.kernel = "k";
    row.right = true;
    const auto shown = [&](double spread) {
        row.timing = Result::Timing{};
        row.timing->ms = {1, 1, spread};
        row.timing->gbs = 1;
        results.rows = {row};
        return table(results);
    };
    CHECK(shown(8.582).find(" 858.2!") != std::string::npos);
    CHECK(shown(8.582).find("Run again on an idle machine") != std::string::npos);
    CHECK(shown(too_noisy + 0.001).find(" 20.1!") != std::string::npos);
    CHECK(shown(too_noisy).find("!") == std::string::npos);
    results.rows[0].timing->ms.spread = 0.3;
    CHECK(sweep_table({results}).find(" 1.0!\n\n! Too noisy") != std::string::npos);
    results.rows[0].timing->ms.spread = too_noisy;
    CHECK(sweep_table({results}).find("!") == std::string::npos);
}

int main()
{
    test_rounds();
    test_machine_files();
    test_noise();
    test_reference();
    test_pattern();
    test_elements();
    test_statistics();
    test_limits();
    test_simulator();
    test_conflicts();
    test_sums();
    test_passes();
    test_memory_of_groups();
    test_limited_threads();
    return checked();
}
