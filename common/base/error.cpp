#include "error.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

#include "utf8.h"

namespace harness {
namespace {

__thread bool no_way_out = false;

const bool registered = (std::set_new_handler(out_of_memory), true);

// Bytes of the character of UTF-8 that begins here; 0 if none does, or if a terminal does not show it.
size_t shown_bytes(const char* text)
{
    const unsigned char first = (unsigned char)text[0], second = first ? (unsigned char)text[1] : 0;
    const bool control = first < 0x20 || first == 0x7f || (first == 0xc2 && second < 0xa0);
    return control ? 0 : utf8_bytes(text);
}

}  // namespace

std::string printable(const std::string& message)
{
    std::string text;
    for (size_t i = 0; i < message.size();) {
        const size_t bytes = shown_bytes(&message[i]);
        text += bytes ? message.substr(i, bytes) : format("\\x%02x", (unsigned char)message[i]);
        i += bytes ? bytes : 1;
    }
    return text;
}

void out_of_memory()
{
    if (!no_way_out) throw std::bad_alloc();
    // Several threads may get here at once. The first one writes, and ends the program. Nothing here may ask for
    // memory.
    static std::atomic_flag written = ATOMIC_FLAG_INIT;
    while (written.test_and_set()) pause();
    for (const char* text : {(const char*)program_invocation_short_name, ": out of memory on the host\n"})
        if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
    _exit(status_bad_input);
}

NoWayOut::NoWayOut() : before_(no_way_out) { no_way_out = true; }
NoWayOut::~NoWayOut() { no_way_out = before_; }

std::string size_text(uint64_t bytes)
{
    return bytes < 1000         ? format("%d bytes", int(bytes))
           : bytes < 1000000    ? format("%.1f kB", bytes / 1e3)
           : bytes < 1000000000 ? format("%.1f MB", bytes / 1e6)
                                : format("%.1f GB", bytes / 1e9);
}

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
