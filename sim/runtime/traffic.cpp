#include "traffic.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <vector>

#include "../../common/base/error.h"
#include "devices.h"
#include "runtime.h"
#include "timeline.h"

namespace sim {
namespace {

using harness::format;

constexpr size_t most_kept = 16 * most_pictured;

using Matrix = std::array<std::array<uint64_t, most_devices>, most_devices>;

void add(Matrix& sum, const Matrix& more)
{
    for (int from = 0; from < most_devices; ++from)
        for (int to = 0; to < most_devices; ++to) sum[from][to] += more[from][to];
}

// An account of it: for the report, or since the program last asked.
class Account {
public:
    void add(int from, int to, uint64_t bytes, uint64_t window) { open_[window][from][to] += bytes; }

    // No more comes before this window.
    void close(uint64_t before)
    {
        while (!open_.empty() && open_.begin()->first < before) {
            const Matrix& bytes = open_.begin()->second;
            std::array<uint64_t, most_devices> into = {};
            for (const auto& from : bytes)
                for (size_t to = 0; to < into.size(); ++to) into[to] += from[to];
            receivers_.add_window(into);
            first_ = std::min(first_, open_.begin()->first);
            last_ = std::max(last_, open_.begin()->first);
            sim::add(closed_[open_.begin()->first >> shift_], bytes);
            open_.erase(open_.begin());
            if (closed_.size() > most_kept) coarsen();
        }
    }

    const Traffic& finished()
    {
        close(~0ull);
        Traffic& t = traffic;
        t.gpus = device_count();
        t.windows = closed_.empty() ? 0 : last_ - first_ + 1;
        t.busiest_receiver = receivers_.busiest_over_mean(t.gpus);
        t.pictured = 0;
        std::memset(t.picture, 0, sizeof t.picture);
        if (closed_.empty()) return t;
        while (closed_.rbegin()->first - closed_.begin()->first >= most_pictured) coarsen();
        t.windows_per_entry = uint64_t(1) << shift_;
        const uint64_t begin = closed_.begin()->first;
        t.pictured = int(closed_.rbegin()->first - begin) + 1;
        for (const auto& [entry, bytes] : closed_)
            for (int from = 0; from < most_devices; ++from)
                for (int to = 0; to < most_devices; ++to) t.picture[entry - begin][from][to] = bytes[from][to];
        return t;
    }

    Traffic traffic = {};

private:
    void coarsen()
    {
        std::map<uint64_t, Matrix> halved;
        for (const auto& [entry, bytes] : closed_) sim::add(halved[entry / 2], bytes);
        closed_.swap(halved);
        ++shift_;
    }

    std::map<uint64_t, Matrix> open_, closed_;  // by window; closed ones by window >> shift_
    int shift_ = 0;
    Receivers receivers_;
    uint64_t first_ = ~0ull, last_ = 0;
};

struct Accounts {
    Account whole, since;
};

Accounts& accounts()
{
    static Accounts& accounts = *new Accounts;  // used until the very end
    return accounts;
}

}  // namespace

void note_peers(int device, uint64_t first, const std::map<uint64_t, Peers>& windows)
{
    for (Account* account : {&accounts().whole, &accounts().since}) {
        Traffic& t = account->traffic;
        for (const auto& [window, peers] : windows)
            for (int other = 0; other < most_devices; ++other) {
                const PeerCounts& p = peers[size_t(other)];
                if (p.empty()) continue;
                t.bytes[device][other] += p.stored;
                t.asked[device][other] += p.asked_stored;
                t.stores[device][other] += p.stores;
                t.bytes[other][device] += p.loaded;
                t.asked[other][device] += p.asked_loaded;
                t.loads[other][device] += p.loads;
                if (p.stored) account->add(device, other, p.stored, first + window);
                if (p.loaded) account->add(other, device, p.loaded, first + window);
            }
        account->close(timeline().host().window);
    }
}

void note_message(int from, int to, uint64_t bytes, uint64_t window)
{
    for (Account* account : {&accounts().whole, &accounts().since}) {
        account->traffic.messages[from][to] += 1;
        account->traffic.message_bytes[from][to] += bytes;
        account->add(from, to, bytes, window);
        account->close(timeline().host().window);
    }
}

std::string traffic_text()
{
    const Traffic& t = accounts().whole.finished();
    if (t.windows == 0) return "";
    std::string text = format("\nBetween %d devices\n", t.gpus);
    const auto n = [](unsigned long long value) { return std::to_string(value); };
    for (int from = 0; from < t.gpus; ++from)
        for (int to = 0; to < t.gpus; ++to) {
            std::string parts;
            const auto part = [&](const std::string& words) { parts += (parts.empty() ? "" : "; ") + words; };
            if (t.bytes[from][to])
                part(n(t.bytes[from][to]) + " bytes in sectors, " + n(t.asked[from][to]) + " asked for, by " +
                     n(t.stores[from][to]) + " stores and " + n(t.loads[from][to]) + " loads of warps");
            if (t.messages[from][to])
                part(n(t.message_bytes[from][to]) + " bytes in " + n(t.messages[from][to]) +
                     (t.messages[from][to] == 1 ? " message" : " messages"));
            if (!parts.empty()) text += format("  from device %d to device %d: ", from, to) + parts + "\n";
        }
    text += format(
        "  camping: in %llu window%s of blocks that run together, the busiest device receives %.2f times the mean\n",
        t.windows, t.windows == 1 ? "" : "s", t.busiest_receiver);
    // Who sends to whom, when: of each device, the one that it sends most to.
    std::vector<int> shown;
    for (int w = 0; w < t.pictured; ++w)
        if (std::any_of(&t.picture[w][0][0], &t.picture[w][0][0] + sizeof t.picture[w] / sizeof t.picture[w][0][0],
                        [](unsigned long long bytes) { return bytes > 0; }))
            shown.push_back(w);
    const bool all = shown.size() <= 16;
    if (!all) shown.resize(16);
    text +=
        format("  the device that each one sends most to, in %s%s in which something is sent\n",
               all ? "the " : "the first 16 ",
               t.windows_per_entry == 1 ? "windows" : format("groups of %llu windows", t.windows_per_entry).c_str());
    for (int from = 0; from < t.gpus; ++from) {
        text += format("    device %2d:", from);
        for (int w : shown) {
            const auto& row = t.picture[w][from];
            const auto most = std::max_element(row, row + t.gpus);
            text += *most ? format(" %2d", int(most - row)) : "  -";
        }
        text += "\n";
    }
    return text;
}

}  // namespace sim

using namespace sim;

extern "C" const Traffic* sim_take_traffic()
{
    static Traffic taken;
    const RuntimeLock lock;
    taken = accounts().since.finished();
    accounts().since = {};
    timeline().next_windows();
    return &taken;
}
