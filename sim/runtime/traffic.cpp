#include "traffic.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "../../common/base/error.h"
#include "../core/sinks/traffic_account.h"
#include "devices.h"
#include "runtime.h"
#include "timeline.h"

namespace sim {
namespace {

using harness::format;

struct Accounts {
    TrafficAccount whole, since;

    template <typename Add>
    void each(Add add)
    {
        for (TrafficAccount* account : {&whole, &since}) {
            add(*account);
            account->close(timeline().host().window);
        }
    }
};

Accounts& accounts()
{
    static Accounts& accounts = *new Accounts;  // never destroyed: exit handlers use it
    return accounts;
}

}  // namespace

void note_peers(int device, uint64_t first, const std::map<uint64_t, Peers>& windows)
{
    accounts().each([&](TrafficAccount& account) { account.add(device, first, windows); });
}

void note_message(int from, int to, uint64_t bytes, uint64_t window)
{
    accounts().each([&](TrafficAccount& account) { account.add_message(from, to, bytes, window); });
}

std::string traffic_text()
{
    const Traffic& t = accounts().whole.finished(device_count());
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
    // A picture of the traffic over time: for each device, the one that it sends most to.
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
    taken = accounts().since.finished(device_count());
    accounts().since = {};
    timeline().next_windows();
    return &taken;
}
