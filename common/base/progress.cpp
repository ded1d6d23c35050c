#include "progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "error.h"

namespace harness {
namespace {

constexpr auto patience = std::chrono::seconds(2);
constexpr auto interval = std::chrono::milliseconds(200);

size_t columns()
{
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
}

}  // namespace

Progress::Progress(std::string program) : program_(std::move(program))
{
    if (!isatty(STDERR_FILENO)) return;
    try {
        thread_ = std::thread(&Progress::serve, this);
    } catch (const std::exception&) {
        // Threads or memory are limited, so the work goes on without the line.
    }
}

Progress::~Progress()
{
    if (!thread_.joinable()) return;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void Progress::doing(const std::string& what)
{
    std::lock_guard<std::mutex> lock(mutex_);
    what_ = what;
}

void Progress::part(size_t n, size_t m)
{
    std::lock_guard<std::mutex> lock(mutex_);
    part_ = m > 1 ? format("%zu of %zu: ", n, m) : "";
}

void Progress::announce(const std::string& what)
{
    if (!thread_.joinable()) return;
    std::lock_guard<std::mutex> lock(mutex_);
    erase();
    fprintf(stderr, "%s: %s\n", program_.c_str(), what.c_str());
}

void Progress::clear()
{
    std::lock_guard<std::mutex> lock(mutex_);
    what_.clear();
    erase();
}

void Progress::erase()
{
    if (drawn_) fprintf(stderr, "\r\033[K");
    drawn_ = false;
}

void Progress::serve()
{
    const NoWayOut no_way_out;
    std::unique_lock<std::mutex> lock(mutex_);
    while (!wake_.wait_for(lock, interval, [&] { return stop_; })) {
        const auto elapsed = Clock::now() - start_;
        if (elapsed < patience || what_.empty()) continue;
        const long seconds = long(std::chrono::duration_cast<std::chrono::seconds>(elapsed).count());
        const std::string line = format("%s: %ld s: %s%s", program_.c_str(), seconds, part_.c_str(), what_.c_str());
        fprintf(stderr, "\r%s\033[K", line.substr(0, columns()).c_str());
        drawn_ = true;
    }
    erase();
}

}  // namespace harness
