// The order of work on hardware, as far as the program has fixed it: by streams, by events and by waiting.
//
// Here work is done at once. What each piece of it would have waited for is kept all the same, in two forms. A number
// per queue tells which pieces come before: two pieces of which neither comes before the other may run at the same
// time. A count of windows (devices.h) tells how far the work of all devices has come, if it runs side by side.

#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "../core/sinks/global_checker.h"

namespace sim {

// How far one's knowledge goes: of the host, of a queue, of an event.
struct Clock {
    std::vector<uint32_t> seen;  // by queue: so many pieces of its work come before
    uint64_t window = 0;         // the first one after all of them

    void join(const Clock& other);
    bool covers(int queue, uint32_t number) const
    {
        return size_t(queue) < seen.size() && seen[size_t(queue)] >= number;
    }
};

// A launch, a copy, ... that has been put into a queue.
struct Work {
    int queue = 0;
    uint32_t number = 0;  // in its queue, from 1
    uint64_t first = 0, blocks = 0;  // its blocks, counted over everything that runs
    const char* name = "";  // of the kernel, or of the function of the runtime
    const void* place = nullptr;
    bool launch = false;
};

class Timeline {
public:
    // A stream is a queue, and each device has two more for the default streams. A blocking stream waits for the legacy
    // default stream of its device, which in turn waits for all blocking streams.
    int add_queue(int device, bool blocking);
    void remove_queue(int queue);  // its work remains
    int legacy_queue(int device);
    int thread_queue(int device);
    int device_of(int queue) const { return queues_[size_t(queue)].device; }

    // A piece of work, after all that is in the queue. What comes before it is clock_of(queue) until end_work().
    // Without blocks it touches no memory.
    Work begin_work(int queue, uint64_t blocks, const char* name, const void* place, bool launch = false);
    void end_work(const Work& work, uint64_t windows);

    // The clock holds the work that is in the queue so far, and the work that the queue waits for.
    const Clock& clock_of(int queue);
    void wait(int queue, const Clock& clock) { queues_[size_t(queue)].clock.join(clock); }
    const Clock& host() const { return host_; }
    void host_waits(const Clock& clock);
    void host_waits_for_queue(int queue);
    void host_waits_for_device(int device);
    void host_waits_for_all();
    // Puts all work from now on into later windows than the work so far. Returns the first of them.
    uint64_t next_windows();

    // Launches and copies that may run at the same time as a piece of work, in the order of their blocks. `clock`: what
    // comes before it.
    std::vector<Beside> beside(const Work& work, const Clock& clock) const;
    // True if more than one queue has work, so that some of it may run at the same time.
    bool several() const { return queues_.size() > 1; }

private:
    struct Queue {
        Queue(int device, bool blocking, bool legacy) : device(device), blocking(blocking), legacy(legacy) {}
        int device;
        bool blocking, legacy, used = true;
        uint32_t count = 0;  // of its work so far
        Clock clock;
        std::deque<Work> open;  // the host has not waited for it
    };
    int default_queue(int device, bool legacy, std::vector<int>& known);

    std::vector<Queue> queues_;
    std::vector<int> legacy_, thread_;  // by device; -1: none yet
    Clock host_;
};

Timeline& timeline();

}  // namespace sim
