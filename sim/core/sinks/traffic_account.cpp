#include "traffic_account.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace sim {
namespace {

constexpr size_t most_kept = 16 * most_pictured;

}  // namespace

void Receivers::add_window(const std::array<uint64_t, most_devices>& into)
{
    busiest_ += *std::max_element(into.begin(), into.end());
    sum_ = std::accumulate(into.begin(), into.end(), sum_);
}

double Receivers::busiest_over_mean(int devices) const { return sum_ ? double(busiest_) * devices / double(sum_) : 0; }

void TrafficAccount::add(Matrix& sum, const Matrix& more)
{
    for (int from = 0; from < most_devices; ++from)
        for (int to = 0; to < most_devices; ++to) sum[from][to] += more[from][to];
}

void TrafficAccount::add(int device, uint64_t first, const std::map<uint64_t, Peers>& windows)
{
    Traffic& t = traffic_;
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
            if (p.stored) open_[first + window][device][other] += p.stored;
            if (p.loaded) open_[first + window][other][device] += p.loaded;
        }
}

void TrafficAccount::add_message(int from, int to, uint64_t bytes, uint64_t window)
{
    traffic_.messages[from][to] += 1;
    traffic_.message_bytes[from][to] += bytes;
    open_[window][from][to] += bytes;
}

void TrafficAccount::close(uint64_t before)
{
    while (!open_.empty() && open_.begin()->first < before) {
        const Matrix& bytes = open_.begin()->second;
        std::array<uint64_t, most_devices> into = {};
        for (const auto& from : bytes)
            for (size_t to = 0; to < into.size(); ++to) into[to] += from[to];
        receivers_.add_window(into);
        first_ = std::min(first_, open_.begin()->first);
        last_ = std::max(last_, open_.begin()->first);
        add(closed_[open_.begin()->first >> shift_], bytes);
        open_.erase(open_.begin());
        if (closed_.size() > most_kept) coarsen();
    }
}

const Traffic& TrafficAccount::finished(int devices)
{
    close(~0ull);
    Traffic& t = traffic_;
    t.gpus = devices;
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

void TrafficAccount::coarsen()
{
    std::map<uint64_t, Matrix> halved;
    for (const auto& [entry, bytes] : closed_) add(halved[entry / 2], bytes);
    closed_.swap(halved);
    ++shift_;
}

}  // namespace sim
