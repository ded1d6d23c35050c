#include "utf8.h"

namespace harness {

size_t utf8_bytes(const char* text)
{
    const auto byte = [&](size_t i) { return (unsigned char)text[i]; };
    const size_t bytes = byte(0) < 0x80   ? 1
                         : byte(0) < 0xc2 ? 0
                         : byte(0) < 0xe0 ? 2
                         : byte(0) < 0xf0 ? 3
                         : byte(0) < 0xf5 ? 4
                                          : 0;
    for (size_t i = 1; i < bytes; ++i)
        if ((byte(i) & 0xc0) != 0x80) return 0;
    const bool no_character = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xed && byte(1) >= 0xa0) ||
                              (byte(0) == 0xf0 && byte(1) < 0x90) || (byte(0) == 0xf4 && byte(1) >= 0x90);
    return no_character ? 0 : bytes;
}

}  // namespace harness
