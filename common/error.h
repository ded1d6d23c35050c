// How the programs fail: one line and an exit status, never a partial result.

#pragma once

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

// printf into a std::string.
__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...);

}  // namespace harness
