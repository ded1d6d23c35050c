// FNV-1a, a hash of bytes. It goes on from the hash of the bytes before; the first one is hash_begin.

#pragma once

#include <cstddef>
#include <cstdint>

namespace harness {

constexpr uint64_t hash_begin = 0xcbf29ce484222325ull;

inline uint64_t hash_of(uint64_t hash, const void* bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i) hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3ull;
    return hash;
}

}  // namespace harness
