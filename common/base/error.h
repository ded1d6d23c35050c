// How the programs fail: one line and an exit status, never a partial result.

#pragma once

#include <cstdint>
#include <string>

namespace harness {

// The exit statuses of every program here.
enum Status {
    status_ok = 0,
    status_wrong_result = 1,  // a kernel, or a measurement, that cannot be right
    status_bad_input = 2,     // an option, a size or a file that cannot be used
    status_no_device = 3,     // no CUDA device, or a CUDA call that failed
};

// Thrown anywhere, caught once in main, which prints the message as one line on stderr.
struct Error {
    Status status;
    std::string message;
};

// The message as one line that a terminal shows: control characters, and bytes that are not UTF-8, as \x1b.
std::string printable(const std::string& message);

// Marks code from which nothing may be thrown, because no stack leads to main: on a second thread, on a fiber. As long
// as the calling thread has one of these, memory that runs out ends the program with one line and status_bad_input.
class NoWayOut {
public:
    NoWayOut();
    ~NoWayOut();
    NoWayOut(const NoWayOut&) = delete;

private:
    bool before_;
};

// Called when memory runs out: throws std::bad_alloc, or ends the program where there is NoWayOut. `new` calls it, too.
[[noreturn]] void out_of_memory();

// A number of bytes for a reader: 4.2 MB.
std::string size_text(uint64_t bytes);

// printf into a std::string.
__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...);

}  // namespace harness
