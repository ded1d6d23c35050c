// The transaction and bank rules against the check vectors of the CUDA documentation, and
// against slow references that follow its wording lane by lane, on random accesses.
// Prints each check that fails; exits 1 if any did. With `--cases N`: prints N random requests and what they cost.
// With `--blocks N`: prints N random blocks and how many of each run at a time.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/machine.h"
#include "sim/core/sinks/rules.h"
#include "tests/check.h"

using namespace sim;

namespace {

struct Access {
    uint64_t address[warp_size] = {};
    uint32_t lanes = ~0u;
    unsigned bytes = 4;
    Kind kind = load;
    Request request() const { return {site_of(0x1000, kind, __builtin_ctz(bytes)), lanes, address}; }
};

template <typename Address>
Access access(unsigned bytes, Address address)
{
    Access a;
    a.bytes = bytes;
    for (int lane = 0; lane < warp_size; ++lane) a.address[lane] = address(lane);
    return a;
}

harness::Machine with(int major, int minor)
{
    harness::Machine m = harness::machine_named("gtx280");
    static_cast<harness::Capability&>(m) = harness::capability(major, minor);
    return m;
}

std::map<unsigned, int> sizes(const Rules& rules, const Access& a)
{
    Transactions t;
    rules.global(a.request(), t);
    std::map<unsigned, int> count;
    for (int i = 0; i < t.count; ++i) ++count[t.list[i].bytes];
    return count;
}

const int capabilities[][2] = {{1, 0}, {1, 1}, {1, 2}, {1, 3}, {2, 0}, {2, 1}, {3, 0},
                               {3, 5}, {5, 0}, {6, 1}, {7, 0}, {7, 5}, {8, 0}, {9, 0}};

void check_vectors()
{
    using Sizes = std::map<unsigned, int>;
    const Access in_order = access(4, [](int l) { return 4096 + 4 * l; });
    const Access permuted = access(4, [](int l) { return 4096 + 4 * (l ^ 1); });
    const Access shifted = access(4, [](int l) { return 4100 + 4 * l; });
    for (const auto& cc : capabilities) {
        const Rules rules(with(cc[0], cc[1]));
        const std::string name = std::to_string(cc[0]) + "." + std::to_string(cc[1]);
        const bool old = cc[0] == 1, oldest = old && cc[1] <= 1, lines = cc[0] == 2;
        check(sizes(rules, in_order) == (old     ? Sizes{{64, 2}}
                                         : lines ? Sizes{{128, 1}}
                                                 : Sizes{{32, 4}}),
              name + ": in order");
        check(sizes(rules, permuted) == (oldest  ? Sizes{{32, 32}}
                                         : old   ? Sizes{{64, 2}}
                                         : lines ? Sizes{{128, 1}}
                                                 : Sizes{{32, 4}}),
              name + ": permuted");
        check(sizes(rules, shifted) == (oldest  ? Sizes{{32, 32}}
                                        : old   ? Sizes{{128, 1}, {64, 1}, {32, 1}}
                                        : lines ? Sizes{{128, 2}}
                                                : Sizes{{32, 5}}),
              name + ": shifted by a word");
        // Fermi's stores go past its L1.
        Access stored = shifted;
        stored.kind = store;
        if (lines) check(sizes(rules, stored) == Sizes{{32, 5}}, name + ": a shifted store");

        // Shared memory: rows, a column of 32 words, a padded column, one word for all.
        const auto wavefronts = [&](const Access& a) { return rules.shared(a.request()); };
        check(wavefronts(in_order) == (old ? 2 : 1), name + ": a row of the tile");
        check(wavefronts(access(4, [](int l) { return 128 * l; })) == 32 - (cc[0] == 3 ? 16 : 0),
              name + ": a column of the tile");
        check(wavefronts(access(4, [](int l) { return 132 * l; })) == (old ? 2 : 1),
              name + ": a column of the padded tile");
        check(wavefronts(access(4, [](int) { return 256; })) == (old ? 2 : 1), name + ": one word for all");
        check(wavefronts(access(8, [](int l) { return 8 * l; })) == (old ? 4 : 2), name + ": a row of doubles");
        if (cc[0] >= 5) {
            // Atomic operations in one bank take turns, whether they are on one word or on several.
            const auto turns = [&](Access a) {
                a.kind = atomic;
                return wavefronts(a);
            };
            check(turns(in_order) == 1, name + ": atomic operations on a row");
            check(turns(access(4, [](int) { return 256; })) == 32, name + ": atomic operations on one word");
            check(turns(access(4, [](int l) { return 4 * (l / 4); })) == 4,
                  name + ": atomic operations on one word for four");
            check(turns(access(4, [](int l) { return 128 * (l / 4); })) == 32,
                  name + ": atomic operations on a column");
            check(turns(access(8, [](int l) { return 8 * (l / 2); })) == 4,
                  name + ": atomic operations on one double for two");
            check(turns(access(8, [](int l) { return 8 * (l % 16); })) == 2,
                  name + ": atomic operations of two halves");
            check(wavefronts(access(8, [](int l) { return 256 * l; })) == 32, name + ": a column of doubles");
            check(wavefronts(access(8, [](int l) { return 264 * l; })) == 2, name + ": a padded column of doubles");
            check(wavefronts(access(16, [](int l) { return 16 * l; })) == 4, name + ": a row of 16-byte words");
            // A 16 x 17 tile read by a warp of two rows: not free of conflicts on 32 banks.
            check(wavefronts(access(4, [](int l) { return 4 * (17 * (l % 16) + l / 16); })) == 2,
                  name + ": a 16 x 17 tile");
        }
    }
}

// The two lanes that are named where banks conflict.
void check_conflicts()
{
    const auto is = [](const Conflict& c, int a, int b, uint64_t word_a, uint64_t word_b, unsigned bank) {
        return c.lanes[0] == a && c.lanes[1] == b && c.words[0] == word_a && c.words[1] == word_b && c.bank == bank;
    };
    for (const auto& cc : capabilities) {
        const Rules rules(with(cc[0], cc[1]));
        const std::string name = std::to_string(cc[0]) + "." + std::to_string(cc[1]);
        const bool old = cc[0] == 1, wide = cc[0] == 3, now = cc[0] >= 5;
        const auto of = [&](const Access& a) { return rules.conflict(a.request()); };
        const auto nobody = [&](const Access& a) { return of(a).lanes[0] < 0; };
        check(nobody(access(4, [](int l) { return 4096 + 4 * l; })), name + ": nobody meets in a row");
        check(nobody(access(4, [](int) { return 256; })), name + ": nobody meets where all want one word");
        check(nobody(access(4, [](int l) { return 132 * l; })), name + ": nobody meets in a padded column");
        const Conflict column = of(access(4, [](int l) { return 8 + 128 * l; }));
        // Banks 8 bytes wide: the first two rows come together.
        check(is(column, 0, wide ? 2 : 1, 2, wide ? 66 : 34, 2), name + ": a column");
        check(is(of(access(8, [](int l) { return 256 * l; })), 0, 1, 0, 64, 0), name + ": a column of doubles");
        const Access doubles = access(8, [](int l) { return 8 * l; });
        check(old ? is(of(doubles), 0, 8, 0, 16, 0) : nobody(doubles), name + ": a row of doubles");
        // Two rows of 16 lanes: the halves of a warp meet on 32 banks, and are served apart on 16.
        const Access rows = access(4, [](int l) { return 4 * (17 * (l % 16) + l / 16); });
        check(old ? nobody(rows) : is(of(rows), 0, 31, 0, 256, 0), name + ": a 16 x 17 tile");
        // Lanes 1 and 2 want one word, and on 1.x lane 0's goes first.
        Access shared = access(4, [](int l) { return l ? 20 : 0; });
        shared.lanes = 7;
        check(old ? is(of(shared), 1, 2, 5, 5, 5) : nobody(shared), name + ": one word for two");
        shared.address[0] = 20;
        check(nobody(shared), name + ": one word for three");
        shared.kind = atomic;
        if (now) check(is(of(shared), 0, 1, 5, 5, 5), name + ": one word for three atomic operations");
    }
}

// The wording of the guide, lane by lane.
std::multiset<std::pair<uint64_t, unsigned>> slow_global(int major, int minor, const Access& a)
{
    std::multiset<std::pair<uint64_t, unsigned>> out;
    if (major == 1) {
        for (int half = 0; half < 2; ++half) {
            std::vector<int> lanes;
            for (int l = 16 * half; l < 16 * half + 16; ++l)
                if (a.lanes >> l & 1) lanes.push_back(l);
            if (lanes.empty()) continue;
            if (minor <= 1) {
                bool good = a.bytes >= 4;
                const int64_t base = int64_t(a.address[lanes[0]]) - int64_t(a.bytes) * (lanes[0] % 16);
                if (base < 0 || base % int64_t(16 * a.bytes)) good = false;
                for (int l : lanes)
                    if (int64_t(a.address[l]) != base + int64_t(a.bytes) * (l % 16)) good = false;
                if (!good) for (int l : lanes) out.insert({a.address[l] - a.address[l] % 32, 32u});
                else if (a.bytes == 4) out.insert({base, 64u});
                else if (a.bytes == 8) out.insert({base, 128u});
                else out.insert({base, 128u}), out.insert({base + 128, 128u});
                continue;
            }
            while (!lanes.empty()) {
                unsigned size = a.bytes == 1 ? 32 : a.bytes == 2 ? 64 : 128;
                uint64_t start = a.address[lanes[0]] - a.address[lanes[0]] % size;
                std::vector<int> served, rest;
                for (int l : lanes) (a.address[l] >= start && a.address[l] < start + size ? served : rest).push_back(l);
                for (bool shrunk = true; shrunk && size > 32;) {
                    bool lower = true, upper = true;
                    for (int l : served) (a.address[l] < start + size / 2 ? upper : lower) = false;
                    shrunk = lower || upper;
                    if (shrunk) size /= 2, start += upper ? size : 0;
                }
                out.insert({start, size});
                lanes = rest;
            }
        }
        return out;
    }
    if (major >= 5 && a.kind == atomic) {
        // The n-th lane that asks for an address is one of the n-th turn, which moves each of its sectors once.
        std::map<uint64_t, int> lanes;
        std::set<std::pair<int, uint64_t>> sectors;
        for (int l = 0; l < 32; ++l)
            if (a.lanes >> l & 1) sectors.insert({++lanes[a.address[l]], a.address[l] / 32 * 32});
        for (const auto& [turn, sector] : sectors) out.insert({sector, 32u});
        return out;
    }
    const bool lines = major == 2 && a.kind == load;
    const int together = !lines || a.bytes <= 4 ? 32 : a.bytes == 8 ? 16 : 8;
    const unsigned size = lines ? 128 : 32;
    for (int first = 0; first < 32; first += together) {
        std::set<uint64_t> pieces;
        for (int l = first; l < first + together; ++l)
            if (a.lanes >> l & 1)
                for (unsigned b = 0; b < a.bytes; ++b) pieces.insert((a.address[l] + b) / size * size);
        for (uint64_t p : pieces) out.insert({p, size});
    }
    return out;
}

// True if both parts of the warp from this lane on may come in one pass, if the banks allow it.
bool slow_may_share(int major, const Access& a, int first)
{
    if (major < 5 || a.bytes < 8 || a.kind != load) return false;
    const int both = a.bytes == 8 ? 32 : 16;
    if (first % both) return false;
    const auto active = [&](int l) { return (a.lanes >> l & 1) != 0; };
    int lower = 0, upper = 0;
    for (int l = first; l < first + both; ++l) (l < first + both / 2 ? lower : upper) += active(l);
    if (!lower || !upper) return false;
    const bool first_of_16 = a.bytes == 16 && first == 0;
    if (first_of_16 && !active(31)) return true;
    const auto agree = [&](int l, int other) {
        if (active(l) && active(other)) return a.address[l] == a.address[other];
        return !first_of_16 || active(l) == active(other);
    };
    for (int apart : {1, 2}) {
        bool all = true;
        for (int l = first; l < first + both; ++l) all = all && agree(l, l ^ apart);
        if (all) return true;
    }
    return false;
}

int slow_shared(int major, const Access& a)
{
    const int together = major == 1 ? 16 : a.bytes <= 4 ? 32 : a.bytes == 8 ? 16 : 8;
    int total = 0;
    if (major >= 5 && a.bytes == 16 && a.kind == load) {
        std::set<uint64_t> elements;
        int lanes = 0;
        for (int l = 0; l < 32; ++l)
            if (a.lanes >> l & 1) elements.insert(a.address[l]), ++lanes;
        if (elements.size() == 1) return lanes > 16 ? 2 : 1;
    }
    // Two parts that load: one pass, where every bank has one word to give.
    const auto one_pass = [&](int first) {
        std::map<uint64_t, std::set<uint64_t>> bank;
        for (int l = first; l < first + 2 * together; ++l)
            if (a.lanes >> l & 1)
                for (unsigned b = 0; b < a.bytes; b += 4)
                    bank[(a.address[l] + b) / 4 % 32].insert((a.address[l] + b) / 4);
        return !bank.empty() &&
               std::all_of(bank.begin(), bank.end(), [](const auto& b) { return b.second.size() == 1; });
    };
    for (int first = 0; first < 32; first += together) {
        if (slow_may_share(major, a, first) && one_pass(first)) {
            total += 1;
            first += together;
            continue;
        }
        std::vector<uint64_t> words;
        for (int l = first; l < first + together; ++l)
            if (a.lanes >> l & 1)
                for (unsigned b = 0; b < a.bytes; b += 4) words.push_back((a.address[l] + b) / 4);
        if (major == 1) {
            while (!words.empty()) {
                std::set<uint64_t> banks{words[0] % 16};
                std::vector<uint64_t> rest;
                for (uint64_t w : words)
                    if (w != words[0] && !banks.insert(w % 16).second) rest.push_back(w);
                words = rest;
                ++total;
            }
            continue;
        }
        // What a bank must hand out: words, or on 3.x pairs of words 32 apart.
        std::map<uint64_t, std::set<uint64_t>> bank;
        for (uint64_t w : words) bank[w % 32].insert(major == 3 ? w / 64 : w / 32);
        size_t most = 0;
        for (const auto& b : bank) most = std::max(most, b.second.size());
        if (major >= 5 && a.kind == atomic) {  // every lane is a turn of its bank
            std::map<uint64_t, size_t> turns;
            most = 0;
            for (int l = first; l < first + together; ++l)
                if (a.lanes >> l & 1) most = std::max(most, ++turns[a.address[l] / 4 % 32]);
        }
        total += int(most);
    }
    return total;
}

// The lowest two lanes that meet: those that take two wavefronts even by themselves.
std::pair<int, int> slow_conflict(int major, const Access& a)
{
    const int together = major == 1 ? 16 : a.bytes <= 4 ? 32 : a.bytes == 8 ? 16 : 8;
    const auto wavefronts = [&](std::initializer_list<int> lanes) {
        Access some = a;
        some.lanes = 0;
        for (int l : lanes) some.lanes |= 1u << l;
        return slow_shared(major, some);
    };
    const auto lowest = [&](int size, auto meet) {
        for (int x = 0; x < 32; ++x)
            for (int y = x + 1; y < 32; ++y)
                if (x / size == y / size && a.lanes >> x & 1 && a.lanes >> y & 1 && meet(x, y))
                    return std::make_pair(x, y);
        return std::make_pair(-1, -1);
    };
    const bool turns = major >= 5 && a.kind == atomic;  // lanes that want one word take turns, too
    const auto pair = lowest(together, [&](int x, int y) {
        return (turns || a.address[x] / 4 != a.address[y] / 4) && wavefronts({x, y}) > 1;
    });
    if (pair.first >= 0 || turns) return pair;
    if (major == 1)  // one word for several lanes, but for the lowest lane's
        return lowest(16, [&](int x, int y) {
            int first = x / 16 * 16;
            while (!(a.lanes >> first & 1)) ++first;
            return a.address[x] / 4 == a.address[y] / 4 && wavefronts({first, x, y}) > 1;
        });
    return lowest(2 * together, [&](int x, int y) {
        if (!slow_may_share(major, a, x / (2 * together) * 2 * together)) return false;
        std::set<uint64_t> words;
        for (int l = 0; l < 32; ++l)
            if (a.lanes >> l & 1 && l / (2 * together) == x / (2 * together))
                for (unsigned b = 0; b < a.bytes; b += 4) words.insert((a.address[l] + b) / 4);
        return words.size() <= 32 && wavefronts({x, y}) > 1;
    });
}

void random_accesses()
{
    std::mt19937_64 random(20261121);
    const auto below = [&](uint64_t n) { return random() % n; };
    for (int i = 0; i < 20000; ++i) {
        const unsigned bytes = 1u << below(5);
        Access a;
        a.bytes = bytes;
        const uint64_t kind = below(bytes == 4 || bytes == 8 ? 3 : 2);
        a.kind = kind == 0 ? store : kind == 1 ? load : atomic;
        const uint64_t offset = below(64), stride = below(3) ? below(5) : below(70), swap = below(4) ? 0 : below(32);
        const bool wild = below(4) == 0;
        // Groups of lanes share elements: neighbours, those two apart, or distant ones.
        const uint64_t shared_by = below(3) ? 0 : 1 + below(31), range = below(2) ? 200 : 1 + below(16);
        for (int l = 0; l < 32; ++l)
            a.address[l] = bytes * (wild ? below(range) : 1024 + offset + stride * ((l ^ swap) & ~shared_by));
        for (int l = 0; wild && l < 32; ++l) a.address[l] = a.address[l & ~shared_by];
        const uint64_t mask = below(6);
        a.lanes = mask == 0 ? uint32_t(random()) : mask == 1 ? uint32_t(~0ull >> (32 + below(31))) : ~0u;
        if (mask == 2) a.lanes = uint32_t(random() & random() & random());
        if (mask == 3) a.lanes = 0x01010101u * uint32_t(below(256));
        if (!a.lanes) a.lanes = 1;
        // The simulator measures a request first, and may divide it then.
        Request request = a.request();
        if (i % 2) {
            request.lanes = ~0u;
            request.measure();
            request.lanes = a.lanes;
        }
        for (const auto& cc : capabilities) {
            const Rules rules(with(cc[0], cc[1]));
            Transactions t;
            rules.global(request, t);
            std::multiset<std::pair<uint64_t, unsigned>> got;
            uint64_t sum = 0;
            for (int n = 0; n < t.count; ++n) got.insert({t.list[n].address, t.list[n].bytes}), sum += t.list[n].bytes;
            const std::string what = std::to_string(cc[0]) + "." + std::to_string(cc[1]) + ", " +
                                     std::to_string(bytes) + " bytes, stride " + std::to_string(stride) + ", case " +
                                     std::to_string(i);
            check(got == slow_global(cc[0], cc[1], a) && sum == t.bytes, "global " + what);
            const int wavefronts = rules.shared(request), ideal = rules.ideal_shared(request);
            check(wavefronts == slow_shared(cc[0], a), "shared " + what);
            check(ideal >= 1 && ideal <= wavefronts, "the ideal, shared " + what);
            if (i % 8) continue;  // the slow reference of this is very slow
            const Conflict c = rules.conflict(request);
            const auto pair = slow_conflict(cc[0], a);
            check(c.lanes[0] == pair.first && c.lanes[1] == pair.second, "who meets, shared " + what);
            check((wavefronts > ideal) == (pair.first >= 0), "two meet if the ideal is exceeded, shared " + what);
            if (pair.first < 0) continue;
            const unsigned banks = cc[0] == 1 ? 16 : 32;
            for (int i : {0, 1})
                check(c.words[i] == a.address[c.lanes[i]] / 4 && c.words[i] % banks == c.bank,
                      "where they meet, shared " + what);
        }
    }
}

std::vector<std::string> split(const std::string& line, char by)
{
    std::vector<std::string> cells;
    std::istringstream rest(line);
    for (std::string cell; std::getline(rest, cell, by);) cells.push_back(cell);
    return cells;
}

// Requests that tools/wavefronts.py ran on a GPU, with the wavefronts that Nsight Compute counted. The file has some
// for every clause of the rules: a rule without it misses them.
void measured_accesses(const std::string& path)
{
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    const std::vector<std::string> names = split(line, ',');
    const Rules rules(with(9, 0));
    int cases = 0;
    for (; std::getline(file, line); ++cases) {
        const std::vector<std::string> cells = split(line, ',');
        check(cells.size() == names.size(), path + ": as many values as names in " + line);
        if (cells.size() != names.size()) return;
        std::map<std::string, std::string> row;
        for (size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
        Access a;
        a.kind = row["kind"] == "load" ? load : store;
        a.bytes = unsigned(std::stoul(row["bytes"]));
        a.lanes = uint32_t(std::stoul(row["lanes"], nullptr, 16));
        std::istringstream elements(row["elements"]);  // of the active lanes
        for (int lane = 0; lane < warp_size; ++lane)
            if (a.lanes >> lane & 1 && elements >> a.address[lane]) a.address[lane] *= a.bytes;
        check(bool(elements), path + ": an element for each lane in " + line);
        const int found = rules.shared(a.request()), counted = std::stoi(row["wavefronts"]);
        const std::string what = path + ", request " + std::to_string(cases) + ": ";
        check(found == counted, what + std::to_string(found) + " wavefronts, and counted were " + row["wavefronts"]);
        check(rules.ideal_shared(a.request()) <= counted, what + "the ideal");
        check(slow_shared(9, a) == counted, what + "the slow reference");
    }
    check(cases > 200, path + ": more than 200 requests");
}

// Random requests and what they cost, as CSV, for the arithmetic of the chapter's page.
void print_cases(int count)
{
    printf("major,minor,access,bytes,addresses,transactions,bytes_moved,wavefronts,meet\n");
    const std::pair<int, int> capabilities[] = {{1, 0}, {1, 3}, {2, 0}, {3, 5}, {6, 1}, {9, 0}};
    std::mt19937 random(16);
    for (int i = 0; i < count; ++i) {
        const auto [major, minor] = capabilities[random() % 6];
        const unsigned bytes = 1u << random() % 5, stride = random() % 3 ? random() % 66 : random() % 4096,
                       range = 1u << random() % 12, flip = random() % 64;
        const unsigned same = 1 + random() % 31;  // for one kind: lanes that differ in these bits only share an element
        const int kind = random() % 5;
        const uint64_t begin = random() % 4096 * bytes;
        Access a = access(bytes, [&](int lane) {
            const uint64_t element = kind == 0 ? lane * stride
                                   : kind == 1 ? random() % range
                                   : kind == 2 ? lane * stride + (lane ^ flip)
                                   : kind == 3 ? lane ^ flip
                                               : (lane & ~same) * stride;
            return begin + element * bytes;
        });
        a.kind = random() % 2 ? load : store;
        if (random() % 3 == 0) a.lanes = random() | 1u << random() % 32;
        const Rules rules(with(major, minor));
        Transactions moved;
        rules.global(a.request(), moved);
        printf("%d,%d,%s,%u,", major, minor, a.kind == load ? "load" : "store", bytes);
        for (int lane = 0; lane < warp_size; ++lane)
            printf("%s%lld", lane ? " " : "", a.lanes >> lane & 1 ? (long long)a.address[lane] : -1ll);
        const Conflict meet = rules.conflict(a.request());
        printf(",%d,%llu,%d,%d %d\n", moved.count, (unsigned long long)moved.bytes, rules.shared(a.request()),
               meet.lanes[0], meet.lanes[1]);
    }
}

void print_blocks(int count)
{
    printf("machine,threads,shared,blocks\n");
    std::mt19937 random(16);
    for (int i = 0; i < count; ++i) {
        const harness::Machine& m = harness::machines()[random() % harness::machines().size()];
        const int threads = 1 + random() % 512;
        const uint64_t shared = random() % 4 ? 1 + random() % (16 << (10 + random() % 2)) : 0;
        printf("%s,%d,%llu,%llu\n", m.name.c_str(), threads, (unsigned long long)shared,
               (unsigned long long)m.resident_blocks(threads, shared));
    }
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc == 3 && !strcmp(argv[1], "--cases")) {
        print_cases(atoi(argv[2]));
        return 0;
    }
    if (argc == 3 && !strcmp(argv[1], "--blocks")) {
        print_blocks(atoi(argv[2]));
        return 0;
    }
    check_vectors();
    check_conflicts();
    random_accesses();
    measured_accesses("tests/data/h100_wavefronts.csv");
    return checked();
}
