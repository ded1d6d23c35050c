#include "error.h"

#include <cstdarg>
#include <cstdio>

namespace harness {

std::string format(const char* pattern, ...)
{
    va_list arguments, again;
    va_start(arguments, pattern);
    va_copy(again, arguments);
    std::string text(vsnprintf(nullptr, 0, pattern, arguments), '\0');
    vsnprintf(&text[0], text.size() + 1, pattern, again);
    va_end(arguments);
    va_end(again);
    return text;
}

}  // namespace harness
