// The rules of cards of compute capability 1.x, which serve half a warp at a time.

#pragma once

#include <cstdint>

#include "../lanes/requests.h"
#include "transactions.h"

namespace sim {

// Calls visit(lane) for each lane of the mask, lowest first.
template <typename Visit>
void for_lanes(uint32_t lanes, Visit visit)
{
    for (; lanes; lanes &= lanes - 1) visit(__builtin_ctz(lanes));
}

// 1.0 and 1.1: the k-th lane must access the k-th word of an aligned segment of 16 words (4, 8 or 16 bytes; the last as
// two transactions); otherwise each lane pays 32 bytes. `first`: lane of the half.
void half_warp_in_order(const Request& r, uint32_t lanes, int first, Transactions& out);

// 1.2 and 1.3: the segment of the lowest lane left serves all lanes in it, and shrinks to the half that is used.
void half_warp_by_segment(const Request& r, uint32_t lanes, Transactions& out);

// Shared memory of 16 banks: each pass serves everyone who wants one word, the first left, and one access to each of
// the other banks. Returns the number of passes for these words, and changes them.
int passes_with_one_broadcast(uint64_t* words, int n);

}  // namespace sim
