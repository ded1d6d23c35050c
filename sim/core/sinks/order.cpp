// Decides whether one access happens before another. In: events of threads, such as barriers, meetings, fences,
// releases and acquires. Out: a yes or no for two accesses.
//
// A barrier orders all that lies before it in the block, and has a time, so two numbers are compared. Lanes
// that meet at __syncwarp() know from then on all that any of them knew: each lane has a clock for every other one.
// Releases and acquires at one address are kept in the order of time, and a search goes backwards from the later
// access: from an acquire to the releases that it may have seen, to the acquires before them, until a release is found
// that covers the earlier access.
//
// Invariant: an event has a time, and an access has that of its thread's last event. The search is made only for
// accesses that look like a race, and costs at most the events between the two.

#include "order.h"

#include <algorithm>
#include <iterator>

namespace sim {
namespace {

uint64_t key_of(uint64_t block, int thread, uintptr_t address)
{
    return (address / 4 * 0x9e3779b97f4a7c15u ^ block) * 1024 + unsigned(thread);
}

}  // namespace

void Order::start_launch(uint64_t first_block, bool lockstep, bool across_blocks)
{
    first_block_ = first_block;
    lockstep_ = lockstep;
    across_blocks_ = across_blocks;
    launch_start_ = ++clock_;
    if (starts_.size() > launch_) starts_.resize(launch_ + 1);
    launch_ = starts_.size();
    forget();
    confirmed_.clear();
}

void Order::forget()
{
    objects_.clear();
    knowledge_.clear();
    logs_.clear();
}

void Order::start_block(uint64_t block)
{
    block_ = first_block_ + block + 1;
    block_start_ = phase_ = ++clock_;
    fences_ = false;
    if (across_blocks_) {
        starts_.push_back({clock_, block_});
    } else {
        forget();
        confirmed_.clear();
    }
    if (logs_.empty() || !logs_.back().acquires.empty() || !logs_.back().fences.empty() || logs_.back().last_release)
        logs_.push_back({});
    logs_.back().block = block_;
    logs_.back().last_release = 0;
}

void Order::barrier()
{
    phase_ = ++clock_;
    if (across_blocks_ || objects_.empty()) return;
    // The barrier has ordered everything that was handed over inside the block.
    forget();
    logs_.push_back({block_, 0, {}, {}});
}

// Lanes that meet know from then on what any of them knew.
void Order::meet(int warp, uint32_t lanes)
{
    if (lanes_.size() <= size_t(warp)) lanes_.resize(warp + 1);
    if (!lanes_[warp]) lanes_[warp] = std::make_unique<Lanes>();
    auto& known = lanes_[warp]->known;
    const uint32_t now = lanes_[warp]->last_meeting = ++clock_;
    uint32_t joint[warp_size] = {};
    for (int t = 0; t < warp_size; ++t)
        if (lanes >> t & 1)
            for (int u = 0; u < warp_size; ++u) joint[u] = std::max(joint[u], lanes >> u & 1 ? now : known[t][u]);
    for (int t = 0; t < warp_size; ++t)
        if (lanes >> t & 1) {
            std::copy(joint, joint + warp_size, known[t]);
            times(warp)[t] = now;
        }
}

// The times up to which a thread of this block knows of the lanes of its warp. Null if none have met.
const uint32_t* Order::known_now(int thread) const
{
    const size_t warp = size_t(thread / warp_size);
    return warp < lanes_.size() && lanes_[warp] && lanes_[warp]->last_meeting > block_start_
               ? lanes_[warp]->known[thread % warp_size]
               : nullptr;
}

uint32_t Order::fence(int thread, Scope scope)
{
    fences_ = true;
    last_fence_[thread] = ++clock_;
    if (scope == device_scope) last_device_fence_[thread] = clock_;
    logs_.back().fences.push_back({clock_, thread, scope == device_scope});
    return clock_;
}

void Order::note_signal(int thread, uintptr_t address)
{
    last_signal_[thread] = {address, block_};
    Signal& known = signals_[address / 4 % std::size(signals_)];
    if (known.address != address || known.last_block <= first_block_) known = {address, block_, block_};
    known.last_block = block_;
}

bool Order::signals(const Moment& a, const Moment& b, uintptr_t address) const
{
    const auto &of_a = last_signal_[a.thread], &of_b = last_signal_[b.thread];
    if (of_b.block != block_ || of_b.address / 4 == address / 4) return false;
    if (a.block == block_) return of_a.block == block_ && of_a.address == of_b.address;
    const Signal& known = signals_[of_b.address / 4 % std::size(signals_)];
    return known.address == of_b.address && known.first_block <= a.block;
}

uint32_t Order::release(int thread, uintptr_t address, bool all, Scope scope)
{
    note_signal(thread, address);
    if (!all && !fences_) return 0;
    const auto of_this_block = [&](uint32_t time) { return time > block_start_ ? time : 0; };
    ++clock_;
    const uint32_t seen = all ? clock_ : of_this_block(last_fence_[thread]);
    const uint32_t seen_by_device = scope == block_scope ? 0 : all ? clock_ : of_this_block(last_device_fence_[thread]);
    const uint32_t* known = known_now(thread);
    if (known) {
        knowledge_.emplace_back();
        std::copy(known, known + warp_size, knowledge_.back().begin());
        known = knowledge_.back().data();
    }
    if (seen_by_device) logs_.back().last_release = clock_;
    objects_[address].releases.push_back({block_, phase_, clock_, seen, seen_by_device, thread, known});
    return clock_;
}

uint32_t Order::acquire(int thread, uintptr_t address, bool needs_fence)
{
    note_signal(thread, address);
    if (objects_.empty()) return 0;
    const auto object = objects_.find(address);
    if (object == objects_.end()) return 0;
    // No release has come since this thread's last acquire.
    uint32_t& last = object->second.last_acquire[needs_fence][thread];
    if (last > block_start_ && last > object->second.releases.back().time) return 0;
    logs_.back().acquires.push_back({address, ++clock_, thread, needs_fence});
    return last = clock_;
}

void Order::confirm(int thread, uintptr_t address) { confirmed_.insert(key_of(block_, thread, address)); }

bool Order::confirmed(uint64_t block, int thread, uintptr_t address) const
{
    return confirmed_.count(key_of(block, thread, address));
}

const Order::Log* Order::log_of(uint64_t block) const
{
    const auto log =
        std::lower_bound(logs_.begin(), logs_.end(), block, [](const Log& l, uint64_t b) { return l.block < b; });
    return log != logs_.end() && log->block == block ? &*log : nullptr;
}

// True if the view knows of a fence that the thread made after a time.
bool Order::fenced(const View& until, int thread, uint32_t after, bool device) const
{
    const Log* log = log_of(until.block);
    if (!log) return false;
    auto fence = std::upper_bound(log->fences.begin(), log->fences.end(), after,
                                  [](uint32_t time, const Fence& f) { return time < f.time; });
    for (; fence != log->fences.end() && fence->time <= std::max(until.phase, until.time); ++fence) {
        if (fence->thread != thread || (device && !fence->device)) continue;
        return thread == until.thread || fence->time < until.phase || met(until, thread, fence->time);
    }
    return false;
}

// True if the release hands over the access, too.
bool Order::covers(const Release& release, const Moment& a, uint64_t to_block) const
{
    if (release.block != a.block) return false;
    const bool far = to_block != a.block;
    const uint32_t seen = far ? release.seen_by_device : release.seen;
    if (release.thread == a.thread) return seen > a.time;
    const View there{release.block, release.phase, release.time, release.thread, release.known};
    if (release.phase <= a.time && !met(there, a.thread, a.time)) return false;
    return seen > a.time || fenced(there, a.thread, a.time, far);
}

// Looks for a chain of releases and acquires from one access to another.
bool Order::handed_over(const Moment& a, const Moment& b) const
{
    struct Seen {
        uintptr_t address;
        uint32_t until;
    };
    std::vector<Seen> seen;
    std::vector<View> reached{{block_, phase_, b.time, b.thread, known_now(b.thread)}};
    while (!reached.empty()) {
        const View at = reached.back();
        reached.pop_back();
        const Log* log = log_of(at.block);
        if (!log) continue;
        auto acquire = std::upper_bound(log->acquires.begin(), log->acquires.end(), a.time,
                                        [](uint32_t time, const Acquire& q) { return time < q.time; });
        for (; acquire != log->acquires.end() && acquire->time <= std::max(at.phase, at.time); ++acquire) {
            const Acquire& q = *acquire;
            if (q.thread != at.thread && q.time >= at.phase && !met(at, q.thread, q.time)) continue;
            if (q.needs_fence && !fenced(at, q.thread, q.time, false)) continue;
            const auto before =
                std::find_if(seen.begin(), seen.end(), [&](const Seen& s) { return s.address == q.address; });
            const uint32_t from = before != seen.end() ? before->until : a.time;
            if (from >= q.time) continue;
            const auto& releases = objects_.find(q.address)->second.releases;
            auto release = std::upper_bound(releases.begin(), releases.end(), from,
                                            [](uint32_t time, const Release& r) { return time < r.time; });
            for (; release != releases.end() && release->time <= q.time; ++release) {
                if (covers(*release, a, b.block)) return true;
                if (release->block != at.block || release->thread != at.thread)
                    reached.push_back({release->block, release->phase, release->seen, release->thread, release->known});
            }
            if (before != seen.end()) seen[before - seen.begin()].until = q.time;
            else seen.push_back({q.address, q.time});
        }
    }
    return false;
}

uint64_t Order::block_at(uint32_t time) const
{
    if (time >= block_start_) return block_;
    const auto after =
        std::upper_bound(starts_.begin(), starts_.end(), time, [](uint32_t t, const Start& s) { return t < s.time; });
    return after == starts_.begin() ? 0 : std::prev(after)->block;
}

bool Order::silent_since(uint64_t block, uint32_t time) const
{
    if (objects_.empty()) return true;
    const Log* log = log_of(block);
    return !log || log->last_release <= time;
}

bool Order::happens_before(const Moment& a, const Moment& b) const
{
    if (a.block == block_ &&
        (a.thread == b.thread || a.time < phase_ || (lockstep_ && a.thread / warp_size == b.thread / warp_size)))
        return true;
    if (clock_ == block_start_) return false;  // nothing has happened since
    const View at{block_, phase_, b.time, b.thread, known_now(b.thread)};
    if (a.block == block_ && met(at, a.thread, a.time)) return true;
    return !objects_.empty() && !logs_.back().acquires.empty() && handed_over(a, b);
}

bool Order::ordered(const Moment& a, const Moment& b) const
{
    return happens_before(a, b) || (a.block == block_ && a.time >= phase_ && happens_before(b, a));
}

}  // namespace sim
