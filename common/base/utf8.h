// Characters of UTF-8.

#pragma once

#include <cstddef>

namespace harness {

// Bytes of the character that begins here; 0 if none does. `text` ends with a 0.
size_t utf8_bytes(const char* text);

}  // namespace harness
