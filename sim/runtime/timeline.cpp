#include "timeline.h"

#include <algorithm>

#include "../core/grid/simulator.h"
#include "devices.h"
#include "runtime.h"

namespace sim {

void Clock::join(const Clock& other)
{
    if (seen.size() < other.seen.size()) seen.resize(other.seen.size());
    for (size_t q = 0; q < other.seen.size(); ++q) seen[q] = std::max(seen[q], other.seen[q]);
    window = std::max(window, other.window);
}

int Timeline::add_queue(int device, bool blocking)
{
    // The queue of a stream that was destroyed serves again: programs make and destroy streams by the thousand.
    for (size_t q = 0; q < queues_.size(); ++q)
        if (!queues_[q].used && queues_[q].device == device && queues_[q].blocking == blocking) {
            queues_[q].used = true;
            return int(q);
        }
    queues_.emplace_back(device, blocking, false);
    return int(queues_.size()) - 1;
}

void Timeline::remove_queue(int queue) { queues_[size_t(queue)].used = false; }

int Timeline::default_queue(int device, bool legacy, std::vector<int>& known)
{
    if (known.size() <= size_t(device)) known.resize(size_t(device) + 1, -1);
    if (known[size_t(device)] < 0) {
        known[size_t(device)] = int(queues_.size());
        queues_.emplace_back(device, true, legacy);
    }
    return known[size_t(device)];
}

int Timeline::legacy_queue(int device) { return default_queue(device, true, legacy_); }
int Timeline::thread_queue(int device) { return default_queue(device, false, thread_); }

const Clock& Timeline::clock_of(int queue)
{
    const int device = queues_[size_t(queue)].device;
    const bool legacy = queues_[size_t(queue)].legacy, blocking = queues_[size_t(queue)].blocking;
    const int legacy_one = blocking && !legacy ? legacy_queue(device) : -1;
    Queue& q = queues_[size_t(queue)];
    q.clock.join(host_);
    if (legacy_one >= 0) q.clock.join(queues_[size_t(legacy_one)].clock);
    if (legacy)
        for (const Queue& other : queues_)
            if (other.device == device && other.blocking) q.clock.join(other.clock);
    return q.clock;
}

Work Timeline::begin_work(int queue, uint64_t blocks, const char* name, const void* place, bool launch)
{
    clock_of(queue);
    Queue& q = queues_[size_t(queue)];
    Work work;
    work.queue = queue;
    work.number = ++q.count;
    work.first = blocks_run();
    work.blocks = blocks;
    work.name = name;
    work.place = place;
    work.launch = launch;
    if (blocks) q.open.push_back(work);
    return work;
}

void Timeline::end_work(const Work& work, uint64_t windows)
{
    Clock& clock = queues_[size_t(work.queue)].clock;
    if (clock.seen.size() <= size_t(work.queue)) clock.seen.resize(size_t(work.queue) + 1);
    clock.seen[size_t(work.queue)] = std::max(clock.seen[size_t(work.queue)], work.number);
    clock.window += windows;
}

void Timeline::host_waits(const Clock& clock)
{
    host_.join(clock);
    for (Queue& q : queues_)
        while (!q.open.empty() && host_.covers(q.open.front().queue, q.open.front().number)) q.open.pop_front();
    host_has_waited();
}

// The host does not wait for work that the legacy stream got later, unless the queue is the legacy stream's.
void Timeline::host_waits_for_queue(int queue)
{
    const Queue& q = queues_[size_t(queue)];
    host_waits(q.legacy ? clock_of(queue) : q.clock);
}

void Timeline::host_waits_for_device(int device)
{
    for (const Queue& q : queues_)
        if (q.device == device) host_.join(q.clock);
    host_waits({});
}

void Timeline::host_waits_for_all()
{
    for (const Queue& q : queues_) host_.join(q.clock);
    host_waits({});
}

uint64_t Timeline::next_windows()
{
    for (const Queue& q : queues_) host_.window = std::max(host_.window, q.clock.window);
    return host_.window;
}

std::vector<Beside> Timeline::beside(const Work& own, const Clock& clock) const
{
    std::vector<Beside> works;
    for (const Queue& q : queues_)
        for (auto work = q.open.rbegin(); work != q.open.rend() && !clock.covers(work->queue, work->number); ++work)
            if (work->queue != own.queue || work->number != own.number)
                works.push_back({work->first, work->blocks, work->name, work->place, work->launch,
                                 device_count() > 1 ? q.device : -1});
    std::sort(works.begin(), works.end(), [](const Beside& a, const Beside& b) { return a.first < b.first; });
    return works;
}

Timeline& timeline()
{
    static Timeline& timeline = *new Timeline;  // never destroyed: exit handlers use it
    return timeline;
}

}  // namespace sim
