// Barriers and fences.

#pragma once
#pragma GCC system_header

#include "base.h"

void __syncthreads();  // threads.cpp: it is where threads wait, with one frame on the stack
SIM_FUNCTION inline int __syncthreads_count(int predicate) { return sim::sync_block(predicate, SIM_PLACE); }
SIM_FUNCTION inline int __syncthreads_and(int predicate) { return sim::sync_block(predicate == 0, SIM_PLACE) == 0; }
SIM_FUNCTION inline int __syncthreads_or(int predicate) { return sim::sync_block(predicate, SIM_PLACE) != 0; }

SIM_FUNCTION inline void __syncwarp(unsigned mask = 0xffffffff) { sim::sync_warp(mask, SIM_PLACE); }

SIM_FUNCTION inline void __threadfence_block() { sim::fence(sim::block_scope, SIM_PLACE); }
SIM_FUNCTION inline void __threadfence() { sim::fence(sim::device_scope, SIM_PLACE); }
SIM_FUNCTION inline void __threadfence_system() { sim::fence(sim::device_scope, SIM_PLACE); }
