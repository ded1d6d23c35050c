// A line on the terminal that tells what a run is doing, once it takes longer than two seconds.

#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace harness {

// Draws on stderr, and only if that is a terminal.
class Progress {
public:
    explicit Progress(std::string program);
    ~Progress();
    Progress(const Progress&) = delete;

    void doing(const std::string& what);
    // From now on, doing() is about part n of m.
    void part(size_t n, size_t m);
    // A line before work of many seconds. It stays.
    void announce(const std::string& what);
    // Takes the line away, until doing() is called again: before anything else is printed.
    void clear();

private:
    void serve();
    void erase();  // with the mutex held

    using Clock = std::chrono::steady_clock;
    const std::string program_;
    const Clock::time_point start_ = Clock::now();
    std::mutex mutex_;
    std::condition_variable wake_;
    std::string what_, part_;
    bool drawn_ = false, stop_ = false;
    std::thread thread_;
};

}  // namespace harness
