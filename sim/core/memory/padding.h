// The padding of a type: bytes that no code stores to, and that a copy of the whole object loads. In a constant of the
// type they have no value. There is no answer for a type whose bytes compilers do not show, such as one with a pointer
// in it.

#pragma once
#pragma GCC system_header

#include <cstddef>
#include <type_traits>
#include <utility>

namespace sim {

template <size_t bytes>
struct Raw {
    unsigned char at[bytes];
};
template <typename T>
constexpr unsigned char byte_of(size_t i)
{
    return __builtin_bit_cast(Raw<sizeof(T)>, T{}).at[i];
}
template <typename T, size_t... i>
const unsigned char* members_of(std::index_sequence<i...>)
{
    static const unsigned char has_value[] = {__builtin_constant_p(byte_of<T>(i))...};
    return (has_value[i] || ...) ? has_value : nullptr;
}

// A byte for each of an object: 0 where it is padding. Null: not known.
template <typename T>
__attribute__((noinline, no_sanitize("thread", "kernel-address"))) const unsigned char* members()
{
    if constexpr (std::is_class_v<T> && std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> &&
                  sizeof(T) <= 256)
        return members_of<T>(std::make_index_sequence<sizeof(T)>());
    return nullptr;
}

}  // namespace sim
