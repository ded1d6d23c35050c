// __pipeline_memcpy_async() and its kin.

#pragma once
#pragma GCC system_header

#include "sim/copies.h"

SIM_FUNCTION inline void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes, size_t zero_filled = 0)
{
    if (bytes != 4 && bytes != 8 && bytes != 16)
        sim::fail("__pipeline_memcpy_async() copies 4, 8 or 16 bytes", SIM_PLACE);
    if (zero_filled > bytes) sim::fail("__pipeline_memcpy_async() fills more bytes with 0 than it copies", SIM_PLACE);
    sim::copy_async(shared, global, unsigned(bytes), unsigned(zero_filled), SIM_PLACE);
}
SIM_INLINE void __pipeline_commit() {}
SIM_INLINE void __pipeline_wait_prior(size_t) {}
