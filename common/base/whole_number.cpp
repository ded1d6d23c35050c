#include "whole_number.h"

#include <cerrno>
#include <cstdlib>

#include "error.h"

namespace harness {

int whole_number(const char* option, const char* text, long most)
{
    char* end = nullptr;
    errno = 0;
    const long value = std::strtol(text, &end, 10);
    if (end == text || *end || errno || value < 1 || value > most)
        throw Error{status_bad_input, format("--%s %s: expected a whole number from 1 to %ld", option, text, most)};
    return int(value);
}

}  // namespace harness
